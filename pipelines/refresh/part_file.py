"""A file that is being downloaded, on a disk or an object store. It gets its final name when it is complete
and checked.

A note beside the file describes the version on the server, so that bytes of different versions are never
mixed. After the download, the note is kept as a record of the file's origin. The module disk_part has the
class for disks, stored_part the class for object stores.
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

from corpusmill.pipelines.refresh.remote import DiskFullError, RemoteFile, hide_passwords
from corpusmill.transforms.files.compression import CODECS, codec_of_head
from corpusmill.transforms.files.file_kinds import is_html

_DIGESTS = ("sha1", "sha256", "md5")
_HASHED_BYTES = 1 << 22  # bytes read at a time to compute a hash


class Note(msgspec.Struct, frozen=True):
    """A description of the version of a file that is being downloaded."""

    url: str  # without passwords
    etag: str
    last_modified: str
    checksum: str  # in the format of RemoteFile.checksum
    size: int  # bytes; -1 unknown
    stored: str = ""  # the object store's own checksum of the finished object; "" unknown

    @property
    def validator(self) -> str:
        """The value for the header If-Range. With it, the server resumes only a download of the same version.

        A weak ETag is not used, because files with the same weak ETag may have different bytes.
        """
        return self.last_modified if self.etag.startswith("W/") else self.etag or self.last_modified

    def encode(self) -> bytes:
        """Returns this note as JSON, as it is stored beside the file."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"


def decode_note(content: bytes) -> Note | None:
    """Returns the Note that is stored as JSON in `content`; None if the JSON is damaged."""
    try:
        return msgspec.json.decode(content, type=Note)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


class PartFile(abc.ABC):
    """A file in a folder of downloads, which may be incomplete."""

    def __init__(self, folder: str, file: RemoteFile):
        if Path(file.name).name != file.name or file.name.startswith("."):
            raise ValueError(f"{file.name!r} is not the name of a file")
        if file.checksum and file.checksum.partition(":")[0] not in _DIGESTS:
            raise ValueError(
                f"{file.name}: unknown type of checksum {file.checksum!r}; expected one of"
                f" {', '.join(_DIGESTS)}"
            )
        self.file = file
        self.folder = folder
        self.path: str = FileSystems.join(folder, file.name)

    @property
    @abc.abstractmethod
    def is_finished(self) -> bool:
        """True if the file has its final name. The file may nevertheless be outdated or damaged."""

    @property
    @abc.abstractmethod
    def bytes_there(self) -> int:
        """Number of bytes that are stored; for a finished file, its size."""

    @property
    @abc.abstractmethod
    def note(self) -> Note | None:
        """The version of the file to which the stored bytes belong; None if it is unknown."""

    @abc.abstractmethod
    def free_bytes(self) -> int | None:
        """Returns the free bytes of the disk; None for an object store, which has no limit."""

    @abc.abstractmethod
    def begin(self, note: Note) -> None:
        """Removes all bytes and starts the download of the version that the note describes."""

    @abc.abstractmethod
    def appending(self) -> contextlib.AbstractContextManager[Callable[[bytes], None]]:
        """Returns a context manager that yields a function to append bytes.

        The function raises DiskFullError if the disk is full, and DownloadError if the bytes cannot be
        written for another reason.
        """

    @abc.abstractmethod
    def finish(self) -> str:
        """Renames the file to its final name, and returns its path. The caller must have checked the file."""

    @abc.abstractmethod
    def discard(self) -> None:
        """Deletes the file, the bytes received so far, and the note about the version on the server."""

    @abc.abstractmethod
    def close(self) -> None:
        """Ends the use of the file. Removes an incomplete download that another process cannot resume."""

    @abc.abstractmethod
    def _digest(self, kind: str, check: Callable[[], None]) -> str:
        """Returns the hexadecimal digest of the stored bytes. `kind` and `check` are as in `digest_of`."""

    @abc.abstractmethod
    def _open(self) -> BinaryIO:
        """Opens the stored bytes as a seekable stream."""

    def headers_to_resume(self, url: str) -> Mapping[str, str]:
        """Returns the headers of a request to `url` that resumes the download.

        Returns no headers if no bytes are stored, or if bytes of different versions might be mixed unnoticed.
        """
        note, have = self.note, self.bytes_there
        known = (self.file.checksum, self.file.size)
        if not have or note is None or (note.checksum, note.size) != known:
            return {}
        wanted = {"Range": f"bytes={have}-"}
        if note.url == hide_passwords(url) and note.validator:
            return wanted | {"If-Range": note.validator}
        # If bytes of two mirrors do not fit together, the checksum at the end shows it.
        return wanted if self.file.checksum else {}

    def describe_full(self, reason: str) -> DiskFullError:
        """Returns the error for a disk that does not have enough space for the rest of the file.

        Its message consists of `reason` and the number of bytes that are kept.
        """
        right = f" of {self.file.size:,}" if self.file.size >= 0 else ""
        kept = f"{self.bytes_there:,}{right} bytes are kept, and the next attempt resumes there"
        return DiskFullError(self.file.name, "", f"{reason}; {kept}")

    def fault(self, check: Callable[[], None] = lambda: None) -> str:
        """Compares the stored bytes with the size, checksum, version and format of the file on the server.

        Returns a description of the first difference, such as "is empty"; "" if there is none.

        Args:
          check: function that is called repeatedly while a large file is read. It may raise an error to stop.
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
            return "differs from the version on the server" if is_other else ""
        kind, _, right = self.file.checksum.partition(":")
        found = self._digest(kind, check)
        return "" if found == right.lower() else f"has the {kind} {found}, expected {right}"

    def _fault_of_format(self) -> str:
        """Checks that the content has the format that the suffix of the file name states, such as ".bz2".

        Returns a description of the difference, such as "is a web page"; "" if there is none.
        """
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
    """Returns the hexadecimal digest of a stream from its current position to the end.

    Args:
      kind: "sha1", "sha256" or "md5".
      check: function that is called before each block is read. It may raise an error to stop.
    """
    digest = hashlib.new(kind)
    while data := stream.read(_HASHED_BYTES):
        check()
        digest.update(data)
    return digest.hexdigest()
