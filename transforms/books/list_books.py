"""What became of the books of SimpleBooks → a list with a line for each book that was considered."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa

from transforms.books.assign_sizes import SizedBook
from transforms.books.write_layout import Place
from transforms.files.write_rows import WriteRecords
from transforms.records import Book, OverlapVerdict, Rejected
from transforms.text.books.book_stats import identity_of
from transforms.text.books.simple.considered import Considered, Measured, Sized, make_line
from transforms.text.books.simple.simplicity import ratio

NAME = "books"
SCHEMA = pa.schema([pa.field(name, pa.string()) for name in Considered._fields])


class BookFates(NamedTuple):
    """The collections that the list is made of, each with at most one element for a book."""

    titles: beam.PCollection  # of (book id, title): of all that were considered
    measures: beam.PCollection  # of (book id, (L, V))
    verdicts: beam.PCollection  # of OverlapVerdict
    rejected: beam.PCollection  # of Rejected: of books, with their ids
    sized: beam.PCollection  # of SizedBook
    places: beam.PCollection  # of Place


class ListBooks(beam.PTransform):
    """BookFates → PCollection[OutputFile]: books-00000-of-00001.tsv, by id.

    Raises ValueError where a book is both kept and rejected, or neither.

    Args:
      folder: of the build.
      formula: of the ratio, see text/books/simple/simplicity.py.
    """

    def __init__(self, folder: str, formula: str):
        super().__init__()
        self.folder = folder
        self.formula = formula

    def expand(self, fates: BookFates) -> beam.PCollection:
        keyed = {
            "title": fates.titles,
            "measured": _keyed(fates.measures, "KeyMeasured", _measured_of, self.formula),
            "verdict": _keyed(fates.verdicts, "KeyVerdicts", _verdict_of),
            "rejected": _keyed(fates.rejected, "KeyRejected", _rejected_of),
            "sized": _keyed(fates.sized, "KeySized", _sized_of),
            "place": _keyed(fates.places, "KeyPlaces", _place_of),
        }
        return (
            keyed
            | "MeetFates" >> beam.CoGroupByKey()
            | "MakeLine" >> beam.Map(line_of).with_output_types(Considered)
            | "WriteBooks" >> WriteRecords(self.folder, NAME, SCHEMA, identity, order, "tsv")
        )


def _keyed(
    elements: beam.PCollection, label: str, to_pair: Any, *arguments: Any
) -> beam.PCollection:
    return elements | label >> beam.Map(to_pair, *arguments).with_output_types(tuple[int, Any])


def title_of(book: Book) -> tuple[int, str]:
    """(book id, title)."""
    return book.book_id, book.title


def _measured_of(measures: tuple[int, tuple[int, int]], formula: str) -> tuple[int, Measured]:
    book_id, counts = measures
    return book_id, Measured(*counts, ratio(*counts, formula))


def _verdict_of(verdict: OverlapVerdict) -> tuple[int, OverlapVerdict]:
    return verdict.book_id, verdict


def _rejected_of(rejected: Rejected) -> tuple[int, Rejected]:
    return int(rejected.id), rejected


def _sized_of(sized: SizedBook) -> tuple[int, tuple[str, bool]]:
    return sized.book.book_id, (sized.split, sized.is_small)


def _place_of(place: Place) -> tuple[int, Place]:
    return place.book_id, place


def line_of(grouped: tuple[int, Mapping[str, Iterable[Any]]]) -> Considered:
    """The line of a book."""
    book_id, found = grouped
    one: dict[str, Any] = {name: next(iter(values), None) for name, values in found.items()}
    sized = None
    if one["sized"]:
        split, is_small = one["sized"]
        sized = Sized(split, is_small, one["place"].first_line, one["place"].lines)
    return make_line(book_id, one["title"], one["measured"], one["verdict"], one["rejected"], sized)


def identity(line: Considered) -> str:
    """What decides about the file."""
    return identity_of(line.book_id)


def order(line: tuple[Any, ...]) -> Any:
    """By book."""
    return line[0]
