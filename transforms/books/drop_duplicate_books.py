"""Books → those without near-duplicates: of alike ones the longest stays."""

import apache_beam as beam

from transforms.duplicates.drop_duplicates import DropDuplicates
from transforms.duplicates.find_similar_documents import DocumentFacts
from transforms.files.scratch import fetch_text
from transforms.files.screen import Screened
from transforms.records import Book
from transforms.text.books.dating.publication_dates import DatedBook, book_of
from transforms.text.vocabularies.plain_words import plain_words


class DropDuplicateBooks(beam.PTransform):
    """PCollection[Book] or PCollection[DatedBook] → Screened of the same.

    Of several as long as each other, the one with the smallest id stays.
    Compared are plain words (see plain_words.py), so that two editions are alike which differ in their
    quotation marks. Books that stay are as they were.

    Args: see DropDuplicates.
    """

    def __init__(self, folder: str, threshold: str | float):
        super().__init__()
        self.drop = DropDuplicates(folder, describe_book, text_of_book, threshold)

    def expand(self, books: beam.PCollection) -> Screened:
        without: Screened = books | "DropDuplicates" >> self.drop
        return without


def describe_book(element: Book | DatedBook) -> DocumentFacts:
    """Its id and title, ranked by its length."""
    book = book_of(element)
    return DocumentFacts(book.book_id, book.title, book.characters)


def text_of_book(element: Book | DatedBook) -> str:
    """The plain words of its text."""
    return plain_words(fetch_text(book_of(element).packed_text))
