"""Books → the simplest of them, up to so many tokens and words of vocabulary."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsDict, AsList, AsSingleton

from transforms.books.keep_chosen import KeepChosen
from transforms.books.tokenize_books import TokenizeBooks
from transforms.duplicates.combine_pairs import CombinePairs
from transforms.files import counters
from transforms.files.scratch import fetch, fetch_text
from transforms.files.screen import Screened, reject
from transforms.lines.deal_words import DealWords
from transforms.records import MeasuredBook, TokenizedBook
from transforms.text.books.simple.simplest_first import (
    MAX_VOCABULARY,
    TARGET_TOKENS,
    Queue,
    Taken,
    line_up,
    take_books,
)
from transforms.text.books.simple.simplicity import FORMULAS, SQUARED
from transforms.text.books.simple.word_ranks import (
    add_entries,
    count_entries,
    join_ranked,
    rank_counts,
    unpack_ranked,
)
from transforms.text.duplicates.components import Pairs
from transforms.text.vocabularies import word_counts

STAGE = "take-simplest"
BUCKETS = 64


class RatedBooks(NamedTuple):
    """What TakeSimplest takes."""

    books: beam.PCollection  # of TokenizedBook
    measured: beam.PCollection  # of MeasuredBook: of these books at least; each id once


class TakeSimplest(beam.PTransform):
    """RatedBooks → Screened, of TokenizedBook.

    The books with the best ratios are kept, up to the first one with which there would be more tokens than
    `target_tokens`, or more words than `max_vocabulary` that are counted `min_count` times; that one and
    all further ones are rejected. In one place come together some numbers for each book. Words meet in
    buckets: a worker holds those of one bucket, once for each book that has them.

    Args:
      folder: in which counts wait (see scratch.py).
      formula: of the ratio, see text/books/simple/simplicity.py.
      buckets: so many parts can be counted at once. Their number changes no result.

    Raises ValueError for settings that make no sense.
    """

    def __init__(
        self,
        folder: str,
        target_tokens: int = TARGET_TOKENS,
        max_vocabulary: int = MAX_VOCABULARY,
        min_count: int = 3,
        formula: str = SQUARED,
        buckets: int = BUCKETS,
    ):
        super().__init__()
        check_target(target_tokens, max_vocabulary, min_count, formula)
        self.folder = folder
        self.target_tokens = target_tokens
        self.max_vocabulary = max_vocabulary
        self.min_count = min_count
        self.formula = formula
        self.buckets = buckets

    def expand(self, rated: RatedBooks) -> Screened:
        root = rated.books.pipeline
        sizes = rated.books | "Sizes" >> beam.Map(size_of).with_output_types(tuple[int, int])
        measures = rated.measured | "Measures" >> beam.Map(measure_of).with_output_types(
            tuple[int, tuple[int, int]]
        )
        queue = (
            root
            | "Once" >> beam.Create([self.formula])
            | "LineUp"
            >> beam.Map(line_up_books, self.target_tokens, AsList(sizes), AsDict(measures))
        )
        ranked = DealWords(
            self.folder, count_ranked, self.buckets, AsSingleton(queue), join=join_ranked
        )
        entries = (
            rated.books
            | "DealWords" >> ranked
            | "GroupBuckets" >> beam.GroupByKey()
            | "CountEntries" >> beam.Map(count_bucket, self.min_count)
            | "AddEntries" >> beam.CombineGlobally(CombinePairs(add_entries))
        )
        taken = queue | "TakeBooks" >> beam.Map(
            take_books, AsSingleton(entries), self.max_vocabulary
        )
        take = beam.ParDo(_Take(), AsSingleton(taken)).with_output_types(TokenizedBook)
        split = rated.books | "Take" >> take.with_outputs("rejected", main="kept")
        return Screened(split.kept, split.rejected)


class KeepSimplest(beam.PTransform):
    """PCollection[MeasuredBook] → Screened of MeasuredBook: those that `take` keeps when they are tokenised.

    Args:
      style: of numbers, see TokenizeBooks.
    """

    def __init__(self, folder: str, style: str, take: TakeSimplest):
        super().__init__()
        self.tokenize = TokenizeBooks(folder, style)
        self.take = take

    def expand(self, books: beam.PCollection) -> Screened:
        tokenized = books | "TokenizeAll" >> self.tokenize
        taken = RatedBooks(tokenized, books) | "TakeSimplest" >> self.take
        return Screened(books | "KeepTaken" >> KeepChosen(taken.kept), taken.rejected)


def check_target(target_tokens: int, max_vocabulary: int, min_count: int, formula: str) -> None:
    """Raises ValueError for settings that make no sense."""
    names = ("target_tokens", "max_vocabulary", "min_count")
    for name, value in zip(names, (target_tokens, max_vocabulary, min_count), strict=True):
        if value < 1:
            raise ValueError(f"{name} is {value}, and must be positive")
    if formula not in FORMULAS:
        raise ValueError(f"formula is one of {FORMULAS}, not {formula!r}")


def size_of(book: TokenizedBook) -> tuple[int, int]:
    """(book id, tokens)."""
    return book.book_id, book.tokens


def measure_of(measured: MeasuredBook) -> tuple[int, tuple[int, int]]:
    """(book id, (L, V))."""
    return measured.book.book_id, (measured.tokens, measured.vocabulary)


def line_up_books(
    formula: str,
    target_tokens: int,
    sizes: Sequence[tuple[int, int]],
    measures: Mapping[int, tuple[int, int]],
) -> Queue:
    """The queue of all books."""
    return line_up(sizes, measures, formula, target_tokens)


def count_ranked(book: TokenizedBook, queue: Queue) -> pa.RecordBatch | None:
    """The words of a book with its rank; None for one that is not in the queue."""
    rank = queue.rank_of.get(book.book_id)
    if rank is None:
        return None
    counts = word_counts.count_words(fetch_text(book.packed_tokens).encode("utf-8"))
    return rank_counts(counts, rank)


def count_bucket(grouped: tuple[int, Iterable[bytes]], min_count: int) -> Pairs:
    """Which ranks bring how many words of (bucket, counts put away)."""
    return count_entries([unpack_ranked(fetch(packed)) for packed in grouped[1]], min_count)


class _Take(beam.DoFn):
    def process(self, book: TokenizedBook, taken: Taken) -> Iterator[Any]:
        if taken.reason is None or book.book_id in taken.book_ids:
            counters.count(STAGE, "books")
            yield book
        else:
            yield reject(book.book_id, book.title, STAGE, taken.reason)

    def finish_bundle(self) -> None:
        counters.flush()
