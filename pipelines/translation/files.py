"""Files of a project: read with errors that name them, written so that a killed process leaves none half."""

import contextlib
import hashlib
import os
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any

from pipelines.builds import file_lock
from pipelines.builds.disk_sync import sync
from pipelines.builds.publish import TargetError
from transforms.files.open_input import InputError, check_regular
from transforms.text.translation.records import ReadError


def read_bytes(path: pathlib.Path) -> bytes:
    """The file. Raises InputError where it cannot be read, or is a pipe or a device."""
    check_regular(str(path))
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(str(path), error.strerror or str(error)) from None


def read_text(path: pathlib.Path) -> str:
    """The file as UTF-8, line ends as they are. Raises InputError."""
    return decode(str(path), read_bytes(path))


def decode(path: str, data: bytes) -> str:
    """UTF-8 → text, line ends as they are. Raises InputError that names the line."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(path, f"line {line}: byte {data[error.start]:#04x} is not UTF-8") from None


@contextlib.contextmanager
def naming(path: str | pathlib.Path) -> Iterator[None]:
    """Raises InputError, which names the file, for a ReadError inside the block."""
    try:
        yield
    except ReadError as error:
        place = f"{path}, line {error.line}" if error.line else str(path)
        raise InputError(place, error.message) from None


def describe(path: pathlib.Path, data: bytes) -> dict[str, Any]:
    """The facts of a file that came in."""
    return {"name": path.name, "bytes": len(data), "sha256": sha256_of(data)}


def sha256_of(data: bytes) -> str:
    """In hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def fill_folder(folder: pathlib.Path, files: Mapping[str, bytes]) -> None:
    """Writes new files, name → bytes, and waits until the disk has them. Names may have one folder."""
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
    """Raises TargetError where a folder has other files of these names: nothing is overwritten."""
    paths = {pathlib.Path(folder) / name: data for name, data in files.items()} if folder else {}
    taken = [path.name for path, data in paths.items() if not _is_free(path, data)]
    if taken:
        raise TargetError(f"{folder} has another {', '.join(taken)} already; take another --to")


def _is_free(path: pathlib.Path, data: bytes) -> bool:
    return not path.exists() or (path.is_file() and path.read_bytes() == data)


def put_copies(folder: str, files: Mapping[str, bytes]) -> list[str]:
    """Copies files, name → bytes, into a folder that may have to be made; returns their paths.

    None is there half, none is overwritten; one that is there already stays. Raises TargetError.
    """
    place = pathlib.Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with file_lock.locked(place, waits=True):
            check_copies(folder, files)
            for name, data in files.items():
                _put(place / name, data)
    except FileExistsError:
        raise TargetError(
            f"{folder}: another process writes there, or it is not a folder"
        ) from None
    except OSError as error:
        raise TargetError(f"{folder}: {error.strerror}") from None
    return [str(place / name) for name in files]


def _put(path: pathlib.Path, data: bytes) -> None:
    """Writes a file unless it is there. The folder is locked."""
    beside = path.with_name(f".{path.name}.part")
    beside.unlink(missing_ok=True)  # a killed process has left it
    if path.exists():
        return
    try:
        beside.write_bytes(data)
        os.link(beside, path)  # fails where the name is taken; a rename would replace it
    finally:
        beside.unlink(missing_ok=True)
