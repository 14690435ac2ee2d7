"""Reads and writes files of a project. Errors name the file; a killed process leaves no incomplete file."""

import contextlib
import hashlib
import os
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any

from corpusmill.pipelines.run.publish import TargetError
from corpusmill.transforms.files import file_lock
from corpusmill.transforms.files.disk_sync import sync
from corpusmill.transforms.files.open_input import InputError, check_regular
from corpusmill.transforms.files.translation_records import ReadError


def read_bytes(path: pathlib.Path) -> bytes:
    """Reads a file. Raises InputError if it cannot be read, or is a pipe or a device."""
    check_regular(str(path))
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(str(path), error.strerror or str(error)) from None


def read_text(path: pathlib.Path) -> str:
    """Reads a UTF-8 file without changing line ends. Raises InputError if it cannot be read or decoded."""
    return decode(str(path), read_bytes(path))


def decode(path: str, data: bytes) -> str:
    """Decodes UTF-8 without changing line ends. Raises InputError with the line of the first invalid byte."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(path, f"line {line}: byte {data[error.start]:#04x} is not UTF-8") from None


@contextlib.contextmanager
def naming(path: str | pathlib.Path) -> Iterator[None]:
    """Replaces a ReadError in the `with` block by an InputError that names the file."""
    try:
        yield
    except ReadError as error:
        place = f"{path}, line {error.line}" if error.line else str(path)
        raise InputError(place, error.message) from None


def describe(path: pathlib.Path, data: bytes) -> dict[str, Any]:
    """Returns the name, size and SHA-256 of a received file, for an entry of the journal."""
    return {"name": path.name, "bytes": len(data), "sha256": sha256_of(data)}


def sha256_of(data: bytes) -> str:
    """Returns the SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def fill_folder(folder: pathlib.Path, files: Mapping[str, bytes]) -> None:
    """Writes new files to a folder, and syncs them to the disk.

    Args:
      files: name → content. A name may contain one subfolder.
    """
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    for place in {folder, *((folder / name).parent for name in files)}:
        sync(place)


def check_copies(folder: str, files: Mapping[str, bytes]) -> None:
    """Raises TargetError if a folder has a file with the same name as one of `files`, but with
    other content.
    """
    paths = {pathlib.Path(folder) / name: data for name, data in files.items()} if folder else {}
    taken = [path.name for path, data in paths.items() if not _is_free(path, data)]
    if taken:
        raise TargetError(
            f"{folder} already contains a different {', '.join(taken)}; use another folder with --to"
        )


def _is_free(path: pathlib.Path, data: bytes) -> bool:
    return not path.exists() or (path.is_file() and path.read_bytes() == data)


def put_copies(folder: str, files: Mapping[str, bytes]) -> list[str]:
    """Writes copies of files to a folder, which is created if missing. Returns the paths of the copies.

    Each file is written atomically. Existing files are never overwritten.

    Args:
      files: name → content.

    Raises TargetError if the folder has a file with the same name and other content, or cannot be written.
    """
    place = pathlib.Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with file_lock.locked(place, waits=True):
            check_copies(folder, files)
            for name, data in files.items():
                _put(place / name, data)
    except FileExistsError:
        raise TargetError(f"{folder}: not a folder, or another process is writing to it") from None
    except OSError as error:
        raise TargetError(f"{folder}: {error.strerror}") from None
    return [str(place / name) for name in files]


def _put(path: pathlib.Path, data: bytes) -> None:
    """Writes a file unless it exists. The caller must hold the lock of the folder."""
    beside = path.with_name(f".{path.name}.part")
    beside.unlink(missing_ok=True)  # left by a killed process
    if path.exists():
        return
    try:
        beside.write_bytes(data)
        os.link(beside, path)  # fails if the name is taken; a rename would replace the file
    finally:
        beside.unlink(missing_ok=True)
