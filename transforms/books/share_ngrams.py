"""Finds the n-grams that several books share.

The n-grams are partitioned by their hashes, and each partition is searched separately.
"""

import functools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsSingleton, TaggedOutput
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.windowed_value import WindowedValue

from corpusmill.transforms.books import overlap
from corpusmill.transforms.books.ngram_blocks import (
    HashedBook,
    block_from_bytes,
    deal_hashes,
    sample_hashes,
    to_bytes,
)
from corpusmill.transforms.duplicates.combine_pairs import CombinePairs
from corpusmill.transforms.duplicates.hashed_ngrams import Uint64s, hash_ngrams, to_plain_words
from corpusmill.transforms.files import counters
from corpusmill.transforms.files.records import MeasuredBook
from corpusmill.transforms.files.scratch import Scratch, fetch, fetch_text

STAGE = "hash-books"
GATHERED_HASHES = 1 << 23
"""Number of hashes (64 MB) that a worker collects from several books before it partitions them."""
PARTITION_HASHES = 1 << 21
"""Maximum number of hashes in a partition. With the results, they take about 100 MB."""
MIN_PARTITIONS = 16
"""Minimum number of partitions, so that several workers also share a small corpus."""
MAX_PARTITIONS = 1 << 14
"""Maximum number of partitions. All of Project Gutenberg needs 2,500. With more than 3e10 n-grams, partitions
become larger; `sample` prevents this."""
BUCKET_BOOKS = 256
"""Number of books that are decided together in a bucket."""


class Plan(NamedTuple):
    """The number of partitions of the n-grams, and the number of buckets of the books.

    The two numbers do not change the result.
    """

    partitions: int  # of the n-grams
    buckets: int  # of the books


class SharedParts(NamedTuple):
    """The outputs of ShareNgrams: the shared n-grams of each partition, and n-gram counts of each book."""

    shared: beam.PCollection  # of SharedNgrams as bytes, in scratch: one for each partition
    counts: beam.PCollection  # one array of rows (id, tokens, n-grams, n-grams in earlier books)


class ShareNgrams(beam.PTransform):
    """Finds the n-grams that several books share. PCollection[MeasuredBook] → SharedParts.

    Args:
      scratch: stores the n-grams.
      ngram_words: number of words in an n-gram. A book with fewer words is a single n-gram.
      sample: 1 uses all n-grams. A larger number uses one n-gram in `sample`.
      words: "plain" to compare normalised words, "exact" to compare them unchanged.
      plan: side input with one Plan, the numbers of partitions and buckets.
    """

    def __init__(
        self, scratch: Scratch, ngram_words: int, sample: int, words: str, plan: AsSingleton
    ):
        super().__init__()
        self.scratch = scratch
        self.hash_books = _HashBooks(scratch, ngram_words, sample, words)
        self.plan = plan

    def expand(self, books: beam.PCollection) -> SharedParts:
        found = (
            books
            | "HashBooks"
            >> beam.ParDo(self.hash_books, self.plan).with_output_types(tuple[int, bytes])
            | "GroupPartitions" >> beam.GroupByKey()
            | "ShareNgrams"
            >> beam.FlatMap(share_partition, self.scratch)
            .with_output_types(bytes)
            .with_outputs("counts", main="shared")
        )
        counts = found.counts | "AddCounts" >> beam.CombineGlobally(
            CombinePairs(functools.partial(overlap.sum_rows, keys=2), overlap.COUNT_COLUMNS)
        )
        return SharedParts(found.shared, counts)


def plan_parts(size: tuple[int, int], sample: int) -> Plan:
    """Plans the number of partitions of n-grams, and the number of buckets of books.

    Args:
      size: (number of books, their total number of tokens). Books have at most as many n-grams as tokens.
      sample: one n-gram in `sample` is used.
    """
    books, tokens = size
    wanted = tokens // sample // PARTITION_HASHES + 1
    partitions = min(max(wanted, MIN_PARTITIONS), MAX_PARTITIONS)
    return Plan(partitions, books // BUCKET_BOOKS + 1)


def hash_book(measured: MeasuredBook, ngram_words: int, words: str) -> Uint64s:
    """Returns the hashes of the n-grams of a book. Counts the book and its tokens.

    Args:
      ngram_words: number of words in an n-gram.
      words: "plain" to hash normalised words, "exact" to hash them unchanged.
    """
    counters.count(STAGE, "books")
    counters.count(STAGE, "tokens", measured.tokens)
    text = fetch_text(measured.book.packed_text)
    if words == overlap.PLAIN:
        text = to_plain_words(text)
    return hash_ngrams(text, ngram_words)


class _HashBooks(beam.DoFn):
    """Hashes the n-grams of books, and stores the hashes of each partition in scratch.

    MeasuredBook → (partition, reference to an NgramBlock in scratch). A block has the hashes of several
    books.
    """

    def __init__(self, scratch: Scratch, ngram_words: int, sample: int, words: str):
        self._scratch = scratch
        self._words = words
        self._ngram_words = ngram_words
        self._sample = sample

    def start_bundle(self) -> None:
        self._gathered: list[HashedBook] = []
        self._hashes = 0

    def process(self, measured: MeasuredBook, plan: Plan) -> Iterator[tuple[int, bytes]]:
        self._partitions = plan.partitions
        hashes = hash_book(measured, self._ngram_words, self._words)
        sampled = sample_hashes(hashes, self._sample)
        # A copy: a view would keep the unsampled hashes in memory.
        book = HashedBook(measured.book.book_id, measured.tokens, sampled.copy())
        self._gathered.append(book)
        self._hashes += len(book.hashes)
        if self._hashes >= GATHERED_HASHES:
            yield from self._deal()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        window = GlobalWindow()
        for element in self._deal():
            yield WindowedValue(element, window.max_timestamp(), [window])

    def _deal(self) -> Iterator[tuple[int, bytes]]:
        gathered = self._gathered
        self.start_bundle()
        if gathered:
            for partition, block in deal_hashes(gathered, self._sample, self._partitions):
                yield partition, self._scratch.put(to_bytes(block))


def share_partition(grouped: tuple[int, Iterable[bytes]], scratch: Scratch) -> Iterator[Any]:
    """Finds the n-grams of one partition that several books share.

    Stores these n-grams in scratch, and yields a reference to them. Also yields, on the output "counts", how
    many n-grams of the partition each book has, and how many of these are also in larger books. `grouped` is
    (partition, references to its NgramBlocks).
    """
    _, packed = grouped
    counts, shared = overlap.share_ngrams(block_from_bytes(fetch(piece)) for piece in packed)
    yield TaggedOutput("counts", counts)
    yield scratch.put(to_bytes(shared))
