"""A file that is being downloaded directly to an object store, without a copy on a disk.

The bytes are hashed while they are sent to `<name>.part` in one upload. If the connection to the dump server
is lost, the same upload continues. After the check, the store copies the object to `<name>`. If the process
is killed, the upload is lost and the download starts again.
"""

import contextlib
import hashlib
import logging
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

import msgspec
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from corpusmill.pipelines.refresh.part_file import Note, PartFile, decode_note, digest_of
from corpusmill.pipelines.refresh.remote import DownloadError, RemoteFile
from corpusmill.transforms.files.beam_stores import drop_uploads
from corpusmill.transforms.files.clean_up import errors_logged
from corpusmill.transforms.files.open_input import InputError, file_bytes_of, is_there, open_raw
from corpusmill.transforms.files.safe_files import remove_if_there, write_whole
from corpusmill.transforms.files.stores import StoreError, read_object, refusal_of

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

    def __init__(self, folder: str, file: RemoteFile):
        super().__init__(folder, file)
        self._part = f"{self.path}.part"
        self._note_path: str = FileSystems.join(folder, f".{file.name}.json")
        self._note: Note | None = None
        self._stream: BinaryIO | None = None  # the upload
        with self._telling():
            self._note = self._read_note()
            self._is_finished = self._note is not None and is_there(self.path)
            self._bytes_there = file_bytes_of(self.path) if self._is_finished else 0
        if not self._is_finished:
            self._forget()

    def _forget(self) -> None:
        """Resets this object, as if no bytes had been received."""
        self._is_finished, self._note, self._bytes_there = False, None, 0
        self._unsent = bytearray()
        kind = self.file.checksum.partition(":")[0]
        self._hash = hashlib.new(kind or "sha256")

    def _read_note(self) -> Note | None:
        found = read_object(self._note_path)
        return decode_note(found.content) if found else None

    @property
    def is_finished(self) -> bool:
        return self._is_finished

    @property
    def bytes_there(self) -> int:
        return self._bytes_there

    @property
    def note(self) -> Note | None:
        return self._note

    def free_bytes(self) -> None:
        return None

    def begin(self, note: Note) -> None:
        with self._telling():
            self._drop()
            give_up_uploads(self._part)
        self._note = note

    @contextlib.contextmanager
    def appending(self) -> Iterator[Callable[[bytes], None]]:
        yield self._append

    def _append(self, data: bytes) -> None:
        self._hash.update(data)
        self._unsent += data
        self._bytes_there += len(data)
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
            if (arrived := file_bytes_of(self._part)) != self._bytes_there:
                raise StoreError(
                    self._part, f"has {arrived:,} bytes, expected {self._bytes_there:,}"
                )

    def _drop(self) -> None:
        """Abandons the upload: completes it and deletes the object, because Beam cannot cancel an upload."""
        stream, self._stream = self._stream, None
        self._forget()
        if stream is not None:
            with errors_logged():
                stream.close()
        remove_if_there(self._part)

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        """Replaces errors of the object store in the `with` block by a DownloadError."""
        try:
            yield
        except (StoreError, InputError) as error:
            raise DownloadError(self.file.name, "", str(error)) from error
        except Exception as error:  # libraries of stores raise many types of errors
            reason = f"{self._part}: {refusal_of(error)}"
            raise DownloadError(self.file.name, "", reason) from error

    def discard(self) -> None:
        with self._telling():
            self._drop()
            for path in (self.path, self._note_path):
                remove_if_there(path)

    def close(self) -> None:
        if not self._is_finished:
            with errors_logged():
                self._drop()

    def _digest(self, kind: str, check: Callable[[], None]) -> str:
        """Returns the hexadecimal digest of the stored bytes. `kind` and `check` are as in `digest_of`.

        A finished object is not read again if the store's own checksum shows that it is unchanged.
        """
        if not self._is_finished:
            return self._hash.hexdigest()
        note = self._note
        if note and note.stored and note.checksum == self.file.checksum:
            with self._telling():
                if note.stored == FileSystems.checksum(self.path):
                    return note.checksum.partition(":")[2].lower()
        with self._open() as stream:
            return digest_of(stream, kind, check)

    def _open(self) -> BinaryIO:
        if not self._is_finished:
            self._end_upload()
        with self._telling():
            return open_raw(self.path if self._is_finished else self._part)

    def finish(self) -> str:
        self._end_upload()
        note = cast(Note, self._note)
        with self._telling():
            self._write_note(note)  # before the rename: every finished object has a note
            FileSystems.rename([self._part], [self.path])
            self._write_note(
                msgspec.structs.replace(note, stored=str(FileSystems.checksum(self.path)))
            )
        self._is_finished = True
        return self.path

    def _write_note(self, note: Note) -> None:
        write_whole(self._note_path, note.encode())
        self._note = note
