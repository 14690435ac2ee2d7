"""A file that is being downloaded to a disk. It is named `<name>.part` until it is checked, then `<name>`.

A hidden file in the same folder, called the note, describes the version that is being downloaded. If the
process is killed, the bytes downloaded so far remain, and the next process resumes the download.
"""

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from corpusmill.pipelines.refresh.part_file import Note, PartFile, decode_note, digest_of
from corpusmill.pipelines.refresh.remote import DownloadError, RemoteFile
from corpusmill.transforms.files import full_disk
from corpusmill.transforms.files.disk_sync import sync


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
        for path in (self._whole, self.part):
            if path.exists():
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
            if error.errno in full_disk.NUMBERS:
                raise self.describe_full(f"no space is left in {self.folder}") from None
            reason = f"{error.filename or self.part}: {error.strerror}"
            raise DownloadError(self.file.name, "", reason) from None

    def close(self) -> None:
        """Keeps the bytes on the disk, so that the next process can continue the download."""

    def discard(self) -> None:
        for path in (self.part, self._whole, self._note):
            path.unlink(missing_ok=True)

    def _digest(self, kind: str, check: Callable[[], None]) -> str:
        with self._open() as stream:
            return digest_of(stream, kind, check)

    def _open(self) -> BinaryIO:
        return (self._whole if self.is_finished else self.part).open("rb")

    def finish(self) -> str:
        """Renames the file to its final name and syncs it, so that it survives a power loss.

        Returns the final path.
        """
        with self._telling():
            sync(self.part)
            self.part.replace(self._whole)
            sync(self._whole.parent)
        return self.path
