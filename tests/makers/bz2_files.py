"""Writes .bz2 files whose blocks are as small as a test wants them, at any bit."""

import bz2
from collections.abc import Sequence

END_MAGIC = 0x177245385090
BLOCK_MAGIC = 0x314159265359
_TRAILER_BITS = 48 + 32


def pack_stream(contents: Sequence[bytes]) -> bytes:
    """One bz2 stream with a block for each content; bzip2 itself would begin one every 900 kB."""
    bits = checksum = 0
    length = 0
    for content in contents:
        block, block_bits = _cut_block(bz2.compress(content))
        bits = bits << block_bits | block
        length += block_bits
        block_crc = block >> (block_bits - 80) & 0xFFFFFFFF
        checksum = (checksum << 1 | checksum >> 31) & 0xFFFFFFFF ^ block_crc
    bits = (bits << 48 | END_MAGIC) << 32 | checksum
    length += _TRAILER_BITS
    stream = b"BZh9" + (bits << -length % 8).to_bytes(-(-length // 8), "big")
    assert bz2.decompress(stream) == b"".join(contents)
    return stream


def _cut_block(stream: bytes) -> tuple[int, int]:
    """(bits, number of bits) of the one block of a stream."""
    bits = int.from_bytes(stream[4:], "big")
    length = len(stream[4:]) * 8
    for padding in range(8):
        if bits >> padding + 32 & (1 << 48) - 1 == END_MAGIC:
            skipped = padding + _TRAILER_BITS
            return bits >> skipped, length - skipped
    raise ValueError("a stream of one block has an end")


def content_that_maps_to(magic: int) -> bytes:
    """Bytes whose bzip2 block holds a magic number inside: a block lists the byte values in it by bits."""
    groups = [magic >> shift & 0xFFFF for shift in (32, 16, 0)]
    values = [
        group * 16 + position
        for group, bits in zip((3, 4, 5), groups, strict=True)
        for position in range(16)
        if bits >> (15 - position) & 1
    ]
    return bytes(values) * 3 + b"\n"
