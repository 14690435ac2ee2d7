"""Books → those published before a year, with the date and what it was taken from."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import apache_beam as beam

from transforms.files import counters
from transforms.files.scratch import fetch_text
from transforms.files.screen import reject
from transforms.records import Book
from transforms.text.books.dating.publication_dates import (
    BookEvidence,
    DatedBook,
    choose_date,
    date_evidence,
    reason_to_reject,
)

STAGE = "date-books"
BEFORE = 1919
"""PG-19 has the books that were published before it: 100 years before it was made."""


class DatedBooks(NamedTuple):
    """The outputs of DateBooks: kept + rejected = read."""

    kept: beam.PCollection  # of DatedBook
    rejected: beam.PCollection  # of Rejected: undated, too-new
    evidence: beam.PCollection  # of BookEvidence, one for each book that was read


class DateBooks(beam.PTransform):
    """PCollection[Book] → DatedBooks, by the chain of sources of text/books/dating/publication_dates.py.

    A book that no source dates is rejected as `undated`, and so is one of which is known only by when
    its authors were dead, if that is not before the year either.

    Args:
      before: the first year of which no book is kept.
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
    """The dated book, if it is kept; a rejection, and the evidence, on outputs of their own."""
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
