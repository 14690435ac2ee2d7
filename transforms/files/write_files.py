"""Writes, syncs, locks and removes files, on any Beam file system.

Files are hashed while they are written, and become visible only when they are complete.

Locks files or folders for processes on one machine. A lock is released when its process ends.

Runs work, such as drawing a display or renewing a lock, in another thread during a `with` block.

Writes files atomically: after a kill or a power failure, a file is either complete or missing.

Keeps the temporary files of a command in one folder.

The folder is in the system's temporary folder (`TMPDIR`), and is locked while the command runs. If the
command is killed, the next command removes the folder.
"""

import contextlib
import errno
import fcntl
import hashlib
import io
import logging
import os
import pathlib
import re
import shutil
import tempfile
import threading
import time
import types
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO, Self

import pyarrow as pa
from apache_beam.io.filesystem import BeamIOError
from apache_beam.io.filesystems import FileSystems

from .errors import BuildError
from .formats import FORMATS, PARQUET
from .read_files import InputError, is_there, read_raw
from .records import OutputFile
from .stores import is_local, named_in_errors, not_written, read_object, refusal_of, write_object

NO_MARKS: Mapping[str, str] = types.MappingProxyType({})
_UNFINISHED = ".part"


class HashedFile(io.RawIOBase):
    """A new file. Computes the SHA-256 and the size of its content while it is written.

    The file becomes visible when it is closed, or when a `with` block ends without an error. Otherwise it
    never exists under its name. So two workers may safely write the same file, for example if a runner
    falsely assumed that one of them was lost.

    Raises StoreError if the disk is full or fails.
    """

    def __init__(self, path: str):
        super().__init__()
        self._path = path
        self._is_local = is_local(path)
        self._waiting = _waiting_file(path) if self._is_local else _temporary_file()
        with named_in_errors(self._waiting):
            self._file: BinaryIO = self._waiting.open("wb")
        self._hash = hashlib.sha256()
        self._bytes = 0

    @classmethod
    def in_folder(cls, folder: str, name: str) -> Self:
        """Creates a new file of a build; `name` may contain folders.

        Raises FileNotFoundError if a local `folder` was removed, so that a worker that outlives its build
        does not create the folder again.
        """
        if is_local(folder):
            _make_folders(folder, name)
        return cls(FileSystems.join(folder, *name.split("/")))

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._hash.update(data)
        self._bytes += len(data)
        with named_in_errors(self._waiting):
            self._file.write(data)
        return len(data)

    def tell(self) -> int:
        return self._bytes

    def close(self) -> None:
        if not self.closed:
            super().close()
            try:
                with named_in_errors(self._waiting):
                    self._file.close()
                self._put_in_place()
            finally:
                self._waiting.unlink(missing_ok=True)

    def discard(self) -> None:
        """Closes the file and removes it, so that it never becomes visible."""
        if not self.closed:
            super().close()
            with contextlib.suppress(OSError):  # a full disk was already reported
                self._file.close()
            self._waiting.unlink(missing_ok=True)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind:
            self.discard()
        else:
            self.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.discard()

    def _put_in_place(self) -> None:
        if self._is_local:
            self._waiting.replace(self._path)
            return
        with self._waiting.open("rb") as content:
            write_object(self._path, content, self._bytes)

    def output_file(self, name: str, split: str, kind: str, records: int) -> OutputFile:
        """Returns the description of the written file for the manifest.

        Args:
          name: name of the file in the build.
          split: the split to which it belongs; "" for none.
          kind: its format, such as "parquet".
          records: number of its records.
        """
        return OutputFile(name, split, kind, records, self._bytes, self._hash.hexdigest())


def _waiting_file(path: str) -> pathlib.Path:
    """Returns the temporary path under which a file is written before it is renamed to `path`.

    The temporary file is in the same folder.
    """
    place = pathlib.Path(path)
    return place.with_name(f".{place.name}.{uuid.uuid4().hex}{_UNFINISHED}")


def _temporary_file() -> pathlib.Path:
    descriptor, name = tempfile.mkstemp(prefix="corpusmill-")
    os.close(descriptor)
    return pathlib.Path(name)


def _make_folders(folder: str, name: str) -> None:
    """Creates the subfolders that are part of `name`, but not `folder` itself."""
    below = pathlib.Path(folder)
    if not below.is_dir():
        raise FileNotFoundError(f"{folder} no longer exists: the build has already ended")
    for part in name.split("/")[:-1]:
        below /= part
        below.mkdir(exist_ok=True)


def remove_unfinished(folder: pathlib.Path) -> None:
    """Removes the unfinished files that killed workers have left below a folder."""
    for path in folder.rglob(f".*{_UNFINISHED}"):
        path.unlink(missing_ok=True)


class RowFile:
    """A new file of a build with rows, written one batch at a time.

    Args:
      folder: output folder of the build.
      name: name of the file; may contain folders.
      schema: schema of the rows.
      kind: its format, a key of FORMATS.
      encoding: further arguments of ParquetWriter.
    """

    def __init__(
        self, folder: str, name: str, schema: pa.Schema, kind: str = PARQUET, **encoding: Any
    ):
        self._file = HashedFile.in_folder(folder, name)
        wrap = FORMATS[kind].wrap
        self._writer = wrap(self._file, schema, **encoding) if wrap else None
        self.write = (self._writer or self._file).write
        """Writes a piece: a table becomes a row group of a Parquet file; other formats have bytes."""
        self.output_file = self._file.output_file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if self._writer:
                self._writer.close()
        except BaseException:
            self._file.discard()
            raise
        self._file.__exit__(kind)


def mark(schema: pa.Schema, marks: Mapping[str, str]) -> pa.Schema:
    """Returns a copy of a schema with `marks` as its key-value metadata.

    The prefix "corpusmill." is added to each key.
    """
    if not marks:
        return schema
    return schema.with_metadata({f"corpusmill.{name}": text for name, text in marks.items()})


def write_parquet(folder: str, name: str, split: str, table: pa.Table) -> OutputFile:
    """Writes a table to a Parquet file of a build. `split` is the split of the file in the manifest."""
    with RowFile(folder, name, table.schema) as file:
        file.write(table)
    return file.output_file(name, split, PARQUET, table.num_rows)


def write_file(
    folder: str, name: str, pieces: Iterable[bytes], kind: str, records: int = 0, split: str = ""
) -> OutputFile:
    """Writes a file of a build in pieces.

    `kind`, `records` and `split` are the format of the file, its number of records and its split, as listed
    in the manifest.
    """
    with HashedFile.in_folder(folder, name) as file:
        for piece in pieces:
            file.write(piece)
    return file.output_file(name, split, kind, records)


def write_text(
    folder: str, name: str, text: str, kind: str = "text", records: int = 0
) -> OutputFile:
    """Writes a small UTF-8 file of a build.

    `kind` and `records` are the format of the file and its number of records, as listed in the manifest.
    """
    return write_file(folder, name, [text.encode("utf-8")], kind, records)


def sync(path: pathlib.Path) -> None:
    """Waits until the contents of a file, or the entries of a folder, are on the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def locked(
    path: str | pathlib.Path, *, waits: bool = False, flags: int = os.O_RDONLY
) -> Iterator[int]:
    """Locks a file or folder during the `with` block. Yields its open file descriptor.

    Args:
      waits: Whether to wait if another process has locked the path. If False, raises BlockingIOError then.
      flags: The flags for os.open, which raises OSError if it cannot open the path.
    """
    descriptor = os.open(path, flags, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def errors_logged() -> Iterator[None]:
    """Logs errors of disks and object stores in the `with` block, instead of raising them."""
    log = logging.getLogger(__name__)
    try:
        yield
    except BeamIOError as error:
        log.warning("files that are no longer needed were not removed: %s", refusal_of(error))
    except (OSError, InputError) as error:  # StoreError is an OSError
        log.warning("files that are no longer needed were not removed: %s", error)


def remove_busy(folder: pathlib.Path, seconds: float) -> bool:
    """Removes a folder to which workers of a killed build may still be writing.

    The workers stop when they notice that the build has ended. Until then, the removal is repeated, for at
    most `seconds`.

    Returns False if the folder still exists at the end.
    """
    end = time.monotonic() + seconds
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)
        if time.monotonic() > end:
            break
        time.sleep(0.01)
    return not folder.exists()


@contextlib.contextmanager
def beside(work: Callable[[threading.Event], object]) -> Iterator[None]:
    """Runs `work` in another thread during the `with` block. At the end, waits until it has returned.

    Args:
      work: Function with an event as its argument. The event is set at the end of the `with` block; the
        function must then return.
    """
    is_over = threading.Event()
    thread = threading.Thread(target=work, args=(is_over,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def write_whole(path: str | pathlib.Path, content: bytes) -> None:
    """Writes a file or an object in a store. An existing file is replaced. Only one process at a time may
    write the file.

    If StoreError is raised, the old file is unchanged and no temporary file is left.
    """
    if not is_local(str(path)):
        write_object(str(path), io.BytesIO(content), len(content))
        return
    path = pathlib.Path(path)
    beside = path.with_name(f".{path.name}.part")  # overwrites the file of a killed process
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise not_written(path, error) from error
    sync(path.parent)


def make_beside(folder: pathlib.Path, prefix: str) -> pathlib.Path:
    """Makes a folder in `folder`, with a new name that begins with `prefix`. Returns its path.

    The permissions of the new folder follow the umask, unlike those of a folder from tempfile.mkdtemp.
    """
    made = folder / f"{prefix}{uuid.uuid4().hex[:8]}"
    made.mkdir()
    return made


def read_bytes_if_there(path: str) -> bytes | None:
    """Returns the contents of a small file; None if it does not exist.

    Raises OSError, such as StoreError, if it cannot be read.
    """
    if not is_local(path):
        seen = read_object(path)
        return seen.content if seen else None
    try:
        return pathlib.Path(path).read_bytes()
    except FileNotFoundError:
        return None


def read_if_there(path: str) -> str | None:
    """Returns the text of a file; None if it does not exist. Raises OSError if the disk cannot be read."""
    return read_raw(path).decode("utf-8", "replace") if is_there(path) else None


def remove_if_there(path: str) -> bool:
    """Removes a file; returns False if it does not exist."""
    if found := bool(FileSystems.exists(path)):
        FileSystems.delete([path])
    return found


VARIABLE = "TMPDIR"
_PREFIX = "corpusmill-temporary-"
_NAME = re.compile(_PREFIX + "[0-9a-f]{12}")
_PRIVATE = 0o700
_NO_LINK = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_NO_LOCKS = (errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP)  # NFS cannot lock folders


@contextlib.contextmanager
def temporary_files() -> Iterator[None]:
    """Puts all temporary files of this process and its children into one folder during the `with` block.

    At the beginning, removes the folders that killed commands of this user have left. At the end, removes the
    folder of this process. Raises BuildError if the folder cannot be made.
    """
    top, variable = tempfile.tempdir, os.environ.get(VARIABLE)
    with contextlib.ExitStack() as lock:
        folder = _make_folder(lock)
        tempfile.tempdir = os.environ[VARIABLE] = str(folder)
        try:
            yield
        finally:
            tempfile.tempdir = top
            del os.environ[VARIABLE]
            if variable is not None:
                os.environ[VARIABLE] = variable
            shutil.rmtree(folder, ignore_errors=True)


def _make_folder(lock: contextlib.ExitStack) -> pathlib.Path:
    try:
        top = pathlib.Path(tempfile.gettempdir())
        remove_dead(top)
        while True:
            folder = top / f"{_PREFIX}{uuid.uuid4().hex[:12]}"
            folder.mkdir(_PRIVATE)
            try:
                lock.enter_context(locked(folder, waits=True, flags=_NO_LINK))
            except FileNotFoundError:  # another command removed the folder before it was locked
                continue
            except OSError as error:
                if error.errno not in _NO_LOCKS:
                    raise  # without locks, no command removes the folder of another command
            if folder.exists():
                return folder
    except OSError as error:
        raise BuildError(
            f"cannot create a folder for temporary files: {error};"
            f" set {VARIABLE} to a folder with free space"
        ) from None


def remove_dead(top: pathlib.Path) -> None:
    """Removes the folders of this user's commands in `top`, if the commands are no longer running."""
    for folder in top.glob(f"{_PREFIX}*"):
        if _NAME.fullmatch(folder.name):
            # An OSError: the command is running, this is not a folder, or it belongs to another user.
            with (
                contextlib.suppress(OSError),
                locked(folder, flags=_NO_LINK) as descriptor,
            ):
                if os.fstat(descriptor).st_uid == os.geteuid():
                    shutil.rmtree(folder, ignore_errors=True)
