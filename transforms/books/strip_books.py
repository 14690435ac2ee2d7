"""Removes the text that Project Gutenberg and its transcribers have added to books."""

from collections.abc import Iterator
from typing import Any

import apache_beam as beam

from corpusmill.transforms.books.boilerplate import strip_boilerplate
from corpusmill.transforms.books.furniture import check_furniture, cut_furniture
from corpusmill.transforms.files import counters
from corpusmill.transforms.files.files_screen import Screened, reject
from corpusmill.transforms.files.records import Book, Reason
from corpusmill.transforms.files.scratch import Scratch, fetch_text

STAGE = "strip-books"


class StripBooks(beam.PTransform):
    """Removes the text that does not belong to the book. PCollection[Book] → Screened.

    The text of the whole file is replaced by the text of the book, and the field `characters` is set to its
    length. A file is rejected if the book in it cannot be located. The reasons to reject are those of
    `strip_boilerplate` and `check_furniture`.

    Args:
      folder: folder for temporary texts (see scratch.py).
      furniture: True to remove tables of contents and illustrations too.
    """

    def __init__(self, folder: str, furniture: bool):
        super().__init__()
        self.scratch = Scratch(folder)
        self.furniture = furniture

    def expand(self, books: beam.PCollection) -> Screened:
        strip = beam.FlatMap(strip_book, self.scratch, self.furniture).with_output_types(Book)
        split = books | "Strip" >> strip.with_outputs("rejected", main="kept")
        return Screened(split.kept, split.rejected)


def strip_book(book: Book, scratch: Scratch, furniture: bool) -> Iterator[Any]:
    """Yields the book without text that does not belong to it, or a rejection on the output "rejected".

    `furniture` is True to remove tables of contents and illustrations too. New texts are stored in `scratch`.
    """
    text = strip_text(fetch_text(book.packed_text), furniture)
    if isinstance(text, Reason):
        yield reject(book.book_id, book.title, STAGE, text)
    else:
        counters.count(STAGE, "stripped")
        yield book._replace(characters=len(text), packed_text=scratch.put_text(text))


def strip_text(text: str, furniture: bool) -> str | Reason:
    """Removes what does not belong to the book from the text of one file.

    Returns the text of the book, or a Reason to reject the file. `furniture` is True to remove tables of
    contents and illustrations too.
    """
    stripped = strip_boilerplate(text)
    if isinstance(stripped, Reason):
        return stripped
    if not furniture:
        return stripped.text
    cut = cut_furniture(stripped.text)
    return check_furniture(stripped.text, cut) or cut.text
