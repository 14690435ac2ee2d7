"""Drops near-duplicate lines. The first line of each group of near-duplicates is kept.

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
from typing import Any, NamedTuple

import apache_beam as beam
import numpy
import pyarrow as pa

from corpusmill.transforms.duplicates.combine_pairs import CombinePairs
from corpusmill.transforms.duplicates.components import Pairs, link_to_smallest
from corpusmill.transforms.duplicates.fetch_line_pairs import (
    PAIRS,
    RANGES,
    FetchLinePairs,
    LinePairs,
)
from corpusmill.transforms.duplicates.find_similar_lines import FindSimilarLines
from corpusmill.transforms.duplicates.minhash import LINE_NGRAM_WORDS
from corpusmill.transforms.duplicates.ngrams import jaccard
from corpusmill.transforms.files import counters
from corpusmill.transforms.files.builds.ledger import NEAR_DUPLICATES
from corpusmill.transforms.files.line_blocks import block_of, lines_of
from corpusmill.transforms.files.line_ids import places_of, split_by_range
from corpusmill.transforms.files.records import LineRange
from corpusmill.transforms.files.scratch import Scratch, fetch
from corpusmill.transforms.files.write_rows import WriteRecords

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
    it: 16 bytes for each removed line, and a few times as much while groups are formed.

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
        self.find_similar = FindSimilarLines(threshold) if threshold else None
        self.folder = folder
        self.scratch = Scratch(scratch or folder)
        self.threshold = threshold

    def expand(self, ranges: beam.PCollection) -> WithoutNearDuplicates:
        if self.find_similar is None:
            none = ranges.pipeline | "None" >> beam.Create([])
            return WithoutNearDuplicates(ranges, none, none)
        index_to_range = ranges | "KeyByIndex" >> beam.Map(key_by_index)
        links = (
            ranges
            | "FindSimilar" >> self.find_similar
            | "FetchSimilar" >> FetchLinePairs(index_to_range)
            | "NearPairs" >> beam.FlatMap(near_pairs, self.threshold)
            | "LinkLines" >> beam.CombineGlobally(CombinePairs(link_to_smallest))
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


def key_by_index(lines: LineRange) -> tuple[int, LineRange]:
    """Returns (index of a range of lines, the range)."""
    return lines.index, lines


def near_pairs(pairs: LinePairs, threshold: float) -> Iterator[Pairs]:
    """Yields one array of the pairs whose similarity is at least the threshold, or nothing if there are
    none.
    """
    similarities = [
        jaccard(first, second, LINE_NGRAM_WORDS)
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
        yield _readable(kept), _readable(removed), jaccard(removed, kept, LINE_NGRAM_WORDS)


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
