"""Fetches the lines for pairs of line ids.

The sorted lines of a corpus are divided into ranges. A pair is joined with the range of its first line, then
with the range of its second line.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import apache_beam as beam
import numpy

from corpusmill.transforms.duplicates.components import Pairs
from corpusmill.transforms.files.line_blocks import block_of, lines_of, pack_block, unpack_block
from corpusmill.transforms.files.line_ids import places_of, split_by_range
from corpusmill.transforms.files.records import LineRange
from corpusmill.transforms.files.scratch import fetch

RANGES, PAIRS = "ranges", "pairs"
PAIRS_AT_ONCE = 1 << 16

PackedPairs = tuple[Pairs, bytes]
"""Pairs of ids, and the packed block of their first lines."""


class LinePairs(NamedTuple):
    """Pairs of lines and their ids. All three fields list the pairs in the same order."""

    ids: Pairs
    firsts: list[bytes]
    seconds: list[bytes]


class FetchLinePairs(beam.PTransform):
    """Fetches the lines for pairs of line ids.

    PCollection[(index of the range with the first lines, pairs of ids)] → PCollection[LinePairs]. A range is
    a part of the sorted lines. The first line of each pair is sent to the range that contains the second.

    Args:
      index_to_range: PCollection[(index of the range, LineRange)] with all ranges.
    """

    def __init__(self, index_to_range: beam.PCollection):
        super().__init__()
        self.index_to_range = index_to_range

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
    arrays: list[Pairs] = list(found[PAIRS])
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
        yield LinePairs(pairs, lines_of(unpack_block(packed_firsts)), seconds)


def lines_in(ranges: Iterable[LineRange]) -> list[bytes]:
    """Returns the lines of a range. `ranges` has exactly one element, this range."""
    (lines,) = ranges
    return lines_of(fetch(lines.packed))
