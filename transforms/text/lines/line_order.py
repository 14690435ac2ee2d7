"""Sorting lines by their bytes, as `LC_ALL=C sort -u` does, in ranges that many workers share.

Splitters cut the order of bytes into ranges of about the same size. They are lines of a sample that depends
on the content alone: of the different lines those whose checksums are the smallest.
"""

import bisect
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from transforms.text.lines.line_arrays import Places, line_bounds, sort_places, take_lines, to_array

SAMPLE_LINES = 1 << 14
ONE_LINE_IN = 64  # is in the sample at most: enough for small corpora, and quicker
SPLITTER_BYTES = 256  # of a line; whoever shares more with another line shares its range
MAX_RANGES = 1024

_WORD = 8  # bytes that a checksum takes from the beginning, the middle and the end of a line
_FACTORS = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], np.uint64
)


class LineSample(NamedTuple):
    """A sample of different lines, and how large all is that it stands for."""

    lines: tuple[bytes, ...]  # the first bytes of each
    total_bytes: int  # of all lines, repeated ones too, with their line feeds


class LineSampler:
    """Takes lines, in any order and in any grouping, and keeps a sample of them."""

    def __init__(self) -> None:
        self._sampled: set[tuple[int, bytes]] = set()  # (checksum, first bytes of the line)
        self._highest = 2**64 // ONE_LINE_IN - 1  # a higher checksum has no place
        self._total_bytes = 0

    def add(self, block: bytes, total_bytes: int) -> None:
        """Takes the lines of a block, which may be the different ones of so many bytes of lines."""
        bounds = line_bounds(block)
        checksums = checksums_of(block, bounds)
        for place in np.flatnonzero(checksums <= np.uint64(self._highest)).tolist():
            line = block[bounds[place] : bounds[place + 1] - 1]
            self._sampled.add((int(checksums[place]), line[:SPLITTER_BYTES]))
        self._total_bytes += total_bytes
        self._trim(2 * SAMPLE_LINES)

    def merge(self, other: Self) -> None:
        """Takes the lines that another has taken."""
        self._sampled |= other._sampled
        self._total_bytes += other._total_bytes
        self._trim(SAMPLE_LINES)

    def sample(self) -> LineSample:
        """Returns the sample, which is the same for the same lines."""
        self._trim(SAMPLE_LINES)
        return LineSample(tuple(line for _, line in sorted(self._sampled)), self._total_bytes)

    def _trim(self, most: int) -> None:
        if len(self._sampled) > most:
            smallest = sorted(self._sampled)[:SAMPLE_LINES]
            self._sampled = set(smallest)
            self._highest = smallest[-1][0]


def checksums_of(block: bytes, bounds: Places) -> npt.NDArray[np.uint64]:
    """A number for each line, of its length and some of its bytes.

    For a sample that is good enough, and a hundred times as fast as a checksum of each line as a whole.
    """
    words = np.ndarray((len(block),), "<u8", block + bytes(_WORD), strides=(1,))
    starts, sizes = bounds[:-1], np.diff(bounds) - 1
    beyond = np.maximum(sizes - _WORD, 0)
    shifts = ((_WORD - np.minimum(sizes, _WORD)) * 8).astype(np.uint64)
    checksums = sizes.astype(np.uint64) * _FACTORS[0]
    for offsets, factor in zip((beyond * 0, beyond // 2, beyond), _FACTORS[1:], strict=True):
        # What follows a short line is no part of it. Shifts of 64 bits are not defined.
        taken = words[starts + offsets] << np.minimum(shifts, 63)
        checksums ^= np.where(sizes > 0, taken, 0).astype(np.uint64) * factor
        checksums ^= checksums >> np.uint64(32)
    mixed: npt.NDArray[np.uint64] = checksums * _FACTORS[0]
    return mixed


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
    bounds = line_bounds(block)
    return take_lines(block, sort_places(to_array(block, bounds)), bounds)


def cut_sorted(block: bytes, splitters: Sequence[bytes]) -> Iterator[tuple[int, int, int]]:
    """(range, first byte, end) of the parts of a sorted block, of those ranges that have lines in it."""
    bounds = line_bounds(block)
    places = range(len(bounds) - 1)

    def line_at(place: int) -> bytes:
        return block[bounds[place] : bounds[place + 1] - 1]

    start = 0
    while start < len(places):
        index = bisect.bisect_right(splitters, line_at(start))
        is_last = index == len(splitters)
        end = (
            len(places)
            if is_last
            else bisect.bisect_left(places, splitters[index], start, key=line_at)
        )
        yield index, int(bounds[start]), int(bounds[end])
        start = end
