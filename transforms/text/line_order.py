"""Sorting lines by their bytes, as `LC_ALL=C sort -u` does, in ranges that many workers share.

Splitters cut the order of bytes into ranges of about the same size. They are lines of a sample that depends
on the content alone: of the different lines those whose checksums are the smallest.
"""

import bisect
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

from transforms.text.line_arrays import Places, line_bounds, sort_places, take_lines, to_array
from transforms.text.line_blocks import lines_of

SAMPLE_LINES = 1 << 14
SPLITTER_BYTES = 256  # of a line; whoever shares more with another line shares its range
MAX_RANGES = 1024


class LineSample(NamedTuple):
    """A sample of different lines, and how large all is that it stands for."""

    lines: tuple[bytes, ...]  # the first bytes of each
    total_bytes: int  # of all lines, repeated ones too, with their line feeds


class LineSampler:
    """Takes lines, in any order and in any grouping, and keeps a sample of them."""

    def __init__(self) -> None:
        self._sampled: set[tuple[int, bytes]] = set()  # (checksum, first bytes of the line)
        self._limit = 1 << 32  # checksums from here on have no place any more
        self._total_bytes = 0

    def add(self, block: bytes) -> None:
        """Takes the lines of a block."""
        limit = self._limit
        for line in lines_of(block):
            checksum = zlib.crc32(line)
            if checksum < limit:
                self._sampled.add((checksum, line[:SPLITTER_BYTES]))
        self._total_bytes += len(block)
        self._trim(2 * SAMPLE_LINES)

    def merge(self, other: Self) -> None:
        """Takes the lines that another has taken."""
        self._sampled |= other._sampled
        self._total_bytes += other._total_bytes
        self._trim(2 * SAMPLE_LINES)

    def sample(self) -> LineSample:
        """What was sampled, the same for the same lines."""
        self._trim(SAMPLE_LINES)
        return LineSample(tuple(line for _, line in sorted(self._sampled)), self._total_bytes)

    def _trim(self, most: int) -> None:
        if len(self._sampled) > most:
            smallest = sorted(self._sampled)[:SAMPLE_LINES]
            self._sampled = set(smallest)
            self._limit = smallest[-1][0] + 1


def plan_ranges(sample: LineSample, range_bytes: int) -> list[bytes]:
    """The splitters, ascending: range i holds the lines from splitter i-1 on and before splitter i.

    There is one splitter less than ranges. A range holds about `range_bytes`, or more where that would
    make more than MAX_RANGES of them; none is empty, as each has the line of the sample it begins with.
    """
    ranges = min(-(-sample.total_bytes // range_bytes), MAX_RANGES)
    lines = sorted(set(sample.lines))
    places = {len(lines) * place // ranges for place in range(1, ranges)}
    return [lines[place] for place in sorted(places - {0})]


def sort_block(block: bytes) -> bytes:
    """The different lines, ascending by bytes."""
    return take_lines(block, sort_places(to_array(block)))


def cut_sorted(block: bytes, splitters: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
    """(range, its lines) of a sorted block, where there are any."""
    bounds = line_bounds(block)
    lines = _SortedLines(block, bounds)
    start = 0
    while start < len(lines):
        index = bisect.bisect_right(splitters, lines[start])
        is_last = index == len(splitters)
        end = len(lines) if is_last else bisect.bisect_left(lines, splitters[index], start)
        yield index, block[bounds[start] : bounds[end]]
        start = end


class _SortedLines(Sequence[bytes]):
    """The lines of a block, each cut out when it is asked for."""

    def __init__(self, block: bytes, bounds: Places):
        self._block = block
        self._bounds = bounds

    def __len__(self) -> int:
        return len(self._bounds) - 1

    def __getitem__(self, place: Any) -> Any:
        return self._block[self._bounds[place] : self._bounds[place + 1] - 1]
