"""Telling compressed files by their first bytes, and reading them. Names lie more often than bytes do."""

import bz2
import gzip
import io
import lzma
import re
import zlib
from typing import BinaryIO, cast

_HEAD = re.compile(rb"(?P<bz2>BZh[1-9])|(?P<gz>\x1f\x8b)|(?P<xz>\xfd7zXZ\0)")
"""None but that of bz2 can begin a text in UTF-8. More of a head is not asked for: a file whose head is
damaged is better an error than a text."""

MAGIC_BYTES = 6
_STORED_BYTES = 1 << 13  # read at once; what an error may lose is what they hold
_XZ_PADDING = 4

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
    found = _HEAD.match(head)
    return (found.lastgroup or "") if found else ""


def decompressed(stream: BinaryIO) -> BinaryIO:
    """The content of a stored file from its start, decompressed as it is read."""
    return decompress(stream, codec_of(stream))


def decompress(stream: BinaryIO, codec: str) -> BinaryIO:
    """The content of a stream that begins here, of which only `read` is used.

    Several compressed streams in a row are one content. What follows one and begins none is an error
    (DECODE_ERRORS), except the zeros that may be there: any after a .gz, fours of them after an .xz.
    """
    if codec == "gz":
        return cast(BinaryIO, gzip.GzipFile(fileobj=stream))
    if codec in ("bz2", "xz"):
        return cast(BinaryIO, _Streams(stream, codec))
    return stream


def read_some(source: BinaryIO, max_bytes: int) -> bytes:
    """What one step of a decompressor gives: an error in the next step loses nothing of it."""
    if isinstance(source, _Streams | gzip.GzipFile):
        return source.read1(max_bytes)
    return source.read(max_bytes)


class _Streams(io.RawIOBase):
    """The content of .bz2 or .xz streams in a row.

    BZ2File and LZMAFile pass over all that follows a stream and begins none: of a file whose second
    stream is damaged, or comes after padding, they give the first without a word.
    """

    def __init__(self, stored: BinaryIO, codec: str):
        super().__init__()
        self._stored = stored
        self._is_xz = codec == "xz"
        self._decompressor = self._new_decompressor()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self.read1(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read1(self, max_bytes: int) -> bytes:
        """What one step gives; nothing at the end alone."""
        while max_bytes:
            if self._decompressor.eof:
                head = self._find_next_stream()
                if not head:
                    break
                self._decompressor = self._new_decompressor()
            elif self._decompressor.needs_input:
                head = self._stored.read(_STORED_BYTES)
                if not head:
                    message = "Compressed file ended before the end-of-stream marker was reached"
                    raise EOFError(message)
            else:
                head = b""
            data = self._decompressor.decompress(head, max_bytes)
            if data:
                return data
        return b""

    def _new_decompressor(self) -> bz2.BZ2Decompressor | lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ) if self._is_xz else bz2.BZ2Decompressor()

    def _find_next_stream(self) -> bytes:
        """What follows a stream, without padding; nothing at the end of what is stored."""
        head = self._decompressor.unused_data or self._stored.read(_STORED_BYTES)
        if not self._is_xz:
            return head
        padding = 0
        while head:
            following = head.lstrip(b"\0")
            padding += len(head) - len(following)
            if following:
                head = following
                break
            head = self._stored.read(_STORED_BYTES)
        if padding % _XZ_PADDING:
            raise lzma.LZMAError(f"{padding} zeros follow an xz stream, and no multiple of four")
        return head
