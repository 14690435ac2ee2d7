"""Selects the simplest books, up to a total number of tokens and a maximum size of the vocabulary."""

import functools
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsDict, AsList, AsSingleton

from corpusmill.transforms.books.english_tokens import DISTINCT
from corpusmill.transforms.books.overlap import sum_rows
from corpusmill.transforms.books.simplest_first import (
    MAX_VOCABULARY,
    TARGET_TOKENS,
    Queue,
    Taken,
    line_up,
    take_books,
)
from corpusmill.transforms.books.simplicity import NEUTRAL
from corpusmill.transforms.books.tokenize_books import TokenizeBooks
from corpusmill.transforms.books.word_ranks import RANKED, count_entries, rank_counts
from corpusmill.transforms.duplicates.combine_pairs import CombinePairs
from corpusmill.transforms.duplicates.components import Pairs
from corpusmill.transforms.files import counters
from corpusmill.transforms.files.files_screen import Screened, reject
from corpusmill.transforms.files.records import MeasuredBook, TokenizedBook
from corpusmill.transforms.files.scratch import fetch, fetch_text
from corpusmill.transforms.models import word_counts
from corpusmill.transforms.models.deal_words import DealWords

STAGE = "take-simplest"
BUCKETS = 64  # parallel parts of the count; the number does not change results


class TakeSimplest(beam.PTransform):
    """Keeps the simplest books. PCollection[MeasuredBook] → Screened.

    Books are added in descending order of the ratio that `formula` computes from the numbers of tokens and of
    different tokens. With each book, the number of tokens and the size of the vocabulary grow. The first book
    that would exceed `target_tokens` or `max_vocabulary` is rejected, and so are all books after it.

    One worker holds some numbers for each book in memory. Words are counted in buckets. A worker holds one
    bucket, with an entry for each pair of a word and a book.

    Args:
      folder: folder for temporary texts and counts (see scratch.py).
      style: format of tokenised numbers, see TokenizeBooks.
      target_tokens: maximum number of tokens in all kept books together.
      max_vocabulary: maximum size of their vocabulary.
      min_count: how often a word must occur in these books, after tokenisation, to be in the vocabulary.
      formula: name of the formula that computes the ratio; see text/books/simple/simplicity.py.
    """

    def __init__(
        self,
        folder: str,
        style: str = DISTINCT,
        target_tokens: int = TARGET_TOKENS,
        max_vocabulary: int = MAX_VOCABULARY,
        min_count: int = 3,
        formula: str = NEUTRAL,
    ):
        super().__init__()
        self.folder = folder
        self.tokenize = TokenizeBooks(folder, style)
        self.target_tokens = target_tokens
        self.max_vocabulary = max_vocabulary
        self.min_count = min_count
        self.formula = formula

    def expand(self, books: beam.PCollection) -> Screened:
        tokenized = books | "TokenizeAll" >> self.tokenize
        sizes = tokenized | "Sizes" >> beam.Map(size_of).with_output_types(tuple[int, int])
        measures = books | "Measures" >> beam.Map(measure_of).with_output_types(
            tuple[int, tuple[int, int]]
        )
        queue = (
            books.pipeline
            | "Once" >> beam.Create([self.formula])
            | "LineUp" >> beam.Map(line_up, self.target_tokens, AsList(sizes), AsDict(measures))
        )
        deal = DealWords(
            self.folder, count_ranked, BUCKETS, AsSingleton(queue), join=pa.concat_batches
        )
        entries = (
            tokenized
            | "DealWords" >> deal
            | "GroupBuckets" >> beam.GroupByKey()
            | "CountEntries" >> beam.Map(count_bucket, self.min_count)
            | "AddEntries"
            >> beam.CombineGlobally(CombinePairs(functools.partial(sum_rows, keys=1)))
        )
        taken = queue | "TakeBooks" >> beam.Map(
            take_books, AsSingleton(entries), self.max_vocabulary
        )
        take = beam.ParDo(_Take(), AsSingleton(taken)).with_output_types(MeasuredBook)
        split = books | "Take" >> take.with_outputs("rejected", main="kept")
        return Screened(split.kept, split.rejected)


def size_of(book: TokenizedBook) -> tuple[int, int]:
    """Returns (book id, number of tokens)."""
    return book.book_id, book.tokens


def measure_of(measured: MeasuredBook) -> tuple[int, tuple[int, int]]:
    """Returns (book id, (number of tokens, number of different tokens))."""
    return measured.book.book_id, (measured.tokens, measured.vocabulary)


def count_ranked(book: TokenizedBook, queue: Queue) -> pa.RecordBatch | None:
    """Returns the word counts of a book with its rank; None if the book is not in the queue.

    The queue is the order in which books are added. The rank is the position of a book in it.
    """
    rank = queue.rank_of.get(book.book_id)
    if rank is None:
        return None
    counts = word_counts.count_words(fetch_text(book.packed_tokens).encode("utf-8"))
    return rank_counts(counts, rank)


def count_bucket(grouped: tuple[int, Iterable[bytes]], min_count: int) -> Pairs:
    """Counts, for each book, the words of one bucket that the book adds to the vocabulary.

    Returns rows (rank of a book, number of these words).

    Args:
      grouped: (bucket of words, references to the counts of these words in each book).
      min_count: how often a word must occur, in all books added so far, to be in the vocabulary.
    """
    batches = (word_counts.unpack_counts(fetch(packed), RANKED) for packed in grouped[1])
    return count_entries(batches, min_count)


class _Take(beam.DoFn):
    def process(self, measured: MeasuredBook, taken: Taken) -> Iterator[Any]:
        book = measured.book
        if taken.reason is None or book.book_id in taken.book_ids:
            counters.count(STAGE, "books")
            yield measured
        else:
            yield reject(book.book_id, book.title, STAGE, taken.reason)

    def finish_bundle(self) -> None:
        counters.flush()
