"""Stores sets of page ids as compressed bitmaps.

There is one bitmap for each block, that is, for 65,536 consecutive ids. The ids of all pages of enwiki take
about 10 MB.

A set can be built from parts in any order. A whole set fits in the memory of each worker.
"""

import functools
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

BLOCK_IDS = 1 << 16
_BLOCK_BYTES = BLOCK_IDS // 8
_BLOCKS_AT_ONCE = 64  # kept uncompressed, 512 KiB: the ids of a dump are almost in order

Block = tuple[int, bytes]
"""Number of a block, and the compressed bitmap of its ids."""


class Extent(NamedTuple):
    """The number of page ids in a set, and the largest id."""

    ids: int = 0
    largest_id: int = 0


def pack_ids(ids: Iterable[int]) -> Iterator[Block]:
    """Yields the given page ids as blocks: (number of the block, compressed bitmap of its ids).

    A block may be yielded several times, each time with different ids. `merge_blocks` merges the bitmaps.
    """
    bitmaps: dict[int, bytearray] = {}
    for one in ids:
        number, place = divmod(one, BLOCK_IDS)
        bitmap = bitmaps.get(number)
        if bitmap is None:
            if len(bitmaps) == _BLOCKS_AT_ONCE:
                yield from _pack(bitmaps)
                bitmaps.clear()
            bitmap = bitmaps[number] = bytearray(_BLOCK_BYTES)
        bitmap[place >> 3] |= 1 << (place & 7)
    yield from _pack(bitmaps)


def _pack(bitmaps: Mapping[int, bytearray]) -> Iterator[Block]:
    return ((number, zlib.compress(bitmap)) for number, bitmap in bitmaps.items())


def merge_blocks(packed: Iterable[bytes]) -> bytes:
    """Returns the union of several compressed bitmaps of the same block."""
    merged = 0
    for one in packed:
        merged |= int.from_bytes(zlib.decompress(one), "little")
    return zlib.compress(merged.to_bytes(_BLOCK_BYTES, "little"))


def has_id(blocks: Mapping[int, bytes], page_id: int) -> bool:
    """Returns True if a page id is in a set.

    `blocks` maps the number of each block to its compressed bitmap.
    """
    number, place = divmod(page_id, BLOCK_IDS)
    packed = blocks.get(number)
    return packed is not None and bool(_unpack(packed)[place >> 3] >> (place & 7) & 1)


@functools.lru_cache(maxsize=_BLOCKS_AT_ONCE)
def _unpack(packed: bytes) -> bytes:
    return zlib.decompress(packed)


def measure_block(block: Block) -> Extent:
    """Returns the number of ids in a block and the largest id. A block is never empty."""
    number, packed = block
    bits = int.from_bytes(zlib.decompress(packed), "little")
    return Extent(bits.bit_count(), number * BLOCK_IDS + bits.bit_length() - 1)


def add_extents(extents: Iterable[Extent]) -> Extent:
    """Returns the extent of the union of several sets. The sets must have no ids in common."""
    known = list(extents)
    return Extent(sum(one.ids for one in known), max((one.largest_id for one in known), default=0))
