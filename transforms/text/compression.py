"""Telling compressed files by their first bytes, and reading them. Names lie more often than bytes do."""

import bz2
import gzip
import lzma
import zlib
from typing import BinaryIO, cast

_MAGIC = {b"BZh": "bz2", b"\x1f\x8b": "gz", b"\xfd7zXZ\x00": "xz"}
MAGIC_BYTES = 6

DECODE_ERRORS = (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError)
"""What the decompressors raise for data that is damaged or cut off."""


def codec_of(stream: BinaryIO) -> str:
    """ "bz2", "gz", "xz", or "" for what is not compressed. Leaves the stream at its start."""
    stream.seek(0)
    head = stream.read(MAGIC_BYTES)
    stream.seek(0)
    return codec_of_head(head)


def codec_of_head(head: bytes) -> str:
    """The same of the first MAGIC_BYTES."""
    for magic, codec in _MAGIC.items():
        if head.startswith(magic):
            return codec
    return ""


def decompressed(stream: BinaryIO) -> BinaryIO:
    """The content of a stored file from its start, decompressed as it is read."""
    return decompress(stream, codec_of(stream))


def decompress(stream: BinaryIO, codec: str) -> BinaryIO:
    """The content of a stream that begins here, of which only `read` is used."""
    if codec == "bz2":
        return cast(BinaryIO, bz2.BZ2File(stream))
    if codec == "gz":
        return cast(BinaryIO, gzip.GzipFile(fileobj=stream))
    if codec == "xz":
        return cast(BinaryIO, lzma.LZMAFile(stream))
    return stream


def read_some(source: BinaryIO, max_bytes: int) -> bytes:
    """What one step of a decompressor gives: an error in the next step loses nothing of it."""
    if isinstance(source, bz2.BZ2File | gzip.GzipFile | lzma.LZMAFile):
        return source.read1(max_bytes)
    return source.read(max_bytes)
