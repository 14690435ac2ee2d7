"""Detects compressed files by their first bytes, and decompresses them. File names are not used.

Guesses the kind of a file from its first bytes, for error messages about unexpected files.
"""

import bz2
import functools
import io
import lzma
import re
import zlib
from collections.abc import Callable
from typing import BinaryIO, Protocol, cast

import zstandard
from isal import igzip_lib

_HEAD = re.compile(
    rb"(?P<bz2>BZh[1-9])|(?P<gz>\x1f\x8b)|(?P<xz>\xfd7zXZ\0)|(?P<zst>\x28\xb5\x2f\xfd)"
)
"""Magic numbers. Only that of bz2 can be the beginning of a UTF-8 text.

The rest of a head is not checked: a compressed file with a damaged head should fail, not be read as text.
"""

CODECS = tuple(_HEAD.groupindex)
"""The codecs that are detected; they are named like the suffixes of files."""

MAGIC_BYTES = 6
_STORED_BYTES = 1 << 13  # bytes read at a time; an error may lose the content of this many bytes
# bytes per step; they may hold 32 MiB of content, which is returned at once
_ZST_STEP_BYTES = 1 << 10
_XZ_PADDING = 4

_GZ_ERROR = cast(type[Exception], igzip_lib.IsalError)  # the type stub declares an instance


class DamageError(Exception):
    """Raised if a file is damaged. `offset` is the first damaged byte, counted as the reader counts them."""

    def __init__(self, message: str, offset: int):
        super().__init__(message, offset)
        self.message, self.offset = message, offset


DECODE_ERRORS = (
    EOFError,
    OSError,
    ValueError,
    _GZ_ERROR,
    lzma.LZMAError,
    zlib.error,  # raised by zipfile
    zstandard.ZstdError,
)
"""Raised by the decompressors for damaged or truncated data."""


def codec_of(stream: BinaryIO) -> str:
    """Returns "bz2", "gz", "xz", "zst", or "" for an uncompressed file.

    Moves the stream back to its start.
    """
    stream.seek(0)
    head = stream.read(MAGIC_BYTES)
    stream.seek(0)
    return codec_of_head(head)


def codec_of_head(head: bytes) -> str:
    """Returns the codec with which a file is compressed; "" if it is not compressed.

    Args:
      head: the first MAGIC_BYTES bytes of the file.
    """
    found = _HEAD.match(head)
    return (found.lastgroup or "") if found else ""


def decompressed(stream: BinaryIO) -> BinaryIO:
    """Returns the content of a stored file from its start. It is decompressed while it is read."""
    return decompress(stream, codec_of(stream))


def decompress(stream: BinaryIO, codec: str) -> BinaryIO:
    """Returns the decompressed content of a stream from its current position.

    Only the method `read` of the stream is used. Several compressed streams in a row are read as one. Other
    bytes after a stream are an error (DECODE_ERRORS), except padding with zeros: any number after a .gz, a
    multiple of four after an .xz.
    """
    return cast(BinaryIO, _Streams(stream, codec)) if codec in _NEW_DECOMPRESSORS else stream


def read_some(source: BinaryIO, max_bytes: int) -> bytes:
    """Reads at most `max_bytes` bytes: the output of a single decompression step.

    So if the next step fails, no data that was already decompressed is lost.
    """
    return source.read1(max_bytes) if isinstance(source, _Streams) else source.read(max_bytes)


class _Decompressor(Protocol):
    """Decompresses one stream, with the interface of the decompressors of bz2 and lzma."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _ZstDecompressor:
    """A _Decompressor for one zstd frame.

    It stores the output beyond `max_length`, because the library cannot limit the output of a step.
    """

    def __init__(self) -> None:
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._content = io.BytesIO()
        self._left = 0  # bytes of the content that were not returned yet
        self._stored = b""

    @property
    def eof(self) -> bool:
        return self._frame.eof and not self._left

    @property
    def needs_input(self) -> bool:
        return not (self._left or self._stored)

    @property
    def unused_data(self) -> bytes:
        return self._frame.unused_data + self._stored

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        self._stored += data
        if not self._left and self._stored:
            step, self._stored = self._stored[:_ZST_STEP_BYTES], self._stored[_ZST_STEP_BYTES:]
            content = self._frame.decompress(step)
            self._content, self._left = io.BytesIO(content), len(content)
        given = self._content.read(max_length)
        self._left -= len(given)
        return given


_NEW_DECOMPRESSORS: dict[str, Callable[[], _Decompressor]] = {
    "bz2": bz2.BZ2Decompressor,
    # igzip is 2.8 times as fast as gzip.
    "gz": functools.partial(igzip_lib.IgzipDecompressor, igzip_lib.DECOMP_GZIP),
    "xz": functools.partial(lzma.LZMADecompressor, lzma.FORMAT_XZ),
    "zst": _ZstDecompressor,
}


class _Streams(io.RawIOBase):
    """The content of several compressed streams in a row.

    BZ2File and LZMAFile are not used, because they silently ignore bytes after a stream that are not a
    stream. If the second stream of a file is damaged, or follows padding, they return only the content of the
    first.
    """

    def __init__(self, stored: BinaryIO, codec: str):
        super().__init__()
        self._stored = stored
        self._codec = codec
        self._new_decompressor = _NEW_DECOMPRESSORS[codec]
        self._decompressor = self._new_decompressor()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self.read1(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read1(self, max_bytes: int) -> bytes:
        """Returns at most `max_bytes` bytes of decompressed content; b"" only at the end of the file."""
        while max_bytes:
            if self._decompressor.eof:
                if not (head := self._find_next_stream()):
                    break
                self._decompressor = self._new_decompressor()
            elif self._decompressor.needs_input:
                if not (head := self._stored.read(_STORED_BYTES)):
                    message = "Compressed file ended before the end-of-stream marker was reached"
                    raise EOFError(message)
            else:
                head = b""
            if data := self._decompressor.decompress(head, max_bytes):
                return data
        return b""

    def _find_next_stream(self) -> bytes:
        """Skips the padding after a stream. Returns the next stored bytes, or b"" at the end of the file."""
        head = self._decompressor.unused_data or self._stored.read(_STORED_BYTES)
        if self._codec not in ("gz", "xz"):
            return head
        padding = 0
        while head:
            following = head.lstrip(b"\0")
            padding += len(head) - len(following)
            if following:
                head = following
                break
            head = self._stored.read(_STORED_BYTES)
        if self._codec == "xz" and padding % _XZ_PADDING:
            raise lzma.LZMAError(
                f"{padding} zero bytes follow an xz stream; expected a multiple of four"
            )
        return head


class Peekable:
    """A stream whose beginning can be examined before it is read. It counts the bytes read."""

    def __init__(self, source: BinaryIO):
        self._source = source
        self._peeked = b""
        self.position = 0

    @property
    def reached(self) -> int:
        """The number of bytes that could be read so far, including those examined."""
        return self.position + len(self._peeked)

    def peek(self, size: int) -> bytes:
        while len(self._peeked) < size:
            if not (data := read_some(self._source, size - len(self._peeked))):
                break
            self._peeked += data
        return self._peeked

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            raise ValueError("the number of bytes to read is required")
        data, self._peeked = self._peeked[:size], self._peeked[size:]
        data = data or read_some(self._source, size)
        self.position += len(data)
        return data


ON_CORRUPT = ("fail", "keep-good")
"""The ways to handle damaged input: stop with an error, or keep the undamaged parts."""


def check_on_corrupt(on_corrupt: str) -> None:
    """Raises ValueError if `on_corrupt` is not one of ON_CORRUPT."""
    if on_corrupt not in ON_CORRUPT:
        raise ValueError(f"on_corrupt must be one of {ON_CORRUPT}, not {on_corrupt!r}")


_KINDS = {
    b"PK\x03\x04": "a .zip archive, which has to be unpacked first",
    b"PK\x05\x06": "a .zip archive without files",
    b"7z\xbc\xaf": "a .7z archive, which has to be unpacked first",
    b"Rar!\x1a\x07": "a .rar archive, which has to be unpacked first",
    b"\x28\xb5\x2f\xfd": "compressed twice, and has to be decompressed first",
    b"\x1f\x9d": "a .Z file, which has to be decompressed first",
    b"\x1f\x8b": "compressed twice, and has to be decompressed first",
    b"\xfd7zXZ\0": "compressed twice, and has to be decompressed first",
    b"\x5d\0\0": "a .lzma file, which has to be decompressed first",
    b"%PDF-": "a PDF document",
    b"{\\rtf": "an RTF document",
    b"PAR1\x15": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"FEA1": "a Feather file of version 1",
    b"Obj\x01": "an Avro file",
    b"SQLite format 3\0": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array",
    b"\x80\x04\x95": "a pickle of Python",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"\xd0\xcf\x11\xe0": "an old document of Microsoft Office",
    b"\xff\xfe": "UTF-16, where UTF-8 is expected",
    b"\xfe\xff": "UTF-16, where UTF-8 is expected",
}
_HTML = re.compile(
    r"\s*+(?:<\?xml[^>]*+>\s*+)?+(?:<!--(?:(?!-->).)*+-->\s*+)*+"
    r"<(?:!doctype\s+html|html|head|body)(?=[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\v\f\r\x1a\x1b"))
_MOST_CONTROLS = 100  # a text has at most one control character in this many bytes
_FEWEST_CONTROLS = 10


def kind_of(head: bytes) -> str:
    """Returns a phrase that names the kind of a file, such as "a PDF document", or "" if it may be text."""
    for beginning, kind in _KINDS.items():
        if head.startswith(beginning):
            return kind
    # Of UTF-16 without a byte order mark, many bytes are zero, all at even or all at odd positions.
    low, high = sorted([head[::2].count(0), head[1::2].count(0)])
    if not low and high * 4 > len(head):
        return "UTF-16, where UTF-8 is expected"
    if is_html(head.removeprefix(b"\xef\xbb\xbf").decode("latin-1")):
        return "an HTML page: an error page saved as the file?"
    return ""


def is_html(text: str) -> bool:
    """Returns True if a text begins like a web page."""
    return _HTML.match(text) is not None


def is_binary(content: bytes) -> bool:
    """Guesses whether the content of a file is binary: returns True if it has too many control characters."""
    controls = len(content) - len(content.translate(None, _CONTROLS))
    return controls > _FEWEST_CONTROLS and controls * _MOST_CONTROLS > len(content)
