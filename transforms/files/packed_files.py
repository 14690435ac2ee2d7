"""Reads the text files in a stored file: the file itself, or the files in archives and nested archives.

File types are detected from their first bytes: compressed (.gz, .bz2, .xz), .zip, .tar, or text. Names are
only used to select files in an archive. Only one text file is in memory at a time. In addition, a .zip inside
another archive is in memory as a whole, because its directory is at its end.

Reads the files in a .zip archive without unpacking it to disk.

Python's zipfile lists the files. A worker that reads some of them does not read the directory of the archive
again, because it is long if there are many files. Exceptions of zipfile are replaced by errors with an
offset.
"""

import io
import posixpath
import re
import struct
import sys
import zipfile
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, cast

from . import tar_members
from .compression import DECODE_ERRORS, DamageError, Peekable, codec_of_head, decompress
from .records import Reason
from .tar_members import BLOCK_BYTES, Link, Member, Special, TarError, window_of

# first bytes of an archive with files, and of an empty archive
_BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06")
_HEADER_BYTES = 30
_ENCRYPTED = 1
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_DIRECTORY_ERRORS = (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError, struct.error)


class ZipError(DamageError):
    """Raised if an archive is damaged at byte `offset`."""


def is_zip(head: bytes) -> bool:
    """Returns True if these are the first bytes of a .zip archive."""
    return head.startswith(_BEGINNINGS)


def list_zip(archive: BinaryIO) -> list[zipfile.ZipInfo]:
    """Returns the files of an archive in the order of its directory. The archive must be seekable.

    Raises ZipError if the directory, at the end of the archive, is damaged or truncated.
    """
    try:
        with zipfile.ZipFile(archive) as directory:
            found = directory.infolist()
    except _DIRECTORY_ERRORS as error:
        problem = f"the directory at the end of the archive is damaged or truncated: {error}"
        raise ZipError(problem, archive.seek(0, 2)) from None
    return [info for info in found if not info.is_dir()]


def why_not_unzipped(member: zipfile.ZipInfo) -> Reason | None:
    """Returns the reason why a file in an archive cannot be read even if it is undamaged; None if it can be.

    It may be encrypted, or have an unsupported compression: some early archives use method 6 (imploded).
    """
    if member.flag_bits & _ENCRYPTED:
        return Reason("encrypted", f"{member.filename} is encrypted")
    if member.compress_type not in _METHODS:
        return Reason(
            "unsupported-compression",
            f"zip method {member.compress_type} is not supported: repack the archive",
        )
    return None


def open_member(archive: BinaryIO, member: zipfile.ZipInfo) -> BinaryIO:
    """Returns the content of a file in an archive, as a stream of which only `read` may be used.

    The stream ends after the number of bytes that the directory of the archive states. Reading damaged
    content raises OSError or another of compression.DECODE_ERRORS. Raises ZipError if the file is not at the
    position that the directory states.
    """
    header = b""
    if 0 <= member.header_offset <= sys.maxsize:
        archive.seek(member.header_offset)
        header = archive.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES or not header.startswith(_BEGINNINGS[0]):
        problem = (
            f"{member.filename} is not at the position that the directory of the archive states"
        )
        raise ZipError(problem, member.header_offset)
    name_bytes, extra_bytes = struct.unpack_from("<HH", header, 26)
    start = member.header_offset + _HEADER_BYTES + name_bytes + extra_bytes
    return cast(BinaryIO, _Content(window_of(archive, start, member.compress_size), "r", member))


class _Content(zipfile.ZipExtFile):
    def read(self, size: int | None = -1) -> bytes:
        try:
            return super().read(size)
        except zipfile.BadZipFile as error:
            raise OSError(str(error)) from None
        except EOFError:
            raise EOFError("the archive is truncated inside this file") from None


MAX_FILE_BYTES = 1 << 28
"""Largest size of a text, and of a .zip in another archive.

It bounds the memory of a worker, and is far above the size of any book.
"""
MAX_DEPTH = 6
"""Largest number of archives and compressions around a text. An archive can be made that contains itself."""
_STEP_BYTES = 1 << 18

_TEXT = r"\.txt(?:\.utf-?8)?(?:\.gz|\.bz2|\.xz)?"
_TAR = r"\.(?:tar|tar\.gz|tar\.bz2|tar\.xz|tgz|tbz2?|txz)"
_WANTED = re.compile(rf".+(?:{_TEXT}|{_TAR}|\.zip)", re.IGNORECASE | re.DOTALL)
_UNWANTED = re.compile(r"(?:.*[-_ ])?read[-_ ]?me\.txt|\._.*", re.IGNORECASE | re.DOTALL)
_TAR_NAME = re.compile(rf".+{_TAR}", re.IGNORECASE | re.DOTALL)


class PackedFile(NamedTuple):
    """A text file that was read: the stored file itself, or a file in an archive."""

    name: str  # names of its archives, then its own name: "84.zip/84.txt"
    content: bytes


class UnreadFile(NamedTuple):
    """A file that was not read although it is not damaged, for example because of its size."""

    name: str
    reason: Reason


class PassedOver(NamedTuple):
    """A file that was skipped because of its name."""

    name: str


class PackedDamage(NamedTuple):
    """A damaged part of a file or archive."""

    name: str  # name of a file or an archive
    start: int  # byte at which the damage begins; the message says in which file
    end: int
    message: str


PackedEvent = PackedFile | UnreadFile | PassedOver | PackedDamage


class Share:
    """Selects the files that one worker reads: every n-th file of an archive that cannot be read from the
    middle.
    """

    def __init__(self, stripe: int = 0, stripes: int = 1):
        self._stripe = stripe
        self._stripes = stripes
        self._met = 0

    @property
    def tells(self) -> bool:
        """True if this worker reports what all workers of the archive notice, such as damage.

        Only one worker does, so that nothing is reported twice.
        """
        return self._stripe == 0

    def takes(self) -> bool:
        """Returns True if the next file belongs to this worker. It must be called once per file."""
        self._met += 1
        return (self._met - 1) % self._stripes == self._stripe


def is_wanted(name: str) -> bool:
    """Returns True if the name of a file in an archive is that of a text or of another archive."""
    base = posixpath.basename(name)
    return bool(_WANTED.fullmatch(base)) and not _UNWANTED.fullmatch(base)


def is_named_tar(name: str) -> bool:
    """Returns True if a file has the name of a .tar, compressed or not."""
    return bool(_TAR_NAME.fullmatch(posixpath.basename(name)))


def name_inside(archive: str, member: str) -> str:
    """Returns the name of a file in an archive: the name of the archive, a slash, and the file's own name.

    For a .tar that is named like its archive, such as "books.tar" in "books.tar.zip", it is only the name of
    the archive.
    """
    without_suffix = posixpath.splitext(posixpath.basename(archive))[0]
    if is_named_tar(member) and member == without_suffix:
        return archive
    return f"{archive}/{member}"


def is_tar(head: bytes) -> bool:
    """Returns True if these are the first bytes of a .tar archive that is not empty.

    `head` must have at least BLOCK_BYTES bytes.
    """
    return tar_members.is_tar(head) and bool(head.strip(b"\0"))


def head_of(source: BinaryIO) -> bytes:
    """Returns the first BLOCK_BYTES of the decompressed content of a file.

    Raises DECODE_ERRORS if they are damaged.
    """
    content = Peekable(source)
    for _ in range(MAX_DEPTH):
        if not (codec := codec_of_head(content.peek(BLOCK_BYTES))):
            break
        content = Peekable(decompress(cast(BinaryIO, content), codec))
    return content.peek(BLOCK_BYTES)


def read_packed(
    source: BinaryIO, name: str, share: Share | None = None, depth: int = 0
) -> Iterator[PackedEvent]:
    """Yields the text files in a file, with their contents. Also yields skipped files and damage.

    Args:
      source: the file from its start; only `read` is called.
      name: name of the file. The names of files in it begin with this name.
      share: selects the files that this worker reads if the file is a .tar; None to read all.
      depth: number of archives and compressions around the file.
    """
    content = Peekable(source)
    stream = cast(BinaryIO, content)
    try:
        head = content.peek(BLOCK_BYTES)
        codec = codec_of_head(head)
        if not (codec or is_zip(head) or is_tar(head)):
            data = _read_whole(content)
            yield _too_large(name) if data is None else PackedFile(name, data)
        elif depth == MAX_DEPTH:
            yield UnreadFile(name, Reason("too-deep", f"packed more than {depth} times"))
        elif codec:
            yield from read_packed(decompress(stream, codec), name, share, depth + 1)
        elif is_zip(head):
            yield from _read_zip(content, name, depth)
        else:
            yield from _read_tar(stream, name, share or Share(), depth)
    except DECODE_ERRORS as error:
        at = content.reached
        message = (
            f"damaged or truncated: {error or 'it ends too early'} (bytes of the decompressed file)"
        )
        yield PackedDamage(name, at, at, message)


def read_zip_member(
    archive: BinaryIO,
    member: zipfile.ZipInfo,
    name: str,
    share: Share | None = None,
    depth: int = 0,
) -> Iterator[PackedEvent]:
    """Yields the text files in a file of a .zip. The arguments are like those of `read_packed`."""
    if reason := why_not_unzipped(member):
        yield UnreadFile(name, reason)
        return
    try:
        content = open_member(archive, member)
    except ZipError as error:
        yield PackedDamage(name, error.offset, error.offset + member.compress_size, error.message)
        return
    yield from read_packed(content, name, share, depth + 1)


def _too_large(name: str) -> UnreadFile:
    return UnreadFile(name, Reason("too-large", f"more than {MAX_FILE_BYTES:,} bytes"))


def _read_zip(content: Peekable, name: str, depth: int) -> Iterator[PackedEvent]:
    if (data := _read_whole(content)) is None:
        yield _too_large(name)
        return
    archive = io.BytesIO(data)
    try:
        members = list_zip(archive)
    except ZipError as error:
        yield PackedDamage(name, error.offset, error.offset, error.message)
        return
    for member in members:
        inside = name_inside(name, member.filename)
        if is_wanted(member.filename):
            yield from read_zip_member(archive, member, inside, depth=depth)
        else:
            yield PassedOver(inside)


def _read_tar(stream: BinaryIO, name: str, share: Share, depth: int) -> Iterator[PackedEvent]:
    try:
        for member in tar_members.read_members(stream):
            inside = name_inside(name, member.name)
            if not is_wanted(member.name):
                if share.tells:
                    yield PassedOver(inside)
            elif not share.takes():
                continue
            elif not isinstance(member, Member):
                yield UnreadFile(inside, reason_not_to_read(member))
            else:
                yield from read_packed(member.content, inside, depth=depth + 1)
    except TarError as error:
        if share.tells:
            message = f"{error.message} (bytes of the archive, decompressed)"
            yield PackedDamage(name, error.offset, error.offset, message)


def reason_not_to_read(member: Link | Special) -> Reason:
    """Returns the reason for skipping a link or special file in an archive.

    A link has no content of its own; its target is read if it is in the archive.
    """
    if isinstance(member, Link):
        return Reason("link", f"to {member.target}")
    return Reason("not-a-file", f"a {member.kind}")


def _read_whole(content: Peekable) -> bytes | None:
    """Returns the whole content, or None if it is larger than MAX_FILE_BYTES."""
    parts = []
    while data := content.read(_STEP_BYTES):
        parts.append(data)
        if content.position > MAX_FILE_BYTES:
            return None
    return b"".join(parts)
