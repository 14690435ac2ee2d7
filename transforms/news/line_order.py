"""Sorts lines by their bytes, like `LC_ALL=C sort -u`, in ranges that can be sorted by different workers.

The ranges have about the same size. They are separated by splitters, which are beginnings of lines from a
sample of the lines. The sample depends only on the set of lines: it has the lines with the smallest
checksums, each once.
"""

import bisect
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from corpusmill.transforms.files.line_arrays import (
    Places,
    line_bounds,
    sort_places,
    take_lines,
    to_array,
)

SAMPLE_LINES = 1 << 14
ONE_LINE_IN = 64  # largest share of lines in the sample: enough for small corpora, and faster
SPLITTER_BYTES = 256  # length of a splitter; lines with a longer common beginning are in one range
MAX_RANGES = 1024

_WORD = 8  # bytes of the beginning, the middle and the end of a line that the checksum uses
_FACTORS = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], np.uint64
)


class LineSample(NamedTuple):
    """A sample of different lines, and the total size of all lines."""

    lines: tuple[bytes, ...]  # the first bytes of each line
    total_bytes: int  # size of all lines with their line feeds, including repeated lines


class LineSampler:
    """Samples lines. The sample does not depend on the order of the lines, or their division into blocks."""

    def __init__(self) -> None:
        self._sampled: set[tuple[int, bytes]] = set()  # (checksum, first bytes of the line)
        self._highest = 2**64 // ONE_LINE_IN - 1  # lines with a higher checksum are not sampled
        self._total_bytes = 0

    def add(self, block: bytes, total_bytes: int) -> None:
        """Adds the lines of a block to the lines from which the sample is taken.

        Repeated lines must have been removed from the block. `total_bytes` is the size that it had before.
        """
        bounds = line_bounds(block)
        checksums = checksums_of(block, bounds)
        for place in np.flatnonzero(checksums <= np.uint64(self._highest)).tolist():
            line = block[bounds[place] : bounds[place + 1] - 1]
            self._sampled.add((int(checksums[place]), line[:SPLITTER_BYTES]))
        self._total_bytes += total_bytes
        self._trim(2 * SAMPLE_LINES)

    def merge(self, other: Self) -> None:
        """Merges the sample and the total size of another sampler into this one.

        The result is as if all lines that were added to the other sampler had been added to this one.
        """
        self._sampled |= other._sampled
        self._total_bytes += other._total_bytes
        self._trim(SAMPLE_LINES)

    def sample(self) -> LineSample:
        """Returns the sample of lines. It is always the same for the same lines."""
        self._trim(SAMPLE_LINES)
        return LineSample(tuple(line for _, line in sorted(self._sampled)), self._total_bytes)

    def _trim(self, most: int) -> None:
        if len(self._sampled) > most:
            smallest = sorted(self._sampled)[:SAMPLE_LINES]
            self._sampled = set(smallest)
            self._highest = smallest[-1][0]


def checksums_of(block: bytes, bounds: Places) -> npt.NDArray[np.uint64]:
    """Returns a checksum for each line, computed from its length and some of its bytes.

    This is good enough for a sample, and a hundred times as fast as a checksum of whole lines.
    """
    words = np.ndarray((len(block),), "<u8", block + bytes(_WORD), strides=(1,))
    starts, sizes = bounds[:-1], np.diff(bounds) - 1
    beyond = np.maximum(sizes - _WORD, 0)
    shifts = ((_WORD - np.minimum(sizes, _WORD)) * 8).astype(np.uint64)
    checksums = sizes.astype(np.uint64) * _FACTORS[0]
    for offsets, factor in zip((beyond * 0, beyond // 2, beyond), _FACTORS[1:], strict=True):
        # Drops the bytes after a short line. Shifts of 64 bits are undefined.
        taken = words[starts + offsets] << np.minimum(shifts, 63)
        checksums ^= np.where(sizes > 0, taken, 0).astype(np.uint64) * factor
        checksums ^= checksums >> np.uint64(32)
    mixed: npt.NDArray[np.uint64] = checksums * _FACTORS[0]
    return mixed


def plan_ranges(sample: LineSample, range_bytes: int) -> list[bytes]:
    """Returns the splitters, which separate the ranges of the sorted lines, ascending.

    A splitter is the beginning of a line of the sample. Range i has the lines from splitter i-1 up to, but
    not including, splitter i. There is one splitter less than there are ranges. A range has about
    `range_bytes` bytes, or more if there would otherwise be more than MAX_RANGES ranges. No range is empty,
    because each splitter is the beginning of a line in its range.
    """
    ranges = min(-(-sample.total_bytes // range_bytes), MAX_RANGES)
    lines = sorted(set(sample.lines))
    places = {len(lines) * place // ranges for place in range(1, ranges)}
    return [lines[place] for place in sorted(places - {0})]


def sort_block(block: bytes) -> bytes:
    """Returns the lines of a block sorted by their bytes, each line once."""
    bounds = line_bounds(block)
    return take_lines(block, sort_places(to_array(block, bounds)), bounds)


def cut_sorted(block: bytes, splitters: Sequence[bytes]) -> Iterator[tuple[int, int, int]]:
    """Divides a sorted block at the splitters. Yields (number of the range, its start and end in the block).

    Ranges without lines are left out.
    """
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
