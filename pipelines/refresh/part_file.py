"""A file that is being fetched: `<name>.part` until it is checked, then `<name>`.

Beside it a hidden note says which version the bytes are of, so that nothing of another version is added to
them. The note stays, and tells where the file came from.
"""

import contextlib
import errno
import hashlib
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from io import FileIO
from pathlib import Path

import msgspec

from pipelines.builds.disk_sync import sync
from pipelines.refresh.remote import DiskFullError, DownloadError, RemoteFile, hide_passwords

_FULL = (errno.ENOSPC, errno.EDQUOT)
_MAGIC = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\0", ".zst": b"\x28\xb5\x2f\xfd"}
_WEB_PAGE = re.compile(rb"\s*<(?:!doctype html|html)\b", re.IGNORECASE)
_DIGESTS = ("sha1", "sha256", "md5")
_HASHED_BYTES = 1 << 22  # at once


class Note(msgspec.Struct, frozen=True):
    """What the server said of the version that is being fetched."""

    url: str  # without passwords
    etag: str
    last_modified: str
    checksum: str  # as RemoteFile has it
    size: int  # bytes; -1 unknown

    @property
    def validator(self) -> str:
        """What If-Range can be asked with; a weak ETag does not promise the same bytes."""
        return self.last_modified if self.etag.startswith("W/") else self.etag or self.last_modified


class PartFile:
    """The file in a folder, as far as it has come."""

    def __init__(self, folder: Path, file: RemoteFile):
        if Path(file.name).name != file.name or file.name.startswith("."):
            raise ValueError(f"{file.name!r} is no name of a file")
        if file.checksum and file.checksum.partition(":")[0] not in _DIGESTS:
            raise ValueError(f"{file.name}: no known kind of checksum: {file.checksum!r}")
        self.file = file
        self.path = folder / file.name
        self.part = folder / f"{file.name}.part"
        self._note = folder / f".{file.name}.json"

    @property
    def bytes_there(self) -> int:
        """So many bytes are there; of a finished file all."""
        for path in (self.path, self.part):
            if path.exists():
                return path.stat().st_size
        return 0

    @property
    def note(self) -> Note | None:
        """What is known of the bytes that are there; None where that is nothing."""
        try:
            return msgspec.json.decode(self._note.read_bytes(), type=Note)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None

    def headers_to_resume(self, url: str) -> Mapping[str, str]:
        """What to ask for to go on where the bytes end; nothing where that cannot be right."""
        note, have = self.note, self.bytes_there
        known = (self.file.checksum, self.file.size)
        if not have or note is None or (note.checksum, note.size) != known:
            return {}
        wanted = {"Range": f"bytes={have}-"}
        if note.url == hide_passwords(url) and note.validator:
            return wanted | {"If-Range": note.validator}
        # The checksum says in the end whether the bytes of several mirrors belong together.
        return wanted if self.file.checksum else {}

    def begin(self, note: Note) -> None:
        """From here on the bytes are of this version; those of others go."""
        self.part.unlink(missing_ok=True)
        temporary = self._note.with_suffix(".new")
        content = json.dumps(msgspec.structs.asdict(note), indent=1) + "\n"
        with self._telling():
            temporary.write_text(content, "utf-8")
            temporary.replace(self._note)

    def append(self, stream: FileIO, data: bytes) -> None:
        """Writes to the stream of `open`. Raises DiskFullError, and DownloadError for a broken disk."""
        view = memoryview(data)
        with self._telling():
            while view:
                view = view[stream.write(view) :]

    def open(self) -> FileIO:
        """Opens for appending, without a buffer: what was written is there even where the disk is full."""
        with self._telling():
            return self.part.open("ab", buffering=0)

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        """Raises DiskFullError and DownloadError for what a disk refuses inside the block."""
        try:
            yield
        except OSError as error:
            if error.errno in _FULL:
                raise self.describe_full(f"no space is left in {self.part.parent}") from None
            reason = f"{error.filename or self.part}: {error.strerror}"
            raise DownloadError(self.file.name, "", reason) from None

    def describe_full(self, reason: str) -> DiskFullError:
        """The error for a disk without room for the rest."""
        right = f" of {self.file.size:,}" if self.file.size >= 0 else ""
        kept = f"{self.bytes_there:,}{right} bytes are there, and the next attempt goes on"
        return DiskFullError(self.file.name, "", f"{reason}; {kept}")

    def discard(self) -> None:
        """Removes what there is."""
        for path in (self.part, self.path, self._note):
            path.unlink(missing_ok=True)

    def fault(self, check: Callable[[], None] = lambda: None) -> str:
        """Why what is there is not the file; "" where it is, as far as can be known.

        Args:
          check: is called again and again, and may raise: to read a large file takes minutes.
        """
        path = self.path if self.path.exists() else self.part
        if not path.exists():
            return "is not there"
        size = path.stat().st_size
        if self.file.size >= 0 and size != self.file.size:
            return f"has {size:,} bytes, {self.file.size:,} are right"
        if not size:
            return "is empty"
        return self._fault_of_version(path, check) or _fault_of_format(path, self.file.name)

    def _fault_of_version(self, path: Path, check: Callable[[], None]) -> str:
        if not self.file.checksum:
            note = self.note
            is_first = note and note.url == hide_passwords(self.file.urls[0])
            found = note.etag if note and is_first else ""
            is_other = found and self.file.etag and found != self.file.etag
            return "is another version than the one that was found" if is_other else ""
        kind, _, right = self.file.checksum.partition(":")
        digest = hashlib.new(kind)
        with path.open("rb", buffering=0) as stream:
            while data := stream.read(_HASHED_BYTES):
                check()
                digest.update(data)
        found = digest.hexdigest()
        return "" if found == right.lower() else f"has the {kind} {found}, {right} is right"

    def finish(self) -> Path:
        """Gives the checked file its name, so that it is there after a loss of power, too."""
        with self._telling():
            sync(self.part)
            self.part.replace(self.path)
            sync(self.path.parent)
        return self.path


def _fault_of_format(path: Path, name: str) -> str:
    """Why a file is not of the format that its name says, as far as its first bytes tell; "" where it is."""
    suffix = Path(name).suffix
    if suffix == ".zip":
        try:
            with zipfile.ZipFile(path) as archive:
                return "" if archive.namelist() else "is an archive without files"
        except (zipfile.BadZipFile, OSError) as error:
            return f"cannot be opened: {error}"
    with path.open("rb") as stream:
        head = stream.read(1024)
    if not head.startswith(_MAGIC.get(suffix, b"")):
        return f"is no {suffix} file"
    return "is a web page" if _WEB_PAGE.match(head) else ""
