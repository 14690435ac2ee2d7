"""Finds near-duplicate documents, and drops all but one document of each group of them.

Two documents are near-duplicates if the Jaccard similarity of the sets of their word n-grams is at least the
threshold. MinHash and banding (see minhash.py) find candidate pairs, whose n-grams are then all compared.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import apache_beam as beam
import numpy
from apache_beam.pvalue import AsSingleton

from ..files import counters
from ..files.counters import Screened
from ..files.distribution import Gather
from ..files.line_blocks import group_places
from ..files.read_files import InputError
from ..files.records import Rejected
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


class NearPairs(NamedTuple):
    """The outputs of FindNearPairs: pairs of near-duplicates, the groups that they form, and sketches.

    The sketch of a document refers to the hashes of its n-grams. Only documents that were compared with
    others have one.
    """

    pairs: beam.PCollection  # of ComparedPair
    # of one array: rows (document number, smallest number in its connected component)
    links: beam.PCollection
    sketches: beam.PCollection  # of (number, Sketch), of documents that share a band with another


class FindNearPairs(beam.PTransform):
    """Finds pairs of near-duplicate documents. PCollection[document] → NearPairs.

    Documents are not shuffled. For documents that share a band with another, the hashes (8 bytes per n-gram)
    are written to scratch, and references to them are shuffled. One worker holds all candidate pairs.

    Args:
      folder: folder for temporary hashes (see scratch.py).
      describe: picklable function from a document to its DocumentFacts. The key must be unique.
      ngrams_of: picklable function from a document to the hashes of its n-grams, called at most twice for
        each document.
      threshold: minimum similarity of near-duplicates.
      pair: function that chooses which documents of a MinHash bucket are compared.
      again: PCollection of the same documents, read a second time, so that the runner need not store them;
        None to use the input twice.

    Raises ValueError if two near-duplicates have the same key.
    """

    def __init__(
        self,
        folder: str,
        describe: Describe,
        ngrams_of: NgramsOf,
        threshold: Fraction,
        pair: PairMembers = minhash.pair_members,
        again: beam.PCollection | None = None,
    ):
        super().__init__()
        self.sketch = Scratch(folder), describe, ngrams_of
        bands = bands_for(float(threshold))
        self.find_similar = FindSimilarDocuments(folder, describe, ngrams_of, bands, pair)
        self.threshold, self.again = threshold, again

    def expand(self, documents: beam.PCollection) -> NearPairs:
        similar = documents | "FindSimilar" >> self.find_similar
        wanted = AsSingleton(similar | "SimilarNumbers" >> beam.Map(numpy.unique))
        # Grouped to detect duplicate keys, and for another reason: otherwise the in-process runner would
        # delay the joins of sketches until all work on documents is done, and this step waits for the joins.
        sketches = (
            (documents if self.again is None else self.again)
            | "SketchSimilar" >> beam.FlatMap(sketch_similar, wanted, *self.sketch)
            | "GroupSketches" >> beam.GroupByKey()
            | "CheckNumbers" >> beam.Map(only_sketch)
        )
        near = (
            similar
            | "CompareSimilar" >> CompareDocuments(sketches)
            | "NearPairs" >> beam.Filter(is_near, self.threshold)
        )
        links = (
            near
            | "PairNumbers" >> beam.Map(numbers_of)
            | "LinkDocuments" >> beam.CombineGlobally(CombinePairs(minhash.link_to_smallest))
        )
        return NearPairs(near, links, sketches)


def sketch_similar(
    document: Any,
    wanted: minhash.Int64s,
    scratch: Scratch,
    describe: Describe,
    ngrams_of: NgramsOf,
) -> Iterator[tuple[int, Sketch]]:
    """Yields (number of the document, its Sketch) if the number is in `wanted`, an ascending array.

    The hashes of the document's n-grams are stored in scratch, and the Sketch refers to them. `describe`
    returns the DocumentFacts of a document, `ngrams_of` the hashes of its n-grams.
    """
    facts = describe(document)
    number = number_of(facts.key)
    if is_among(number, wanted):
        hashes = ngrams_of(document)
        yield number, Sketch(number, facts, scratch.put(hashes.astype("<u8").tobytes()))


def only_sketch(grouped: tuple[int, Iterable[Sketch]]) -> tuple[int, Sketch]:
    """Returns (number of a document, its Sketch) from (number, all sketches with this number).

    Raises InputError if several documents have the same title and key, ValueError if others have the same
    number.
    """
    number, (sketch, *others) = grouped
    if others and all(one.facts == sketch.facts for one in others):
        message = "several documents have this id, but ids must be unique"
        raise InputError(sketch.facts.title, message)
    if others:
        names = " and ".join(sorted(str(one.facts.key) for one in (sketch, *others)))
        raise ValueError(
            f"documents have the same key, or keys that are converted to the same number {number}: {names}"
        )
    return number, sketch


def is_near(pair: ComparedPair, threshold: Fraction) -> bool:
    """Returns True if the similarity of a pair is at least the threshold."""
    return pair.similarity >= threshold


def numbers_of(pair: ComparedPair) -> minhash.Pairs:
    """Returns the document numbers of a pair, as an array of one row."""
    return numpy.array([[pair.first.number, pair.second.number]], numpy.int64)


def is_among(number: int, numbers: minhash.Int64s) -> bool:
    """Returns True if a number is in the ascending array `numbers`."""
    place = int(numpy.searchsorted(numbers, number))
    return place < len(numbers) and int(numbers[place]) == number


TextOf = Callable[[Any], str]

STAGE = "drop-duplicates"
NEAR_DUPLICATE = "near-duplicate"


class DropDuplicates(beam.PTransform):
    """Drops near-duplicate documents. PCollection[document] → Screened.

    The result does not depend on workers or the order of documents. Groups are connected components: if A is
    similar to B, and B to C, one of the three is kept, even if the similarity of A and C is below the
    threshold. The detail of a rejection names the kept document and the similarity to it. Documents without
    words are always kept.

    Documents are not shuffled. For documents that share a band with another, the hashes (8 bytes per n-gram)
    are written to scratch, and references to them are shuffled. One worker holds all candidate pairs, and two
    numbers for each document that has a near-duplicate.

    Bands miss some pairs. With 128 permutations and a threshold from 0.3 to 0.9, they miss 0.4 % to 2 % of
    the pairs whose similarity is exactly the threshold, and at most 0.1 % of the pairs whose similarity is
    0.05 higher. The missed pairs depend only on the texts.

    Args:
      folder: folder for temporary hashes (see scratch.py).
      describe: picklable function from a document to its DocumentFacts. The key must be unique. The document
        with the greatest rank is kept; if ranks are equal, that with the smallest `number_of(key)`.
      text_of: picklable function from a document to its text, called at most twice for each document.
      threshold: minimum similarity of near-duplicates; above 0 and below 1. It is compared exactly: "0.1" is
        one tenth. A threshold far below 0.3 gives too many pairs to compare.

    Raises ValueError for an invalid threshold, and if two near-duplicates have the same key.
    """

    def __init__(
        self, folder: str, describe: Describe, text_of: TextOf, threshold: str | float | Fraction
    ):
        super().__init__()
        self.threshold = minhash.parse_similarity(threshold)
        self.describe = describe
        self.find = FindNearPairs(
            folder,
            describe,
            lambda document: minhash.hash_ngrams(text_of(document), minhash.NGRAM_WORDS),
            self.threshold,
        )

    def expand(self, documents: beam.PCollection) -> Screened:
        near = documents | "FindNearPairs" >> self.find
        ranks = (
            near.pairs
            | "PairRanks" >> beam.Map(ranks_of)
            | "GatherRanks" >> beam.CombineGlobally(CombinePairs(different_pairs))
        )
        # One array of rows (number of a kept document, number of a document dropped for it).
        dropped = near.links | "ChooseKept" >> beam.Map(minhash.choose_kept, AsSingleton(ranks))
        numbers = AsSingleton(
            dropped | "DroppedNumbers" >> beam.Map(lambda pairs: pairs[:, 1].copy())
        )
        kept = documents | "KeepDocuments" >> beam.Filter(is_kept, numbers, self.describe)
        rejected = (
            dropped
            | "CompareDropped" >> CompareDocuments(near.sketches)
            | "RejectDocuments" >> beam.Map(reject_document)
        )
        return Screened(kept, rejected)


def ranks_of(pair: ComparedPair) -> minhash.Pairs:
    """Returns an array with a row (document number, rank) for each of the two documents of a pair."""
    return numpy.array([(one.number, one.facts.rank) for one in pair[:2]], numpy.int64)


def is_kept(document: Any, dropped: minhash.Int64s, describe: Describe) -> bool:
    """Returns True if a document is kept, because its number is not in `dropped`.

    `describe` returns the DocumentFacts of the document. Its number is computed from the key in them.
    """
    return not is_among(number_of(describe(document).key), dropped)


def reject_document(pair: ComparedPair) -> Rejected:
    """Returns the rejection of the second document of a pair, and counts it. The first document is kept.

    The detail of the rejection names the first document: "8-gram similarity 0.998 to 2591, which stays".
    """
    counters.count(STAGE, NEAR_DUPLICATE)
    similarity = f"{minhash.NGRAM_WORDS}-gram similarity {float(pair.similarity):.3f}"
    detail = f"{similarity} to {pair.first.facts.key}, which stays"
    facts = pair.second.facts
    return Rejected(str(facts.key), facts.title, STAGE, NEAR_DUPLICATE, detail)
