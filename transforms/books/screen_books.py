"""Books → kept and rejected, by rules that see the text; and books with their length and vocabulary."""

from collections.abc import Callable, Iterable
from typing import Any

import apache_beam as beam

from transforms.files.scratch import fetch_text
from transforms.files.screen import Screened, reject
from transforms.records import Book, MeasuredBook, Reason
from transforms.text.books.screening.screening import BookRule
from transforms.text.books.simple.simplicity import measure


class ScreenBooks(beam.PTransform):
    """PCollection[Book] or PCollection[MeasuredBook] → Screened: kept ones as they are, and Rejected.

    Args:
      rule: of the book and its text, a Reason or None for a book that is kept. It has to be picklable.
        Several rules are one as `Rules`, so that a text is fetched only once.
      stage: that rejections and counters are filed under.
    """

    def __init__(self, rule: BookRule, stage: str = "screen-books"):
        super().__init__()
        self.rule = rule
        self.stage = stage

    def expand(self, books: beam.PCollection) -> Screened:
        screen = beam.ParDo(_ScreenBook(self.stage, self.rule))
        split = books | screen.with_outputs("rejected", main="kept")
        return Screened(split.kept, split.rejected)


class _ScreenBook(beam.DoFn):
    def __init__(self, stage: str, rule: BookRule):
        self.stage = stage
        self.rule = rule

    def process(self, element: Book | MeasuredBook) -> Iterable[Any]:
        book = element.book if isinstance(element, MeasuredBook) else element
        reason = self.rule(book, fetch_text(book.packed_text))
        if reason is None:
            yield element
        else:
            yield reject(book.book_id, book.title, self.stage, reason)


class MeasureBooks(beam.PTransform):
    """PCollection[Book] → PCollection[MeasuredBook]."""

    def expand(self, books: beam.PCollection) -> beam.PCollection:
        return books | "MeasureBook" >> beam.Map(measure_book).with_output_types(MeasuredBook)


def measure_book(book: Book) -> MeasuredBook:
    """The book with the tokens and the vocabulary of its text."""
    return MeasuredBook(book, *measure(fetch_text(book.packed_text)))


class KeepSimple(beam.PTransform):
    """PCollection[MeasuredBook] → Screened of MeasuredBook, by what was measured.

    Args:
      rule: of the measured book, a Reason or None for one that is kept; see NotSimple.
    """

    STAGE = "measure-books"

    def __init__(self, rule: Callable[[MeasuredBook], Reason | None]):
        super().__init__()
        self.rule = rule

    def expand(self, books: beam.PCollection) -> Screened:
        keep = beam.ParDo(_KeepSimple(self.rule)).with_output_types(MeasuredBook)
        split = books | keep.with_outputs("rejected", main="kept")
        return Screened(split.kept, split.rejected)


class _KeepSimple(beam.DoFn):
    def __init__(self, rule: Callable[[MeasuredBook], Reason | None]):
        self.rule = rule

    def process(self, measured: MeasuredBook) -> Iterable[Any]:
        reason = self.rule(measured)
        if reason is None:
            yield measured
        else:
            book = measured.book
            yield reject(book.book_id, book.title, KeepSimple.STAGE, reason)
