"""Shuffles lines like the One Billion Word benchmark, in an order that is always the same.

Line n of the sorted corpus gets the n-th value of a fixed random number generator. The line goes to shard
`value mod shards`; lines of a shard are sorted by value. The original `split-input-data.perl` does the same.
Any part of the generator's values can be computed directly, so any part of the lines can be processed
independently.

Computes the random numbers of `split-input-data.perl`. Any part of them can be computed directly.

The generator is a xorshift generator with four signed words of 64 bits. Right shifts keep the sign, as in
Perl under `use integer`. A step of the generator consists of shifts and XORs, which are linear. So a step is
a 256 × 256 matrix over the field of two elements, 2**k steps are a power of this matrix, and a value can be
computed without those before it. A matrix is stored as a table: for each position of a byte in the state, and
each value of the byte, it has the product of this byte and the matrix.

No value of the generator is negative. A value is the XOR of `w ^ (w >> 19)` and `t ^ (t >> 8)`, where w is a
word of the state and t is computed from another one. In both terms, the sign bit is 0.

Sorts lines by their bytes, like `LC_ALL=C sort -u`, in ranges that can be sorted by different workers.

The ranges have about the same size. They are separated by splitters, which are beginnings of lines from a
sample of the lines. The sample depends only on the set of lines: it has the lines with the smallest
checksums, each once.
"""

import bisect
import functools
import itertools
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ..files import line_blocks

Values = npt.NDArray[np.int64]
_States = npt.NDArray[np.int64]  # rows of x, y, z, w
_Power = npt.NDArray[np.int64]  # [position in a state, byte] → product of this byte and the matrix

_SEED = np.array([[123456789, 362436069, 521288629, 0]], np.int64)  # the script sets w to 0
_BYTES = _SEED.nbytes
_BITS = 8 * _BYTES


def values(start: int, count: int) -> Values:
    """Returns the values `start` to `start + count - 1` of the generator, counted from 0.

    The values are divided into consecutive parts of equal length. One copy of the generator computes each
    part, and NumPy advances all copies at once.
    """
    if start < 0 or count < 0:
        raise ValueError(f"start is {start}, count is {count}; neither may be negative")
    if count == 0:
        return np.empty(0, np.int64)
    stretch_log = (count.bit_length() - 1) // 2
    stretch = 1 << stretch_log
    lanes = -(-count // stretch)
    x, y, z, w = _spread(_jump(start), stretch_log, lanes).T.copy()
    rows = np.empty((stretch, lanes), np.int64)
    shifted = np.empty(lanes, np.int64)
    for row in rows:
        np.left_shift(x, 11, out=shifted)
        x ^= shifted  # t
        np.right_shift(x, 8, out=shifted)
        x ^= shifted
        np.right_shift(w, 19, out=shifted)
        x ^= shifted
        x ^= w
        row[:] = x
        x, y, z, w = y, z, w, x
    return rows.T.ravel()[:count]


def _jump(steps: int) -> _States:
    """Returns the state of the generator `steps` steps after its seed, as an array with one row."""
    state = _SEED
    for exponent in range(steps.bit_length()):
        if steps >> exponent & 1:
            state = _multiply(state, _power(exponent))
    return state


def _spread(state: _States, stretch_log: int, lanes: int) -> _States:
    """Returns `lanes` states, each 2**stretch_log steps after the one before. The first is `state`."""
    exponent = stretch_log
    while len(state) < lanes:
        state = np.concatenate([state, _multiply(state, _power(exponent))])
        exponent += 1
    return state[:lanes]


@functools.cache
def _power(exponent: int) -> _Power:
    """Returns the lookup table of the matrix that advances the generator by 2**exponent steps.

    The table has the product of this matrix and each value of each byte of a state (see `_multiply`).
    """
    if exponent:
        half = _power(exponent - 1)
        return _tabulate(_multiply(_multiply(_single_bits(), half), half))
    x, y, z, w = _single_bits().T
    t = x ^ (x << 11)
    return _tabulate(np.stack([y, z, w, (w ^ (w >> 19)) ^ (t ^ (t >> 8))], axis=1))


def _single_bits() -> _States:
    """Returns the 256 states of the generator in which a single bit is set.

    They are sorted by the byte with this bit, and then by the bit, beginning with the lowest.
    """
    octets = np.zeros((_BITS, _BYTES), np.uint8)
    bits = np.arange(_BITS)
    octets[bits, bits // 8] = 1 << bits % 8
    return octets.view(np.int64)


def _tabulate(images: _States) -> _Power:
    """Returns the lookup table of a matrix: its product with each value of each byte of a state.

    Args:
      images: the product of the matrix and each state of `_single_bits`.
    """
    of_bits = images.reshape(_BYTES, 8, 4)
    table = np.zeros((_BYTES, 1, 4), np.int64)
    for bit in range(8):
        table = np.concatenate([table, table ^ of_bits[:, bit : bit + 1]], axis=1)
    return table


def _multiply(states: _States, power: _Power) -> _States:
    """Multiplies states of the generator by a matrix. Returns the products.

    The product of a state is the sum (XOR) of the products of its bytes, which are looked up in a table.

    Args:
      states: the states, one per row.
      power: the lookup table of the matrix, as returned by `_tabulate`.
    """
    octets = np.ascontiguousarray(states).view(np.uint8)
    result = np.zeros_like(states)
    for place, table in enumerate(power):
        result ^= table[octets[:, place]]
    return result


Keys = npt.NDArray[np.int64]

_COUNT = struct.Struct("<Q")


def first_ranks(lines_of_range: Mapping[int, int]) -> dict[int, int]:
    """Returns the rank of the first line of each range of lines: number of the range → rank.

    The rank of a line is its position in the sorted corpus, counted from 0.

    Args:
      lines_of_range: number of the range → number of lines in it, for consecutive ranges of the sorted
        corpus.
    """
    ranges = sorted(lines_of_range)
    totals = itertools.accumulate((lines_of_range[index] for index in ranges), initial=0)
    return dict(zip(ranges, totals, strict=False))


def deal_lines(block: bytes, first_rank: int, shards: int) -> Iterator[tuple[int, bytes]]:
    """Distributes the lines of a block to shards.

    Yields (number of a shard, its lines as serialised by `join_piece`), only for shards that get lines.

    Args:
      block: consecutive lines of the sorted corpus.
      first_rank: the position of the first of these lines in the sorted corpus, counted from 0.
      shards: the number of shards.
    """
    bounds = line_blocks.line_bounds(block)
    sizes = np.diff(bounds)
    keys = values(first_rank, len(sizes))
    shard_of_line = keys % shards
    order = np.argsort(shard_of_line, kind="stable")
    dealt = line_blocks.take_lines(block, order, bounds)
    bounds = np.concatenate([[0], np.cumsum(sizes[order])])
    ends = np.cumsum(np.bincount(shard_of_line, minlength=shards)).tolist()
    for shard, (start, end) in enumerate(itertools.pairwise([0, *ends])):
        if start < end:
            yield shard, join_piece(keys[order[start:end]], dealt[bounds[start] : bounds[end]])


def join_piece(keys: Keys, block: bytes) -> bytes:
    """Serialises lines of a shard together with their sort keys.

    Args:
      keys: for each line, the random value by which the lines of the shard are sorted.
      block: the lines.
    """
    return b"".join((_COUNT.pack(len(keys)), keys.astype("<i8").tobytes(), block))


def split_piece(piece: bytes) -> tuple[Keys, bytes]:
    """Returns the keys and the lines that `join_piece` has serialised."""
    (count,) = _COUNT.unpack_from(piece)
    keys = np.frombuffer(piece, "<i8", count, _COUNT.size).astype(np.int64)
    return keys, piece[_COUNT.size + 8 * count :]


def merge_pieces(pieces: Iterable[bytes]) -> bytes:
    """Returns the lines of one shard, sorted by key. Lines with equal keys are sorted by their bytes.

    Args:
      pieces: the lines of the shard and their keys, as serialised by `join_piece`.
    """
    keys: list[Keys] = [np.empty(0, np.int64)]
    blocks: list[bytes] = []
    for piece in pieces:
        of_piece, block = split_piece(piece)
        keys.append(of_piece)
        blocks.append(block)
    return _sort_by_key(np.concatenate(keys), b"".join(blocks))


def split_shard(block: bytes, shards: int) -> list[bytes]:
    """Shuffles the lines of a shard, and distributes them to `shards` smaller shards, which are returned.

    The first line of the shard gets the first value of the random number generator.
    """
    blocks = [b""] * shards
    for shard, piece in deal_lines(block, 0, shards):
        blocks[shard] = merge_pieces([piece])
    return blocks


def _sort_by_key(keys: Keys, block: bytes) -> bytes:
    order = np.argsort(keys, kind="stable")
    in_order = keys[order]
    if (in_order[1:] == in_order[:-1]).any():
        keyed = zip(keys.tolist(), line_blocks.lines_of(block), strict=True)
        return line_blocks.block_of([line for _, line in sorted(keyed)])
    return line_blocks.take_lines(block, order)


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
        bounds = line_blocks.line_bounds(block)
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


def checksums_of(block: bytes, bounds: line_blocks.Int64s) -> npt.NDArray[np.uint64]:
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
    bounds = line_blocks.line_bounds(block)
    return line_blocks.take_lines(
        block, line_blocks.sort_places(line_blocks.to_array(block, bounds)), bounds
    )


def cut_sorted(block: bytes, splitters: Sequence[bytes]) -> Iterator[tuple[int, int, int]]:
    """Divides a sorted block at the splitters. Yields (number of the range, its start and end in the block).

    Ranges without lines are left out.
    """
    bounds = line_blocks.line_bounds(block)
    places = range(len(bounds) - 1)

    def line_at(place: int) -> bytes:
        return block[bounds[place] : bounds[place + 1] - 1]

    start = 0
    while start < len(places):
        index = bisect.bisect_right(splitters, line_at(start))
        end = len(places)
        if index < len(splitters):
            end = bisect.bisect_left(places, splitters[index], start, key=line_at)
        yield index, int(bounds[start]), int(bounds[end])
        start = end
