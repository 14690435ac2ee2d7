"""Combines arrays, whose rows are pairs of numbers, from many workers into one array.

Finds pairs of documents that may be near-duplicates, by MinHash and bands (see minhash.py).

Computes the similarity of pairs of documents, which are identified by their numbers.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import apache_beam as beam
import numpy

from ..files.distribution import Gather
from ..files.line_blocks import group_places
from ..files.scratch import Scratch, fetch
from ..files.text import fingerprint
from . import minhash

REDUCE_ROWS = 1 << 18


class GatheredPairs:
    """The arrays of pairs collected so far, and the number of rows added since the function `reduce` was last
    applied.
    """

    def __init__(self, arrays: list[minhash.Pairs]) -> None:
        self.arrays = arrays
        self.new_rows = 0


class CombinePairs(beam.CombineFn):
    """Combines arrays of pairs, or of longer rows, into one array.

    Args:
      columns: number of columns of the arrays.
      reduce: function that is applied to the rows, and returns an array with fewer rows. It may be applied to
        parts of the rows first, and then to the results; this must not change the final result.
    """

    def __init__(self, reduce: Callable[[minhash.Pairs], minhash.Pairs], columns: int = 2):
        super().__init__()
        self._reduce = reduce
        self._columns = columns

    def create_accumulator(self) -> GatheredPairs:
        return GatheredPairs([numpy.empty((0, self._columns), numpy.int64)])

    def add_input(self, gathered: GatheredPairs, pairs: minhash.Pairs) -> GatheredPairs:
        gathered.arrays.append(pairs)
        gathered.new_rows += len(pairs)
        # Reductions run when the rows have doubled, so each row takes part in only a few.
        if gathered.new_rows > max(REDUCE_ROWS, len(gathered.arrays[0])):
            return self.compact(gathered)
        return gathered

    def merge_accumulators(self, accumulators: Iterable[GatheredPairs]) -> GatheredPairs:
        merged = self.create_accumulator()
        for gathered in accumulators:
            for pairs in gathered.arrays:
                merged = self.add_input(merged, pairs)
        return self.compact(merged)

    def compact(self, gathered: GatheredPairs) -> GatheredPairs:
        return GatheredPairs([self._reduce(numpy.concatenate(gathered.arrays))])

    def extract_output(self, gathered: GatheredPairs) -> minhash.Pairs:
        return self.compact(gathered).arrays[0]


def different_pairs(pairs: minhash.Pairs) -> minhash.Pairs:
    """Returns the distinct pairs in ascending order."""
    return numpy.unique(pairs, axis=0)


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
NgramsOf = Callable[[Any], minhash.Uint64s]
"""Function: document → the hashes of its n-grams, as returned by `hash_ngrams`."""
PairMembers = Callable[[Any, Any], minhash.Pairs]
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
        pair: PairMembers = minhash.pair_members,
    ):
        super().__init__()
        hash_one = functools.partial(hash_document, describe=describe, ngrams_of=ngrams_of)
        bucket = functools.partial(bucket_documents, bands=bands)
        self.bucket = Gather(hash_one, bucket, SIGNED_HASHES, lambda hashed: len(hashed[1]))
        deal = functools.partial(deal_documents, scratch=Scratch(folder))
        self.deal = Gather(None, deal, GATHERED_ROWS, lambda bucketed: bucketed[1].size)
        self.pair = pair

    def expand(self, documents: beam.PCollection) -> beam.PCollection:
        return (
            documents
            | "BucketDocuments" >> beam.ParDo(self.bucket)
            | "DealBuckets" >> beam.ParDo(self.deal).with_output_types(tuple[int, bytes])
            | "GroupBuckets" >> beam.GroupByKey()
            | "PairMembers" >> beam.Map(pair_partition, self.pair)
            | "DifferentPairs" >> beam.CombineGlobally(CombinePairs(different_pairs))
        )


def bands_for(threshold: float) -> tuple[int, int]:
    """Returns (number of bands, rows in a band) to find pairs whose similarity is at least `threshold`."""
    return minhash.choose_bands(threshold, minhash.PERMUTATIONS, MISS_WEIGHT)


def number_of(key: int | str) -> int:
    """Returns a number that identifies a document: its key if that is an integer, else 63 bits of its hash.

    Among 100 million string keys, the probability that any two get the same number is 1 in 2,000. An error is
    raised later if one of these two documents is in a pair to compare; otherwise the equal numbers have no
    effect.
    """
    return fingerprint(key) >> 1 if isinstance(key, str) else key


def hash_document(
    document: Any, describe: Describe, ngrams_of: NgramsOf
) -> tuple[int, minhash.Uint64s] | None:
    """Returns (number, hashes of the n-grams) of a document; None for a document without words.

    A document without words has no near-duplicates.
    """
    ngrams = ngrams_of(document)
    return (number_of(describe(document).key), ngrams) if len(ngrams) else None


def bucket_documents(
    hashed: Sequence[tuple[int, minhash.Uint64s]], bands: tuple[int, int]
) -> Iterator[tuple[minhash.Int64s, minhash.Uint64s]]:
    """Yields the numbers of documents, and their MinHash buckets: one row for each document.

    `hashed` has the results of `hash_document`.
    """
    numbers, ngrams = zip(*hashed, strict=True)
    signatures = minhash.sign_documents(ngrams, minhash.PERMUTATIONS)
    yield numpy.array(numbers, numpy.int64), minhash.bucket_signatures(signatures, *bands)


def deal_documents(
    gathered: Sequence[tuple[minhash.Int64s, minhash.Uint64s]], scratch: Scratch
) -> Iterator[tuple[int, bytes]]:
    """Partitions the results of `bucket_documents`. Yields (partition, reference to rows in scratch).

    A row is (document number, bucket). The rows of several documents are stored together.
    """
    numbers, buckets = map(numpy.concatenate, zip(*gathered, strict=True))
    for partition, *columns in minhash.deal_buckets(numbers, buckets, _PARTITION_BITS):
        yield partition, scratch.put(rows_of(*columns))


def rows_of(numbers: minhash.Pairs, buckets: minhash.Uint32s) -> bytes:
    """Returns rows (document number, bucket) as bytes."""
    rows = numpy.empty(len(numbers), _ROW)
    rows["number"], rows["bucket"] = numbers, buckets
    return rows.tobytes()


def pair_partition(
    grouped: tuple[int, Iterable[bytes]], pair: PairMembers = minhash.pair_members
) -> minhash.Pairs:
    """Returns the pairs of documents that are in the same bucket, for all buckets of a partition.

    `grouped` is (partition, references to rows in scratch). `pair` is the function that chooses which
    documents of a bucket are paired.
    """
    _, pieces = grouped
    rows = numpy.frombuffer(b"".join(map(fetch, pieces)), _ROW)
    return different_pairs(pair(rows["bucket"], rows["number"]))


DOCUMENTS, WANTED = "documents", "wanted"
Met = tuple[int, Mapping[str, Iterable[Any]]]
"""(number of a document, {DOCUMENTS: its Sketch, WANTED: the elements that were sent to it})."""


class Sketch(NamedTuple):
    """The data of a document that is needed to compare it: the hashes of its n-grams."""

    number: int
    facts: DocumentFacts
    packed: bytes  # the hashes of its n-grams, in scratch


class ComparedPair(NamedTuple):
    """Two documents and their similarity. The field `packed` of their sketches is empty."""

    first: Sketch
    second: Sketch
    similarity: Fraction


class CompareDocuments(beam.PTransform):
    """Compares pairs of documents.

    PCollection of arrays of pairs of document numbers → PCollection[ComparedPair], one for each pair. A
    worker holds two sketches at a time. The sketch of a document is shuffled once for each pair in which the
    document is the first; on a local file system, only a reference to the sketch is shuffled.

    Args:
      number_to_sketch: PCollection[(number, Sketch)] with one sketch for each document that occurs in a pair.
        Sketches of other documents are ignored.
      compare: function that compares a document with the first documents of its pairs; by default
        `compare_with_firsts`, which yields ComparedPairs.
    """

    def __init__(
        self,
        number_to_sketch: beam.PCollection,
        compare: Callable[[Met], Iterable[Any]] | None = None,
    ):
        super().__init__()
        self.number_to_sketch = number_to_sketch
        self.compare = compare or compare_with_firsts

    def expand(self, pairs: beam.PCollection) -> beam.PCollection:
        wanted = pairs | "SplitPairs" >> beam.FlatMap(split_pairs)
        firsts = (
            {DOCUMENTS: self.number_to_sketch, WANTED: wanted}
            | "MeetFirst" >> beam.CoGroupByKey()
            | "SendFirst" >> beam.FlatMap(send_first)
        )
        return (
            {DOCUMENTS: self.number_to_sketch, WANTED: firsts}
            | "MeetSecond" >> beam.CoGroupByKey()
            | "CompareWithFirsts" >> beam.FlatMap(self.compare)
        )


def split_pairs(pairs: minhash.Pairs) -> Iterator[tuple[int, Any]]:
    """Groups pairs by their first document.

    Yields (number of a first document, sorted numbers of its second documents).
    """
    return ((first, pairs[places, 1]) for first, places in group_places(pairs[:, 0]))


def send_first(joined: Met) -> Iterator[tuple[int, Sketch]]:
    """Sends the sketch of a document to the second document of each pair in which it is the first.

    Yields (number of the second document, sketch of the first document). `joined` is (number of the first
    document, its sketch and its pairs), as produced by CoGroupByKey.
    """
    _, found = joined
    (own,) = found[DOCUMENTS]
    for seconds in found[WANTED]:
        for second in seconds.tolist():
            if second != own.number:  # a document may be in a bucket twice by chance
                yield second, own


def compare_with_firsts(joined: Met) -> Iterator[ComparedPair]:
    """Yields a ComparedPair for each pair whose second document is the document of `joined`.

    `joined` is (number of this document, its sketch and the sketches of the first documents), as produced by
    CoGroupByKey. `send_first` sends the first documents.
    """
    _, found = joined
    (own,) = found[DOCUMENTS]
    hashes = None
    for first in found[WANTED]:
        hashes = hashes_of(own) if hashes is None else hashes
        similarity = minhash.exact_jaccard(hashes_of(first), hashes)
        yield ComparedPair(first._replace(packed=b""), own._replace(packed=b""), similarity)


def hashes_of(sketch: Sketch) -> minhash.Uint64s:
    """Reads the hashes of a document's n-grams from the scratch folder."""
    return numpy.frombuffer(fetch(sketch.packed), "<u8")
