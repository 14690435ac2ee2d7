"""Books → books without what Project Gutenberg and the makers of the text have added."""

from collections.abc import Iterable
from typing import Any

import apache_beam as beam

from transforms.files import counters
from transforms.files.scratch import Scratch, fetch_text
from transforms.files.screen import Screened, reject
from transforms.records import Book, Reason
from transforms.text.books.stripping.boilerplate import strip_boilerplate
from transforms.text.books.stripping.furniture import check_furniture, cut_furniture


class StripBooks(beam.PTransform):
    """PCollection[Book] with the text of the file → Screened of Book with the text of the book.

    Rejected are files of which nobody can tell where the book is, with the reasons of `strip_boilerplate` and
    `check_furniture`. `characters` are those of the new text.

    Args:
      folder: in which texts wait (see scratch.py).
      furniture: whether tables of contents and illustrations go too.
    """

    STAGE = "strip-books"

    def __init__(self, folder: str, furniture: bool):
        super().__init__()
        self.folder = folder
        self.furniture = furniture

    def expand(self, books: beam.PCollection) -> Screened:
        strip = beam.ParDo(_Strip(self.folder, self.furniture)).with_output_types(Book)
        split = books | "Strip" >> strip.with_outputs("rejected", main="kept")
        return Screened(split.kept, split.rejected)


class _Strip(beam.DoFn):
    def __init__(self, folder: str, furniture: bool):
        self.folder = folder
        self.furniture = furniture

    def setup(self) -> None:
        self.scratch = Scratch(self.folder)

    def process(self, book: Book) -> Iterable[Any]:
        text = strip_text(fetch_text(book.packed_text), self.furniture)
        if isinstance(text, Reason):
            yield reject(book.book_id, book.title, StripBooks.STAGE, text)
            return
        counters.count(StripBooks.STAGE, "stripped")
        yield book._replace(characters=len(text), packed_text=self.scratch.put_text(text))


def strip_text(text: str, furniture: bool) -> str | Reason:
    """What StripBooks makes of the text of one file."""
    stripped = strip_boilerplate(text)
    if isinstance(stripped, Reason):
        return stripped
    if not furniture:
        return stripped.text
    cut = cut_furniture(stripped.text)
    return check_furniture(stripped.text, cut) or cut.text
