"""Drops near-duplicate books. Of each group of near-duplicates, the longest book is kept."""

import apache_beam as beam

from corpusmill.transforms.books.publication_dates import DatedBook, book_of
from corpusmill.transforms.duplicates.drop_duplicates import DropDuplicates
from corpusmill.transforms.duplicates.find_similar_documents import DocumentFacts
from corpusmill.transforms.files.files_screen import Screened
from corpusmill.transforms.files.plain_words import plain_words
from corpusmill.transforms.files.records import Book
from corpusmill.transforms.files.scratch import fetch_text


class DropDuplicateBooks(beam.PTransform):
    """Drops near-duplicate books. PCollection[Book] or PCollection[DatedBook] → Screened.

    The longest book of each group of near-duplicates is kept; if several have this length, the one with the
    smallest id. Plain words are compared (see plain_words.py), so editions that differ only in quotation
    marks are duplicates. Kept books are unchanged.

    Args:
      folder: folder for temporary hashes (see scratch.py).
      threshold: minimum similarity of near-duplicates; above 0 and below 1. It is compared exactly: "0.1" is
        one tenth. A threshold far below 0.3 gives too many pairs to compare.
    """

    def __init__(self, folder: str, threshold: str | float):
        super().__init__()
        self.drop = DropDuplicates(folder, describe_book, text_of_book, threshold)

    def expand(self, books: beam.PCollection) -> Screened:
        without: Screened = books | "DropDuplicates" >> self.drop
        return without


def describe_book(element: Book | DatedBook) -> DocumentFacts:
    """Returns the id, title and rank of a book. The rank is its length, so the longest duplicate is kept."""
    book = book_of(element)
    return DocumentFacts(book.book_id, book.title, book.characters)


def text_of_book(element: Book | DatedBook) -> str:
    """Returns the plain words of a book, by which it is compared with others."""
    return plain_words(fetch_text(book_of(element).packed_text))
