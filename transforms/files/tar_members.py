"""Reads the files in a .tar archive without unpacking it to disk.

Python's tarfile treats a damaged header, and the end of a truncated archive, as the end of the archive. The
rest is then missing without an error. Here both are errors.
"""

import fnmatch
import posixpath
import tarfile
from collections.abc import Collection, Iterator, Sequence
from typing import BinaryIO, NamedTuple, cast

from .compression import (
    DECODE_ERRORS,
    MAGIC_BYTES,
    DamageError,
    Peekable,
    codec_of_head,
    decompress,
)
from .compression import read_some as read_step

BLOCK_BYTES = 512  # headers and contents begin at multiples of this
# maximum size of an extension header, which has a long name or the attributes of a file
_MAX_EXTENSION_BYTES = 1 << 20
_SKIPPED_AT_ONCE = 1 << 20
_END_MARK = bytes(BLOCK_BYTES)
_ATTRIBUTES = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
_SPECIAL_KINDS = {
    tarfile.FIFOTYPE: "pipe",
    tarfile.CHRTYPE: "character device",
    tarfile.BLKTYPE: "block device",
}
_EXTENSIONS = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, *_ATTRIBUTES)


class TarError(DamageError):
    """Raised if an archive is damaged.

    `offset` is the first damaged byte, counted in the uncompressed archive.
    """


class Member(NamedTuple):
    """A file in an archive."""

    name: str  # with its folders
    start: int  # byte of the archive at which the content begins
    bytes: int
    # has only `read`; ends with the member; invalid after the next member is read
    content: BinaryIO


class Link(NamedTuple):
    """An archive entry that has no content: a second name of a file in the archive or elsewhere."""

    name: str  # with its folders
    start: int  # byte of the archive at which the header ends
    target: str  # for a hard link, the name of an earlier file in the archive
    is_hard: bool


class Special(NamedTuple):
    """An archive entry that is neither a regular file nor a folder nor a link, such as a pipe."""

    name: str  # with its folders
    start: int  # byte of the archive at which the header ends
    kind: str  # "pipe"


def is_tar(head: bytes) -> bool:
    """Returns True if these are the first bytes of a .tar archive, which may be empty.

    The checksum of the first header must be valid. `head` must have at least BLOCK_BYTES bytes.
    """
    block = head[:BLOCK_BYTES]
    if block == _END_MARK:
        return True
    try:
        tarfile.TarInfo.frombuf(block, "utf-8", "backslashreplace")
    except tarfile.HeaderError:
        return False
    return True


def is_named_like(name: str, patterns: Sequence[str]) -> bool:
    """Returns True if the name of a file, without its folders, matches one of the patterns."""
    base = posixpath.basename(name)
    return any(fnmatch.fnmatchcase(base, pattern) for pattern in patterns)


def problem_of(wanted: Link | Special, read_names: Collection[str]) -> str | None:
    """Returns the reason why a link or special file cannot be read.

    Returns None for a hard link to a file that is read anyway. `read_names` has the names of all files that
    are read.
    """
    if isinstance(wanted, Special):
        return f"{wanted.name} is a {wanted.kind}, not a regular file"
    if wanted.is_hard and wanted.target in read_names:
        return None
    return f"{wanted.name} is a link to {wanted.target}: such an archive has to be unpacked first"


def problems_of(wanted: Sequence[Member | Link | Special]) -> Iterator[tuple[Link | Special, str]]:
    """Yields (member, reason) for each wanted member that cannot be read, in the order of the archive."""
    names: set[str] = set()
    for member in wanted:
        if not isinstance(member, Member) and (problem := problem_of(member, names)):
            yield member, problem
        names.add(member.name)


def read_members(
    archive: BinaryIO, seekable_bytes: int | None = None
) -> Iterator[Member | Link | Special]:
    """Yields the files, links and special files of an archive, in order. Folders are left out.

    Args:
      archive: the decompressed archive from its first byte.
      seekable_bytes: size of the archive if it is seekable. In this case, unused contents are skipped instead
        of read.

    Raises TarError if the archive is damaged or truncated, or has a sparse file.
    """
    source = _Source(archive, seekable_bytes)
    values = _Extension()
    while (header := source.read_exactly(BLOCK_BYTES)) != _END_MARK:
        info = _parse_header(header, source.position - BLOCK_BYTES)
        start = source.position
        if info.type in _EXTENSIONS:
            values = _read_extension(source, info, values)
            source.skip_to(_padded(start + info.size))
            continue
        name = values.name or info.name
        content_bytes = info.size if values.size < 0 else values.size
        if info.type == tarfile.GNUTYPE_SPARSE:
            raise TarError(
                f"{name} is stored as a sparse file, which is not supported", start - BLOCK_BYTES
            )
        if info.isreg():
            content = cast(BinaryIO, _Content(source, start + content_bytes))
            yield Member(name, start, content_bytes, content)
        elif info.islnk() or info.issym():
            yield Link(name, start, values.target or info.linkname, info.islnk())
        elif info.type in _SPECIAL_KINDS:
            yield Special(name, start, _SPECIAL_KINDS[info.type])
        # links may state a size without having content
        if info.isreg() or info.type not in tarfile.SUPPORTED_TYPES:
            source.skip_to(_padded(start + content_bytes))
        values = _Extension()
    source.check_end()


def text_of(member: Member) -> BinaryIO:
    """Returns the content of a file in an archive. If it is compressed, it is decompressed.

    The result should be read with `compression.read_some`.
    """
    content = Peekable(member.content)
    return decompress(cast(BinaryIO, content), codec_of_head(content.peek(MAGIC_BYTES)))


def window_of(stream: BinaryIO, start: int, size: int) -> BinaryIO:
    """Returns a part of a seekable stream as a separate stream with `read`, `seek` and `tell`."""
    return cast(BinaryIO, _Window(stream, start, size))


class _Extension(NamedTuple):
    """Values from extension headers. They apply to the next member of the archive."""

    name: str = ""
    target: str = ""  # target of a link
    size: int = -1


class _Source:
    """The bytes of an archive, with the number of bytes read so far."""

    def __init__(self, stream: BinaryIO, seekable_bytes: int | None):
        self._stream = stream
        self._seekable_bytes = seekable_bytes
        self.position = 0

    def read_some(self, max_bytes: int) -> bytes:
        if not (data := self._read_step(max_bytes)):
            raise TarError("the archive is truncated", self.position)
        self.position += len(data)
        return data

    def _read_step(self, max_bytes: int) -> bytes:
        try:
            return read_step(self._stream, max_bytes)
        except DECODE_ERRORS as error:
            message = f"the compressed archive is damaged or truncated: {error}"
            raise TarError(message, self.position) from None

    def read_exactly(self, size: int) -> bytes:
        parts = []
        while size:
            parts.append(self.read_some(size))
            size -= len(parts[-1])
        return b"".join(parts)

    def skip_to(self, position: int) -> None:
        if self._seekable_bytes is not None:
            self.position = min(position, self._seekable_bytes)
            self._stream.seek(self.position)
        while self.position < position:
            self.read_some(min(position - self.position, _SKIPPED_AT_ONCE))

    def check_end(self) -> None:
        """Raises TarError if anything but padding follows the end mark.

        It reads to the end, because damage of a .gz archive may be detected only there.
        """
        while data := self._read_step(_SKIPPED_AT_ONCE):
            if data.strip(b"\0"):
                raise TarError("there is data after the end mark of the archive", self.position)
            self.position += len(data)


class _Content:
    """The content of the current file of an archive."""

    def __init__(self, source: _Source, end: int):
        self._source = source
        self._end = end

    def read(self, size: int = -1) -> bytes:
        left = max(self._end - self._source.position, 0)
        if size < 0:
            return self._source.read_exactly(left)
        return self._source.read_some(min(size, left)) if size and left else b""


class _Window:
    def __init__(self, stream: BinaryIO, start: int, size: int):
        self._stream = stream
        self._start = start
        self._size = size
        self._position = 0

    def seek(self, position: int) -> int:
        self._position = position
        return position

    def tell(self) -> int:
        return self._position

    def read(self, size: int = -1) -> bytes:
        left = max(self._size - self._position, 0)
        self._stream.seek(self._start + self._position)
        data = self._stream.read(left if size < 0 else min(size, left))
        self._position += len(data)
        return data


def _padded(position: int) -> int:
    return -(-position // BLOCK_BYTES) * BLOCK_BYTES


def _parse_header(header: bytes, offset: int) -> tarfile.TarInfo:
    try:
        info = tarfile.TarInfo.frombuf(header, "utf-8", "backslashreplace")
    except tarfile.HeaderError as error:
        raise TarError(f"invalid header of a file in the archive: {error}", offset) from None
    if info.size < 0:
        raise TarError("invalid header of a file in the archive: negative size", offset)
    return info


def _read_extension(source: _Source, info: tarfile.TarInfo, values: _Extension) -> _Extension:
    """Reads the content of an extension header. Returns `values` with the changes from this header."""
    if info.size > _MAX_EXTENSION_BYTES:
        raise TarError(f"an extension header is too large: {info.size:,} bytes", source.position)
    start = source.position
    content = source.read_exactly(info.size)
    if info.type in _ATTRIBUTES:
        return _parse_attributes(content, start, values)
    text = _decode(content.rstrip(b"\0"))
    if info.type == tarfile.GNUTYPE_LONGNAME:
        return values._replace(name=text)
    return values._replace(target=text)


def _parse_attributes(extension: bytes, start: int, values: _Extension) -> _Extension:
    """Parses a POSIX extension header, which has records like "20 path=a/b\\n".

    Returns `values` with the changes from this header. Raises TarError if the header is damaged or belongs to
    a sparse file. `start` is the offset of the header's content in the archive, for this error.
    """
    at = 0
    try:
        while at < len(extension):
            length = int(extension[at : extension.index(b" ", at)])
            record = extension[at : at + length]
            key, value = record[record.index(b" ") + 1 : -1].split(b"=", 1)
            if key == b"path":
                values = values._replace(name=_decode(value))
            elif key == b"linkpath":
                values = values._replace(target=_decode(value))
            elif key == b"size":
                values = values._replace(size=int(value))
            elif key.startswith(b"GNU.sparse."):
                raise TarError(
                    "a file in the archive is stored as a sparse file, which is not supported",
                    start,
                )
            at += length
    except ValueError:
        raise TarError("the archive has a damaged extension header", start) from None
    return values


def _decode(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")
