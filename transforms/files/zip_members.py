"""Reads the files in a .zip archive without unpacking it to disk.

Python's zipfile lists the files. A worker that reads some of them does not read the directory of the archive
again, because it is long if there are many files. Exceptions of zipfile are replaced by errors with an
offset.
"""

import struct
import sys
import zipfile
from typing import BinaryIO, NamedTuple, cast

from corpusmill.transforms.files.records import Reason
from corpusmill.transforms.files.tar_members import window_of

# first bytes of an archive with files, and of an empty archive
_BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06")
_HEADER_BYTES = 30
_ENCRYPTED = 1
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_DIRECTORY_ERRORS = (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError, struct.error)


class ZipError(Exception):
    """Raised if an archive is damaged at byte `offset`."""

    def __init__(self, message: str, offset: int):
        super().__init__(message, offset)
        self.message, self.offset = message, offset


class ZipMember(NamedTuple):
    """A file in an archive."""

    name: str  # with its folders
    start: int  # byte of the archive at which the header begins
    stored_bytes: int
    bytes: int  # size of its content
    crc: int
    method: int  # number of the compression method in zip
    is_encrypted: bool


def is_zip(head: bytes) -> bool:
    """Returns True if these are the first bytes of a .zip archive."""
    return head.startswith(_BEGINNINGS)


def list_zip(archive: BinaryIO) -> list[ZipMember]:
    """Returns the files of an archive in the order of its directory. The archive must be seekable.

    Raises ZipError if the directory, at the end of the archive, is damaged or truncated.
    """
    try:
        with zipfile.ZipFile(archive) as directory:
            found = directory.infolist()
    except _DIRECTORY_ERRORS as error:
        problem = f"the directory at the end of the archive is damaged or truncated: {error}"
        raise ZipError(problem, archive.seek(0, 2)) from None
    return [
        ZipMember(
            info.filename,
            info.header_offset,
            info.compress_size,
            info.file_size,
            info.CRC,
            info.compress_type,
            bool(info.flag_bits & _ENCRYPTED),
        )
        for info in found
        if not info.is_dir()
    ]


def reason_not_to_read(member: ZipMember) -> Reason | None:
    """Returns the reason why a file in an archive cannot be read even if it is undamaged; None if it can be.

    It may be encrypted, or have an unsupported compression: some early archives use method 6 (imploded).
    """
    if member.is_encrypted:
        return Reason("encrypted", f"{member.name} is encrypted")
    if member.method not in _METHODS:
        return Reason(
            "unsupported-compression",
            f"zip method {member.method} is not supported: repack the archive",
        )
    return None


def open_member(archive: BinaryIO, member: ZipMember) -> BinaryIO:
    """Returns the content of a file in an archive, as a stream with only the method `read`.

    The stream ends after the number of bytes that the directory of the archive states. Reading damaged
    content raises OSError or another of compression.DECODE_ERRORS. Raises ZipError if the file is not at the
    position that the directory states.
    """
    header = b""
    if 0 <= member.start <= sys.maxsize:
        archive.seek(member.start)
        header = archive.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES or not header.startswith(_BEGINNINGS[0]):
        problem = f"{member.name} is not at the position that the directory of the archive states"
        raise ZipError(problem, member.start)
    name_bytes, extra_bytes = struct.unpack_from("<HH", header, 26)
    start = member.start + _HEADER_BYTES + name_bytes + extra_bytes
    return cast(BinaryIO, _Content(window_of(archive, start, member.stored_bytes), member))


class _Content:
    def __init__(self, stored: BinaryIO, member: ZipMember):
        info = zipfile.ZipInfo(member.name)
        info.compress_type = member.method
        info.compress_size, info.file_size = member.stored_bytes, member.bytes
        info.CRC = member.crc
        self._file = zipfile.ZipExtFile(stored, "r", info)

    def read(self, size: int = -1) -> bytes:
        try:
            return self._file.read(size)
        except zipfile.BadZipFile as error:
            raise OSError(str(error)) from None
        except EOFError:
            raise EOFError("the archive is truncated inside this file") from None
