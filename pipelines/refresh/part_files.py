"""A file that is being downloaded, on a disk or an object store. It gets its final name when it is complete
and checked.

A note beside the file describes the version on the server, so that bytes of different versions are never
mixed. After the download, the note is kept as a record of the file's origin. The module disk_part has the
class for disks, stored_part the class for object stores.

A file that is being downloaded to a disk. It is named `<name>.part` until it is checked, then `<name>`.

A hidden file in the same folder, called the note, describes the version that is being downloaded. If the
process is killed, the bytes downloaded so far remain, and the next process resumes the download.

A file that is being downloaded directly to an object store, without a copy on a disk.

The bytes are hashed while they are sent to `<name>.part` in one upload. If the connection to the dump server
is lost, the same upload continues. After the check, the store copies the object to `<name>`. If the process
is killed, the upload is lost and the download starts again.
"""

import contextlib
import hashlib
import logging
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Protocol, cast

import msgspec
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files import errors, write_files
from corpusmill.transforms.files.compression import CODECS, codec_of_head, is_html
from corpusmill.transforms.files.read_files import InputError, file_bytes_of, is_there, open_raw
from corpusmill.transforms.files.stores import StoreError, drop_uploads, read_object, refusal_of

from .sources import DiskFullError, DownloadError, RemoteFile, hide_passwords

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


class PartFile(Protocol):
    """A file in a folder of downloads, which may be incomplete."""

    file: RemoteFile
    folder: str
    path: str

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
        self.path = FileSystems.join(folder, file.name)

    @property
    def is_finished(self) -> bool:
        """True if the file has its final name. The file may nevertheless be outdated or damaged."""

    @property
    def bytes_there(self) -> int:
        """Number of bytes that are stored; for a finished file, its size."""

    @property
    def note(self) -> Note | None:
        """The version of the file to which the stored bytes belong; None if it is unknown."""

    def free_bytes(self) -> int | None:
        """Returns the free bytes of the disk; None for an object store, which has no limit."""

    def begin(self, note: Note) -> None:
        """Removes all bytes and starts the download of the version that the note describes."""

    def appending(self) -> contextlib.AbstractContextManager[Callable[[bytes], None]]:
        """Returns a context manager that yields a function to append bytes.

        The function raises DiskFullError if the disk is full, and DownloadError if the bytes cannot be
        written for another reason.
        """

    def finish(self) -> str:
        """Renames the file to its final name, and returns its path. The caller must have checked the file."""

    def discard(self) -> None:
        """Deletes the file, the bytes received so far, and the note about the version on the server."""

    def close(self) -> None:
        """Ends the use of the file. Removes an incomplete download that another process cannot resume."""

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

    def _digest(self, kind: str, check: Callable[[], None]) -> str:
        """Returns the hexadecimal digest of the stored bytes.

        Args:
          kind: "sha1", "sha256" or "md5".
          check: function that is called before each block is read. It may raise an error to stop.
        """
        digest = hashlib.new(kind)
        with self._open() as stream:
            while data := stream.read(_HASHED_BYTES):
                check()
                digest.update(data)
        return digest.hexdigest()

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


class DiskPart(PartFile):
    """A `PartFile` on a local disk."""

    def __init__(self, folder: str, file: RemoteFile):
        super().__init__(folder, file)
        self._whole = Path(self.path)
        self.part = self._whole.with_name(f"{file.name}.part")
        self._note = self._whole.with_name(f".{file.name}.json")

    @property
    def is_finished(self) -> bool:
        return self._whole.exists()

    @property
    def bytes_there(self) -> int:
        for path in (self._whole, self.part, self._whole):  # it may be renamed in the meantime
            with contextlib.suppress(FileNotFoundError):
                return path.stat().st_size
        return 0

    @property
    def note(self) -> Note | None:
        try:
            return decode_note(self._note.read_bytes())
        except OSError:
            return None

    def free_bytes(self) -> int:
        return shutil.disk_usage(self.folder).free

    def begin(self, note: Note) -> None:
        self.part.unlink(missing_ok=True)
        temporary = self._note.with_suffix(".new")
        with self._telling():
            temporary.write_bytes(note.encode())
            temporary.replace(self._note)

    @contextlib.contextmanager
    def appending(self) -> Iterator[Callable[[bytes], None]]:
        """Yields a function that appends bytes to the file.

        The bytes are not buffered. So if the disk becomes full, the bytes written before are on the disk.
        """
        with self._telling():
            stream = self.part.open("ab", buffering=0)

        def append(data: bytes) -> None:
            view = memoryview(data)
            with self._telling():
                while view:
                    view = view[stream.write(view) :]

        with stream:
            yield append

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        """Replaces an OSError in the `with` block by a DiskFullError or DownloadError that explains it."""
        try:
            yield
        except OSError as error:
            if error.errno in errors.NUMBERS:
                raise self.describe_full(f"no space is left in {self.folder}") from None
            reason = f"{error.filename or self.part}: {error.strerror}"
            raise DownloadError(self.file.name, "", reason) from None

    def close(self) -> None:
        """Keeps the bytes on the disk, so that the next process can continue the download."""

    def discard(self) -> None:
        for path in (self.part, self._whole, self._note):
            path.unlink(missing_ok=True)

    def _open(self) -> BinaryIO:
        return (self._whole if self.is_finished else self.part).open("rb")

    def finish(self) -> str:
        """Renames the file to its final name and syncs it, so that it survives a power loss.

        Returns the final path.
        """
        with self._telling():
            write_files.sync(self.part)
            self.part.replace(self._whole)
            write_files.sync(self._whole.parent)
        return self.path


_SENT_BYTES = 1 << 25
"""Number of bytes in one request to the store. They are kept in memory until the request is sent.

S3 allows 10,000 requests for one object, so an object can have at most 335 GB.
"""


def give_up_uploads(path: str) -> None:
    """Removes unfinished uploads, which killed processes have left on the object store.

    Errors are only logged.

    Args:
      path: The beginning of the paths of the uploads to remove.
    """
    try:
        drop_uploads(path)
    except Exception as error:  # the account may lack the permission to list uploads
        logging.getLogger(__name__).warning(
            "%s: unfinished uploads could not be removed: %s", path, refusal_of(error)
        )


class StoredPart(PartFile):
    """A `PartFile` on an object store. Its methods raise DownloadError for errors of the store."""

    is_finished = False
    bytes_there = 0
    note: Note | None = None

    def __init__(self, folder: str, file: RemoteFile):
        super().__init__(folder, file)
        self._part = f"{self.path}.part"
        self._note_path: str = FileSystems.join(folder, f".{file.name}.json")
        self._stream: BinaryIO | None = None  # the upload
        with self._telling():
            if found := read_object(self._note_path):
                self.note = decode_note(found.content)
            self.is_finished = self.note is not None and is_there(self.path)
            self.bytes_there = file_bytes_of(self.path) if self.is_finished else 0
        if not self.is_finished:
            self._forget()

    def _forget(self) -> None:
        """Resets this object, as if no bytes had been received."""
        self.is_finished, self.note, self.bytes_there = False, None, 0
        self._unsent = bytearray()
        self._hash = hashlib.new(self.file.checksum.partition(":")[0] or "sha256")

    def free_bytes(self) -> None:
        return None

    def begin(self, note: Note) -> None:
        with self._telling():
            self._drop()
            give_up_uploads(self._part)
        self.note = note

    @contextlib.contextmanager
    def appending(self) -> Iterator[Callable[[bytes], None]]:
        yield self._append

    def _append(self, data: bytes) -> None:
        self._hash.update(data)
        self._unsent += data
        self.bytes_there += len(data)
        if len(self._unsent) >= _SENT_BYTES:
            self._send()

    def _send(self) -> None:
        with self._telling():
            if self._stream is None:
                plain = CompressionTypes.UNCOMPRESSED
                self._stream = cast(
                    BinaryIO, FileSystems.create(self._part, compression_type=plain)
                )
            self._stream.write(self._unsent)
        self._unsent = bytearray()

    def _end_upload(self) -> None:
        """Completes the upload, so that `<name>.part` has all bytes. Raises DownloadError if bytes are
        missing.
        """
        if self._unsent:
            self._send()
        with self._telling():
            if self._stream is not None:
                self._stream.close()
                self._stream = None
            # An upload that was cut off before it was ended leaves an incomplete object.
            if (arrived := file_bytes_of(self._part)) != self.bytes_there:
                raise StoreError(
                    self._part, f"has {arrived:,} bytes, expected {self.bytes_there:,}"
                )

    def _drop(self) -> None:
        """Abandons the upload: completes it and deletes the object, because Beam cannot cancel an upload."""
        stream, self._stream = self._stream, None
        self._forget()
        if stream is not None:
            with write_files.errors_logged():
                stream.close()
        write_files.remove_if_there(self._part)

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        """Replaces errors of the object store in the `with` block by a DownloadError."""
        try:
            yield
        except (StoreError, InputError) as error:
            raise DownloadError(self.file.name, "", str(error)) from error
        except Exception as error:  # libraries of stores raise many types of errors
            raise DownloadError(self.file.name, "", f"{self._part}: {refusal_of(error)}") from error

    def discard(self) -> None:
        with self._telling():
            self._drop()
            for path in (self.path, self._note_path):
                write_files.remove_if_there(path)

    def close(self) -> None:
        if not self.is_finished:
            with write_files.errors_logged():
                self._drop()

    def _digest(self, kind: str, check: Callable[[], None]) -> str:
        """Returns the hexadecimal digest of the stored bytes (see PartFile).

        A finished object is not read again if the store's own checksum shows that it is unchanged.
        """
        if not self.is_finished:
            return self._hash.hexdigest()
        if (note := self.note) and note.stored and note.checksum == self.file.checksum:
            with self._telling():
                if note.stored == FileSystems.checksum(self.path):
                    return note.checksum.partition(":")[2].lower()
        return super()._digest(kind, check)

    def _open(self) -> BinaryIO:
        if not self.is_finished:
            self._end_upload()
        with self._telling():
            return open_raw(self.path if self.is_finished else self._part)

    def finish(self) -> str:
        self._end_upload()
        note = cast(Note, self.note)
        with self._telling():
            self._write_note(note)  # before the rename: every finished object has a note
            FileSystems.rename([self._part], [self.path])
            self._write_note(
                msgspec.structs.replace(note, stored=str(FileSystems.checksum(self.path)))
            )
        self.is_finished = True
        return self.path

    def _write_note(self, note: Note) -> None:
        write_files.write_whole(self._note_path, note.encode())
        self.note = note
