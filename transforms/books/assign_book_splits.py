"""Dated books → dated books with their split."""

from collections.abc import Callable

import apache_beam as beam

from transforms.text.books.dating.publication_dates import DatedBook


class AssignBookSplits(beam.PTransform):
    """PCollection[DatedBook] → PCollection[(split, DatedBook)].

    Args:
      split_of: book id → split; by nothing but the id, so that a book never moves.
    """

    def __init__(self, split_of: Callable[[int], str]):
        super().__init__()
        self.split_of = split_of

    def expand(self, books: beam.PCollection) -> beam.PCollection:
        return books | beam.Map(assign_split, self.split_of).with_output_types(
            tuple[str, DatedBook]
        )


def assign_split(dated: DatedBook, split_of: Callable[[int], str]) -> tuple[str, DatedBook]:
    """(split, book)."""
    return split_of(dated.book.book_id), dated
