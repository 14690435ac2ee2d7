"""Keeps books that were published before a given year, and records the evidence for their dates."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import apache_beam as beam

from corpusmill.transforms.books.publication_dates import (
    BEFORE,
    BookEvidence,
    DatedBook,
    choose_date,
    date_evidence,
    reason_to_reject,
)
from corpusmill.transforms.files import counters
from corpusmill.transforms.files.files_screen import reject
from corpusmill.transforms.files.records import Book
from corpusmill.transforms.files.scratch import fetch_text

STAGE = "date-books"


class DatedBooks(NamedTuple):
    """The outputs of DateBooks: kept books, rejections, and evidence of dates.

    Each book is kept or rejected.
    """

    kept: beam.PCollection  # of DatedBook
    rejected: beam.PCollection  # of Rejected: undated, too-new
    evidence: beam.PCollection  # of BookEvidence, one for each book that was read


class DateBooks(beam.PTransform):
    """Finds the dates of books, and rejects the books that are too new. PCollection[Book] → DatedBooks.

    Books without any date are rejected as `undated`. A book of which only the authors' years of death are
    known is rejected too, unless they died before the year `before`. The sources of the dates are listed in
    text/books/dating/publication_dates.py.

    Args:
      before: books published in this year or later are rejected.
    """

    def __init__(self, before: int = BEFORE):
        super().__init__()
        self.before = before

    def expand(self, books: beam.PCollection) -> DatedBooks:
        dated = books | "Date" >> beam.FlatMap(date_book, self.before).with_output_types(
            DatedBook
        ).with_outputs("rejected", "evidence", main="kept")
        return DatedBooks(dated.kept, dated.rejected, dated.evidence)


def date_book(book: Book, before: int) -> Iterator[Any]:
    """Yields the dated book, or its rejection on the output "rejected".

    Also yields what is known about its date, a BookEvidence, on the output "evidence".
    """
    evidence = date_evidence(book, fetch_text(book.packed_text))
    told = BookEvidence(book.book_id, book.title, book.released_year, evidence)
    yield beam.pvalue.TaggedOutput("evidence", told)
    date = choose_date(evidence)
    reason = reason_to_reject(date, before)
    if reason:
        yield reject(book.book_id, book.title, STAGE, reason)
    elif date:
        counters.count(STAGE, date.source)
        yield DatedBook(book, date, evidence)
