"""A file that is being fetched: it gets its name when all of it is there and checked.

A note says which version the bytes are of, so that nothing of another version is added to them. The note
stays, and says where the file came from. disk_part has files on a disk, stored_part those of object stores.
"""

import abc
import contextlib
import hashlib
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

import msgspec
from apache_beam.io.filesystems import FileSystems

from pipelines.refresh.remote import DiskFullError, RemoteFile, hide_passwords
from transforms.text.files.compression import CODECS, codec_of_head
from transforms.text.files.file_kinds import is_html

_DIGESTS = ("sha1", "sha256", "md5")
_HASHED_BYTES = 1 << 22  # at once


class Note(msgspec.Struct, frozen=True):
    """The server's description of the version that is being downloaded."""

    url: str  # without passwords
    etag: str
    last_modified: str
    checksum: str  # as RemoteFile has it
    size: int  # bytes; -1 unknown
    stored: str = ""  # the checksum that an object store has of the finished object; "" unknown

    @property
    def validator(self) -> str:
        """The validator to send as If-Range; a weak ETag does not promise the same bytes."""
        return self.last_modified if self.etag.startswith("W/") else self.etag or self.last_modified

    def encode(self) -> bytes:
        """The content of the file that has it."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"


def decode_note(content: bytes) -> Note | None:
    """The note of a file; None of one that is damaged."""
    try:
        return msgspec.json.decode(content, type=Note)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


class PartFile(abc.ABC):
    """The file in a folder, as far as it has come."""

    def __init__(self, folder: str, file: RemoteFile):
        if Path(file.name).name != file.name or file.name.startswith("."):
            raise ValueError(f"{file.name!r} is not the name of a file")
        if file.checksum and file.checksum.partition(":")[0] not in _DIGESTS:
            raise ValueError(f"{file.name}: no known kind of checksum: {file.checksum!r}")
        self.file = file
        self.folder = folder
        self.path: str = FileSystems.join(folder, file.name)

    @property
    @abc.abstractmethod
    def is_finished(self) -> bool:
        """True if the file has its final name. It may be of another version, or damaged since."""

    @property
    @abc.abstractmethod
    def bytes_there(self) -> int:
        """So many bytes are there; of a finished file all."""

    @property
    @abc.abstractmethod
    def note(self) -> Note | None:
        """The record of the bytes downloaded so far; None if there is none."""

    @abc.abstractmethod
    def free_bytes(self) -> int | None:
        """Room for more; None where there is no end of it."""

    @abc.abstractmethod
    def begin(self, note: Note) -> None:
        """From here on the bytes are of this version; those of others go."""

    @abc.abstractmethod
    def appending(self) -> contextlib.AbstractContextManager[Callable[[bytes], None]]:
        """Yields what adds bytes. Raises DiskFullError, and DownloadError where they are not taken."""

    @abc.abstractmethod
    def finish(self) -> str:
        """Gives the checked file its name; returns its path."""

    @abc.abstractmethod
    def discard(self) -> None:
        """Removes what there is."""

    @abc.abstractmethod
    def close(self) -> None:
        """Lets go of what is unfinished, where the next process cannot go on with it."""

    @abc.abstractmethod
    def _digest(self, kind: str, check: Callable[[], None]) -> str:
        """The digest, in hexadecimal, of the bytes that are there."""

    @abc.abstractmethod
    def _open(self) -> BinaryIO:
        """Opens the bytes that are there for reading, seekable."""

    def headers_to_resume(self, url: str) -> Mapping[str, str]:
        """Returns the headers of a request that resumes the download; none if it cannot be resumed safely."""
        note, have = self.note, self.bytes_there
        known = (self.file.checksum, self.file.size)
        if not have or note is None or (note.checksum, note.size) != known:
            return {}
        wanted = {"Range": f"bytes={have}-"}
        if note.url == hide_passwords(url) and note.validator:
            return wanted | {"If-Range": note.validator}
        # The checksum says in the end whether the bytes of several mirrors belong together.
        return wanted if self.file.checksum else {}

    def describe_full(self, reason: str) -> DiskFullError:
        """The error for a disk without room for the rest."""
        right = f" of {self.file.size:,}" if self.file.size >= 0 else ""
        kept = f"{self.bytes_there:,}{right} bytes are there, and the next attempt goes on"
        return DiskFullError(self.file.name, "", f"{reason}; {kept}")

    def fault(self, check: Callable[[], None] = lambda: None) -> str:
        """Returns the reason why the bytes on disk are not the file; "" if they are, as far as can
        be known.

        Args:
          check: is called again and again, and may raise: to read a large file takes minutes.
        """
        size = self.bytes_there
        if self.file.size >= 0 and size != self.file.size:
            return f"has {size:,} bytes, expected {self.file.size:,}"
        if not size:
            return "is empty"
        return self._fault_of_version(check) or self._fault_of_format()

    def _fault_of_version(self, check: Callable[[], None]) -> str:
        if not self.file.checksum:
            note = self.note
            is_first = note and note.url == hide_passwords(self.file.urls[0])
            found = note.etag if note and is_first else ""
            is_other = found and self.file.etag and found != self.file.etag
            return "is another version than the one that was found" if is_other else ""
        kind, _, right = self.file.checksum.partition(":")
        found = self._digest(kind, check)
        return "" if found == right.lower() else f"has the {kind} {found}, {right} is right"

    def _fault_of_format(self) -> str:
        """Returns the reason why the first bytes do not fit the format in the name; "" if they do."""
        suffix = Path(self.file.name).suffix
        with self._open() as stream:
            if suffix == ".zip":
                try:
                    with zipfile.ZipFile(stream) as archive:
                        return "" if archive.namelist() else "is an archive without files"
                except (zipfile.BadZipFile, OSError) as error:
                    return f"cannot be opened: {error}"
            head = stream.read(1024)
        if (codec := suffix.removeprefix(".")) in CODECS and codec_of_head(head) != codec:
            return f"is not a {suffix} file"
        return "is a web page" if is_html(head.decode("latin-1")) else ""


def digest_of(stream: BinaryIO, kind: str, check: Callable[[], None]) -> str:
    """The digest, in hexadecimal, of what is left of a stream; `check` is called again and again."""
    digest = hashlib.new(kind)
    while data := stream.read(_HASHED_BYTES):
        check()
        digest.update(data)
    return digest.hexdigest()
