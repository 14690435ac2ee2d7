"""Splits books into kept and rejected by rules on their texts, and measures the length and vocabulary of
books.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import apache_beam as beam

from corpusmill.transforms.books.publication_dates import book_of
from corpusmill.transforms.books.simplicity import measure
from corpusmill.transforms.files.files_screen import Screened, reject
from corpusmill.transforms.files.records import Book, MeasuredBook, Reason
from corpusmill.transforms.files.scratch import fetch_text

BookRule = Callable[[Book, str], Reason | None]
"""A picklable rule for a book and its text. It returns a Reason, or None to keep the book."""


class ScreenBooks(beam.PTransform):
    """Keeps or rejects books by rules. PCollection[Book] or PCollection[MeasuredBook] → Screened.

    Kept books are unchanged.

    Args:
      rules: functions that return a reason to reject a book, or None. The first reason decides.
      stage: name of the stage in rejections and counters.
    """

    def __init__(self, *rules: BookRule, stage: str = "screen-books"):
        super().__init__()
        self.rules = rules
        self.stage = stage

    def expand(self, books: beam.PCollection) -> Screened:
        return _screen(books, self.stage, functools.partial(first_reason, self.rules))


def first_reason(rules: Sequence[BookRule], element: Book | MeasuredBook) -> Reason | None:
    """Returns the reason of the first rule that rejects a book; None if no rule rejects it."""
    book = book_of(element)
    text = fetch_text(book.packed_text)
    return next(filter(None, (rule(book, text) for rule in rules)), None)


def _screen(books: beam.PCollection, stage: str, rule: Callable[[Any], Reason | None]) -> Screened:
    split = books | beam.FlatMap(_judge, stage, rule).with_outputs("rejected", main="kept")
    return Screened(split.kept, split.rejected)


def _judge(
    element: Book | MeasuredBook, stage: str, rule: Callable[[Any], Reason | None]
) -> Iterator[Any]:
    if reason := rule(element):
        book = book_of(element)
        yield reject(book.book_id, book.title, stage, reason)
    else:
        yield element


class MeasureBooks(beam.PTransform):
    """Counts the tokens and different words of books. PCollection[Book] → PCollection[MeasuredBook]."""

    def expand(self, books: beam.PCollection) -> beam.PCollection:
        return books | "MeasureBook" >> beam.Map(measure_book).with_output_types(MeasuredBook)


def measure_book(book: Book) -> MeasuredBook:
    """Counts the tokens and the different words in the text of a book."""
    return MeasuredBook(book, *measure(fetch_text(book.packed_text)))


class KeepSimple(beam.PTransform):
    """Keeps or rejects books by a rule on their token counts. PCollection[MeasuredBook] → Screened.

    Args:
      rule: function that takes a MeasuredBook, and returns a Reason to reject it or None to keep it; for
        example NotSimple.
    """

    STAGE = "measure-books"

    def __init__(self, rule: Callable[[MeasuredBook], Reason | None]):
        super().__init__()
        self.rule = rule

    def expand(self, books: beam.PCollection) -> Screened:
        return _screen(books, self.STAGE, self.rule)
