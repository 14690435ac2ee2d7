"""Shuffles lines like the One Billion Word benchmark, in an order that is always the same.

Line n of the sorted corpus gets the n-th value of a fixed random number generator. The line goes to shard
`value mod shards`; lines of a shard are sorted by value. The original `split-input-data.perl` does the same.
Any part of the generator's values can be computed directly, so any part of the lines can be processed
independently.
"""

import itertools
import struct
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from corpusmill.transforms.files.line_arrays import line_bounds, take_lines
from corpusmill.transforms.files.line_blocks import block_of, lines_of
from corpusmill.transforms.news import xorshift

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
    bounds = line_bounds(block)
    sizes = np.diff(bounds)
    keys = xorshift.values(first_rank, len(sizes))
    shard_of_line = keys % shards
    order = np.argsort(shard_of_line, kind="stable")
    dealt = take_lines(block, order, bounds)
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
        keyed = zip(keys.tolist(), lines_of(block), strict=True)
        return block_of([line for _, line in sorted(keyed)])
    return take_lines(block, order)
