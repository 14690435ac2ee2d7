"""Sets of page ids: a compressed bitmap for each block of ids, so that the pages of enwiki take some 10 MB.

A set may be made of parts, in any order, and each worker can hold all of one.
"""

import functools
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

BLOCK_IDS = 1 << 16
_BLOCK_BYTES = BLOCK_IDS // 8
_BLOCKS_AT_ONCE = 64  # are held uncompressed, 512 KiB: ids of a dump come in order, or nearly so

Block = tuple[int, bytes]
"""Number of a block, and the bitmap of its ids, compressed."""


class Extent(NamedTuple):
    """The size of a set of page ids."""

    ids: int = 0
    largest_id: int = 0


def pack_ids(ids: Iterable[int]) -> Iterator[Block]:
    """The blocks of some ids; a block may come several times, each time with other ids."""
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
    """The bitmap of all ids that some bitmaps of one block have."""
    merged = 0
    for one in packed:
        merged |= int.from_bytes(zlib.decompress(one), "little")
    return zlib.compress(merged.to_bytes(_BLOCK_BYTES, "little"))


def has_id(blocks: Mapping[int, bytes], page_id: int) -> bool:
    """Returns True if a page id is in a set of blocks."""
    number, place = divmod(page_id, BLOCK_IDS)
    packed = blocks.get(number)
    return packed is not None and bool(_unpack(packed)[place >> 3] >> (place & 7) & 1)


@functools.lru_cache(maxsize=_BLOCKS_AT_ONCE)
def _unpack(packed: bytes) -> bytes:
    return zlib.decompress(packed)


def measure_block(block: Block) -> Extent:
    """The number of ids in a block, and the largest of them. A block is never empty."""
    number, packed = block
    bits = int.from_bytes(zlib.decompress(packed), "little")
    return Extent(bits.bit_count(), number * BLOCK_IDS + bits.bit_length() - 1)


def add_extents(extents: Iterable[Extent]) -> Extent:
    """The extent of sets that have no id in common, together."""
    known = list(extents)
    return Extent(sum(one.ids for one in known), max((one.largest_id for one in known), default=0))
