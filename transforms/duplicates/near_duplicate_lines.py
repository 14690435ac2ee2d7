"""Finds near-duplicate lines, and drops all but the first line of each group of them.

The sorted lines of a corpus are divided into ranges. A pair is joined with the range of its first line, then
with the range of its second line.

Two lines are near-duplicates if the Jaccard similarity of their sets of word n-grams is at least `threshold`.
MinHash signatures find candidate pairs; the n-grams of both lines are then compared. Groups are the connected
components of near-duplicates, so the similarity of a removed line to the kept line may be below the
threshold. Of each group, the line that comes first in byte order is kept.

This is the method of Lee et al., "Deduplicating Training Data Makes Language Models Better", ACL 2022,
section 4.2, applied to sentences instead of documents. They use 5-grams and compare by edit distance. If one
word in the middle of a sentence of 25 words is changed, n of its n-grams change: the similarity is 0.62 with
5-grams and 0.77 with 3-grams. 3-grams still distinguish sentences with the same words in another order.
"""

import operator
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam
import numpy
import pyarrow as pa

from ..files import counters, line_blocks
from ..files.builds.ledger import NEAR_DUPLICATES
from ..files.line_blocks import block_of, line_ids, lines_of, pack_block, places_of, split_by_range
from ..files.records import LineRange
from ..files.scratch import Scratch, fetch
from ..files.write_rows import WriteRecords
from . import minhash
from .similar_documents import CombinePairs, different_pairs

LINES_AT_ONCE = 1 << 10
MISS_WEIGHT = 0.9
"""Weight of missed pairs, compared with false candidates, in the choice of bands.

A false candidate only costs a comparison, but a missed duplicate remains in the corpus."""

_PARTITION_BITS = 12
BucketBlock = tuple[int, minhash.Uint32s, minhash.Uint32s]
"""(index of a range, indexes of some of its lines in the range, a bucket for each of them).

All buckets are in the same partition. All blocks of a range together take eight bytes for each line and band;
see `deal_buckets`.
"""


def bucket_range(lines: LineRange, bands: int, rows: int) -> Iterator[tuple[int, BucketBlock]]:
    """Computes the MinHash buckets of the lines in a range.

    Yields (partition of the buckets, block of lines with buckets in this partition). `bands` is the number of
    bands, `rows` is the number of signature positions in a band.
    """
    all_lines = lines_of(fetch(lines.packed))
    blocks: list[minhash.Uint64s] = []
    for start in range(0, len(all_lines), LINES_AT_ONCE):
        some = all_lines[start : start + LINES_AT_ONCE]
        ngrams = [minhash.word_ngrams(line, minhash.LINE_NGRAM_WORDS) for line in some]
        signatures = minhash.sign_sets(ngrams, minhash.LINE_PERMUTATIONS, bands * rows)
        blocks.append(minhash.bucket_signatures(signatures, bands, rows))
    if blocks:
        places = numpy.arange(len(all_lines), dtype=numpy.uint32)
        dealt = minhash.deal_buckets(places, numpy.concatenate(blocks), _PARTITION_BITS)
        for partition, some_places, buckets in dealt:
            yield partition, (lines.index, some_places, buckets)


def pair_partition(
    grouped: tuple[int, Iterable[BucketBlock]],
) -> Iterator[tuple[int, minhash.Pairs]]:
    """Finds the pairs of lines that are in the same bucket, for all buckets of a partition.

    Yields (index of a range, pairs of line ids). The first line of each of these pairs is in the range.
    """
    indexes, places, buckets = zip(*grouped[1], strict=True)
    ids = numpy.concatenate(list(map(line_ids, indexes, places)))
    return split_by_range(minhash.pair_members(numpy.concatenate(buckets), ids), 0)


RANGES, PAIRS = "ranges", "pairs"
PAIRS_AT_ONCE = 1 << 16

PackedPairs = tuple[minhash.Pairs, bytes]
"""Pairs of ids, and the packed block of their first lines."""


class LinePairs(NamedTuple):
    """Pairs of lines and their ids. All three fields list the pairs in the same order."""

    ids: minhash.Pairs
    firsts: list[bytes]
    seconds: list[bytes]


@dataclass(eq=False, repr=False)
class FetchLinePairs(beam.PTransform):
    """Fetches the lines for pairs of line ids.

    PCollection[(index of the range with the first lines, pairs of ids)] → PCollection[LinePairs]. A range is
    a part of the sorted lines. The first line of each pair is sent to the range that contains the second.

    Args:
      index_to_range: PCollection[(index of the range, LineRange)] with all ranges.
    """

    index_to_range: beam.PCollection

    def expand(self, index_to_pairs: beam.PCollection) -> beam.PCollection:
        with_first = (
            {RANGES: self.index_to_range, PAIRS: index_to_pairs}
            | "MeetFirst" >> beam.CoGroupByKey()
            | "TakeFirst" >> beam.FlatMap(take_first)
        )
        return (
            {RANGES: self.index_to_range, PAIRS: with_first}
            | "MeetSecond" >> beam.CoGroupByKey()
            | "TakeSecond" >> beam.FlatMap(take_second)
        )


def take_first(
    joined: tuple[int, Mapping[str, Iterable[Any]]],
) -> Iterator[tuple[int, PackedPairs]]:
    """Fetches the first lines of pairs, a limited number of pairs at a time.

    Yields (index of the range with the second lines, pairs of ids with their first lines). `joined` is (index
    of the range with the first lines, this range and pairs of ids), as produced by CoGroupByKey.
    """
    _, found = joined
    arrays: list[minhash.Pairs] = list(found[PAIRS])
    if not arrays:
        return
    lines = lines_in(found[RANGES])
    for index, pairs in split_by_range(numpy.concatenate(arrays), 1):
        for start in range(0, len(pairs), PAIRS_AT_ONCE):
            some = pairs[start : start + PAIRS_AT_ONCE]
            firsts = [lines[place] for place in places_of(some[:, 0])]
            yield index, (some, pack_block(block_of(firsts)))


def take_second(joined: tuple[int, Mapping[str, Iterable[Any]]]) -> Iterator[LinePairs]:
    """Fetches the second lines of pairs. Yields the pairs with both lines.

    `joined` is (index of the range with the second lines, this range and the output of `take_first`).
    """
    _, found = joined
    lines: list[bytes] = []
    for pairs, packed_firsts in found[PAIRS]:
        lines = lines or lines_in(found[RANGES])
        seconds = [lines[place] for place in places_of(pairs[:, 1])]
        yield LinePairs(pairs, lines_of(line_blocks.unpack_block(packed_firsts)), seconds)


def lines_in(ranges: Iterable[LineRange]) -> list[bytes]:
    """Returns the lines of a range. `ranges` has exactly one element, this range."""
    (lines,) = ranges
    return lines_of(fetch(lines.packed))


STAGE = "drop-near-duplicates"

RECORDS_PER_FILE = 1 << 18
SCHEMA = pa.schema(
    [
        pa.field("kept", pa.string(), nullable=False),
        pa.field("removed", pa.string(), nullable=False),
        pa.field("similarity", pa.float64(), nullable=False),
    ]
)

Row = tuple[str, str, float]  # as in SCHEMA


class WithoutNearDuplicates(NamedTuple):
    """The outputs of DropNearDuplicates: the kept lines, a table of the removed lines, and their number."""

    # of LineRange: the input ranges without the removed lines; some may be empty
    kept: beam.PCollection
    removed: beam.PCollection  # of OutputFile: rejected/near-duplicates-*.parquet
    counts: beam.PCollection  # of one int: the number of removed lines


class DropNearDuplicates(beam.PTransform):
    """Drops near-duplicate lines. PCollection[LineRange] → WithoutNearDuplicates.

    The result does not depend on how the lines are divided into ranges. Only the ids of lines, and the texts
    of candidate pairs, are shuffled. One worker holds the ids of each removed line and of the line kept for
    it: 16 bytes for each removed line, and a few times as much while groups are formed. A worker holds one of
    4,096 partitions of the MinHash buckets at a time; for a very large bucket (boilerplate that many lines
    share), it holds 16 bytes for each of the lines.

    Args:
      folder: output folder of the build.
      threshold: minimum similarity of near-duplicates, below 1; 0 keeps all lines. Some pairs with exactly
        this similarity are missed, see `choose_bands`.
      scratch: folder for temporary lines; "" to use the folder of the build.

    Raises ValueError for an invalid threshold.
    """

    def __init__(self, folder: str, threshold: float, scratch: str = ""):
        super().__init__()
        if threshold and not 0 < threshold < 1:
            raise ValueError(f"threshold must be at least 0 and below 1, not {threshold}")
        self.folder, self.threshold = folder, threshold
        self.scratch = Scratch(scratch or folder)
        self.bands: tuple[int, ...] = ()
        if threshold:
            self.bands = minhash.choose_bands(threshold, minhash.LINE_PERMUTATIONS, MISS_WEIGHT)

    def expand(self, ranges: beam.PCollection) -> WithoutNearDuplicates:
        if not self.bands:
            none = ranges.pipeline | "None" >> beam.Create([])
            return WithoutNearDuplicates(ranges, none, none)
        index_to_range = ranges | "KeyByIndex" >> beam.Map(lambda lines: (lines.index, lines))
        links = (
            ranges
            | "BucketLines" >> beam.FlatMap(bucket_range, *self.bands)
            | "GroupBuckets" >> beam.GroupByKey()
            | "PairMembers" >> beam.FlatMap(pair_partition)
            | "DifferentPairs" >> beam.CombinePerKey(CombinePairs(different_pairs))
            | "FetchSimilar" >> FetchLinePairs(index_to_range)
            | "NearPairs" >> beam.FlatMap(near_pairs, self.threshold)
            | "LinkLines" >> beam.CombineGlobally(CombinePairs(minhash.link_to_smallest))
        )
        counts = links | "CountRemoved" >> beam.Map(len)
        index_to_links = links | "SplitLinks" >> beam.FlatMap(split_by_range, 0)
        kept = (
            {RANGES: index_to_range, PAIRS: index_to_links}
            | "MeetLinks" >> beam.CoGroupByKey()
            | "DropLines" >> beam.FlatMap(drop_lines, self.scratch)
        )
        removed = (
            index_to_links
            | "FetchRemoved" >> FetchLinePairs(index_to_range)
            | "ListRemoved" >> beam.FlatMap(list_removed)
            | "WriteRemoved"
            >> WriteRecords(
                self.folder,
                NEAR_DUPLICATES,
                SCHEMA,
                operator.itemgetter(1),  # the removed line
                tuple,
                records_per_file=RECORDS_PER_FILE,
                count=counts,
            )
        )
        return WithoutNearDuplicates(kept, removed, counts)


def near_pairs(pairs: LinePairs, threshold: float) -> Iterator[minhash.Pairs]:
    """Yields one array of the pairs whose similarity is at least the threshold, or nothing if there are
    none.
    """
    similarities = [
        minhash.jaccard(first, second, minhash.LINE_NGRAM_WORDS)
        for first, second in zip(pairs.firsts, pairs.seconds, strict=True)
    ]
    near = pairs.ids[numpy.array(similarities) >= threshold]
    if len(near):
        yield near


def list_removed(pairs: LinePairs) -> Iterator[Row]:
    """Yields a row (kept line, removed line, similarity) for each pair.

    Bytes that are not UTF-8 become \\xNN.
    """
    for removed, kept in zip(pairs.firsts, pairs.seconds, strict=True):
        yield (
            _readable(kept),
            _readable(removed),
            minhash.jaccard(removed, kept, minhash.LINE_NGRAM_WORDS),
        )


def _readable(line: bytes) -> str:
    return line.decode("utf-8", "backslashreplace")


def drop_lines(
    joined: tuple[int, Mapping[str, Iterable[Any]]], scratch: Scratch
) -> Iterator[LineRange]:
    """Removes lines from a range, and yields the range. The lines that are left are stored in `scratch`.

    `joined` is (index of the range, the range and its links). A link is (id of a removed line, id of the
    line that is kept instead).
    """
    _, found = joined
    removed = {place for links in found[PAIRS] for place in places_of(links[:, 0])}
    (before,) = found[RANGES]
    if not removed:
        yield before
        return
    lines = lines_of(fetch(before.packed))
    kept = [line for place, line in enumerate(lines) if place not in removed]
    yield LineRange(before.index, len(kept), scratch.put(block_of(kept)))
    counters.count(STAGE, "near-duplicate", len(removed))
    counters.flush()
