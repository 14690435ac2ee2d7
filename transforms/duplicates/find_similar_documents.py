"""Finds pairs of documents that may be near-duplicates, by MinHash and bands (see minhash.py)."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam
import numpy
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.windowed_value import WindowedValue

from corpusmill.transforms.duplicates.combine_pairs import CombinePairs, different_pairs
from corpusmill.transforms.duplicates.components import Pairs
from corpusmill.transforms.duplicates.document_signatures import sign_documents
from corpusmill.transforms.duplicates.hashed_ngrams import Uint64s
from corpusmill.transforms.duplicates.minhash import (
    PERMUTATIONS,
    Uint32s,
    bucket_signatures,
    choose_bands,
    deal_buckets,
    pair_members,
)
from corpusmill.transforms.files.fingerprint import fingerprint
from corpusmill.transforms.files.scratch import Scratch, fetch

MISS_WEIGHT = 0.99
"""Weight of missed pairs, compared with false candidates, in the choice of bands.

A false candidate only costs a comparison, but a missed duplicate remains in the corpus."""
SIGNED_HASHES = 1 << 16
"""Small documents are signed together, up to this number of n-grams."""
GATHERED_ROWS = 1 << 20
"""Number of buckets (12 MB) that a worker collects from several documents before it partitions them."""

_PARTITION_BITS = 10
_ROW = numpy.dtype([("number", "<i8"), ("bucket", "<u4")])


class DocumentFacts(NamedTuple):
    """The facts about a document that are needed in addition to its text: key, title and rank.

    Of several near-duplicates, the one with the greatest rank is kept.
    """

    key: int | str  # unique; an int is a signed 64-bit number
    title: str
    rank: int  # the near-duplicate with the greatest rank is kept; signed 64-bit


Describe = Callable[[Any], DocumentFacts]
NgramsOf = Callable[[Any], Uint64s]
"""Function: document → the hashes of its n-grams, as returned by `hash_ngrams`."""
PairMembers = Callable[[Any, Any], Pairs]
"""Function: (buckets, numbers) → rows (smaller number, greater number), as returned by `pair_members`."""


class FindSimilarDocuments(beam.PTransform):
    """Finds pairs of documents that may be similar.

    PCollection[document] → PCollection of one array of distinct pairs (smaller number, greater number). A
    worker holds one of 1,024 partitions of the buckets at a time, with 12 bytes for each document and band.
    One worker holds all pairs, 16 bytes each; there are at most eight pairs for each document and band.

    Args:
      folder: folder for temporary buckets (see scratch.py).
      describe: picklable function from a document to its DocumentFacts. The key must be unique.
      ngrams_of: picklable function from a document to the hashes of its n-grams, called once for each
        document.
      bands: (number of bands, rows in a band), see `bands_for`.
      pair: function that chooses which documents of a bucket are paired.
    """

    def __init__(
        self,
        folder: str,
        describe: Describe,
        ngrams_of: NgramsOf,
        bands: tuple[int, int],
        pair: PairMembers = pair_members,
    ):
        super().__init__()
        self.bucket = _BucketDocuments(Scratch(folder), describe, ngrams_of, *bands)
        self.pair = pair

    def expand(self, documents: beam.PCollection) -> beam.PCollection:
        return (
            documents
            | "BucketDocuments" >> beam.ParDo(self.bucket)
            | "GroupBuckets" >> beam.GroupByKey()
            | "PairMembers" >> beam.Map(pair_partition, self.pair)
            | "DifferentPairs" >> beam.CombineGlobally(CombinePairs(different_pairs))
        )


def bands_for(threshold: float) -> tuple[int, int]:
    """Returns (number of bands, rows in a band) to find pairs whose similarity is at least `threshold`."""
    return choose_bands(threshold, PERMUTATIONS, MISS_WEIGHT)


def number_of(key: int | str) -> int:
    """Returns a number that identifies a document: its key if that is an integer, else 63 bits of its hash.

    Among 100 million string keys, the probability that any two get the same number is 1 in 2,000. An error is
    raised later if one of these two documents is in a pair to compare; otherwise the equal numbers have no
    effect.
    """
    return fingerprint(key) >> 1 if isinstance(key, str) else key


class _BucketDocuments(beam.DoFn):
    """Computes the MinHash buckets of documents. Document → (partition, reference to rows in scratch).

    A row is (document number, bucket). The rows of several documents are stored together.
    """

    def __init__(
        self, scratch: Scratch, describe: Describe, ngrams_of: NgramsOf, bands: int, rows: int
    ):
        self._scratch = scratch
        self._describe = describe
        self._ngrams_of = ngrams_of
        self._bands, self._rows = bands, rows

    def start_bundle(self) -> None:
        self._numbers: list[int] = []
        self._ngrams: list[Uint64s] = []
        self._hashes = 0
        self._gathered: list[tuple[list[int], Uint64s]] = []
        self._gathered_rows = 0

    def process(self, document: Any) -> Iterator[tuple[int, bytes]]:
        ngrams = self._ngrams_of(document)
        if not len(ngrams):  # a document without words has no near-duplicates
            return
        self._numbers.append(number_of(self._describe(document).key))
        self._ngrams.append(ngrams)
        self._hashes += len(ngrams)
        if self._hashes >= SIGNED_HASHES:
            self._sign()
        if self._gathered_rows >= GATHERED_ROWS:
            yield from self._deal()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        window = GlobalWindow()
        self._sign()
        for element in self._deal():
            yield WindowedValue(element, window.max_timestamp(), [window])

    def _sign(self) -> None:
        if self._numbers:
            signatures = sign_documents(self._ngrams, PERMUTATIONS)
            buckets = bucket_signatures(signatures, self._bands, self._rows)
            self._gathered.append((self._numbers, buckets))
            self._gathered_rows += buckets.size
        self._numbers, self._ngrams, self._hashes = [], [], 0

    def _deal(self) -> Iterator[tuple[int, bytes]]:
        gathered = self._gathered
        self._gathered, self._gathered_rows = [], 0
        if gathered:
            numbers = numpy.concatenate([numpy.array(some, numpy.int64) for some, _ in gathered])
            buckets = numpy.concatenate([rows for _, rows in gathered])
            for partition, *columns in deal_buckets(numbers, buckets, _PARTITION_BITS):
                yield partition, self._scratch.put(rows_of(*columns))


def rows_of(numbers: Pairs, buckets: Uint32s) -> bytes:
    """Returns rows (document number, bucket) as bytes."""
    rows = numpy.empty(len(numbers), _ROW)
    rows["number"], rows["bucket"] = numbers, buckets
    return rows.tobytes()


def pair_partition(grouped: tuple[int, Iterable[bytes]], pair: PairMembers = pair_members) -> Pairs:
    """Returns the pairs of documents that are in the same bucket, for all buckets of a partition.

    `grouped` is (partition, references to rows in scratch). `pair` is the function that chooses which
    documents of a bucket are paired.
    """
    _, pieces = grouped
    rows = numpy.frombuffer(b"".join(map(fetch, pieces)), _ROW)
    return different_pairs(pair(rows["bucket"], rows["number"]))
