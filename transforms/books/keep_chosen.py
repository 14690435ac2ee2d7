"""Books → those that another collection has, too."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam

from transforms.records import MeasuredBook, TokenizedBook

Described = MeasuredBook | TokenizedBook


class KeepChosen(beam.PTransform):
    """PCollection of MeasuredBook or TokenizedBook → those of them whose book is chosen.

    Args:
      chosen: PCollection of MeasuredBook or TokenizedBook.
    """

    def __init__(self, chosen: beam.PCollection):
        super().__init__()
        self.chosen = chosen

    def expand(self, books: beam.PCollection) -> beam.PCollection:
        met = {
            "books": _keyed(books, "KeyBooks", lambda book: (id_of(book), book)),
            "chosen": _keyed(self.chosen, "KeyChosen", lambda book: (id_of(book), True)),
        }
        return met | "Meet" >> beam.CoGroupByKey() | "KeepBooks" >> beam.FlatMap(keep_chosen)


def _keyed(
    books: beam.PCollection, label: str, to_pair: Callable[[Described], tuple[int, Any]]
) -> beam.PCollection:
    return books | label >> beam.Map(to_pair).with_output_types(tuple[int, Any])


def id_of(book: Described) -> int:
    """The number of the book."""
    return book.book.book_id if isinstance(book, MeasuredBook) else book.book_id


def keep_chosen(grouped: tuple[int, Mapping[str, Iterable[Any]]]) -> Iterator[Any]:
    """The books of an id, if it is chosen."""
    _, met = grouped
    if any(met["chosen"]):
        yield from met["books"]
