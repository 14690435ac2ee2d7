"""Writes a table of all books that were considered for SimpleBooks, with the reason to keep or reject
each.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import apache_beam as beam

from corpusmill.transforms.books.book_rows import WriteBookTable
from corpusmill.transforms.books.considered import Considered, Sized, make_line
from corpusmill.transforms.files.records import Book

NAME = "books"

Keyed = tuple[int, Any]  # (book id, value)
_TO_KEYED: Mapping[str, Callable[[Any], Keyed]] = {
    "verdicts": lambda verdict: (verdict.book_id, verdict),
    "rejected": lambda rejected: (int(rejected.id), rejected),
    "sized": lambda sized: (sized.book.book_id, (sized.split, sized.is_small)),
    "places": lambda place: (place.book_id, place),
}


class BookFates(NamedTuple):
    """The inputs of ListBooks: what is known about each of the considered books.

    Each collection has at most one element per book.
    """

    titles: beam.PCollection  # of (book id, title): all considered books
    measures: beam.PCollection  # of (book id, (number of tokens, number of different tokens))
    verdicts: beam.PCollection  # of OverlapVerdict: whether a book overlaps larger books
    rejected: beam.PCollection  # of Rejected: the rejected books
    sized: beam.PCollection  # of SizedBook
    places: beam.PCollection  # of Place


class ListBooks(beam.PTransform):
    """Writes the table of considered books, sorted by book id. BookFates → PCollection[OutputFile].

    The file is books-00000-of-00001.tsv. Raises ValueError if a book is both kept and rejected, or neither.

    Args:
      folder: output folder of the build.
      formula: name of the formula for the simplicity of a book (see text/books/simple/simplicity.py). The
        table has a column with the simplicity.
    """

    def __init__(self, folder: str, formula: str):
        super().__init__()
        self.folder = folder
        self.formula = formula

    def expand(self, fates: BookFates) -> beam.PCollection:
        keyed = {
            name: getattr(fates, name) | f"Key {name}" >> beam.Map(key).with_output_types(Keyed)
            for name, key in _TO_KEYED.items()
        }
        return (
            {"titles": fates.titles, "measures": fates.measures, **keyed}
            | "MeetFates" >> beam.CoGroupByKey()
            | "MakeLine" >> beam.Map(line_of, self.formula).with_output_types(Considered)
            | "WriteBooks" >> WriteBookTable(self.folder, NAME, Considered)
        )


def title_of(book: Book) -> tuple[int, str]:
    """Returns (book id, title)."""
    return book.book_id, book.title


def line_of(grouped: tuple[int, Mapping[str, Iterable[Any]]], formula: str) -> Considered:
    """Returns the row of one book in the table of considered books.

    `grouped` is (book id, what is known about the book), as produced by CoGroupByKey. `formula` is the name
    of the formula for the simplicity of the book.
    """
    book_id, found = grouped
    one: dict[str, Any] = {name: next(iter(values), None) for name, values in found.items()}
    sized = Sized(*one["sized"], *one["places"][1:]) if one["sized"] else None
    rest = (one["verdicts"], one["rejected"], sized)
    return make_line(book_id, one["titles"], one["measures"], formula, *rest)
