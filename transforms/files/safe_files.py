"""Writes files atomically: after a kill or a power failure, a file is either complete or missing."""

import io
import os
import pathlib
import uuid

from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.disk_sync import sync
from corpusmill.transforms.files.open_input import is_there, open_raw
from corpusmill.transforms.files.stores import is_local, not_written, read_object, write_object


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
    if not is_there(path):
        return None
    with open_raw(path) as stream:
        return stream.read().decode("utf-8", "replace")


def remove_if_there(path: str) -> bool:
    """Removes a file; returns False if it does not exist."""
    found = bool(FileSystems.exists(path))
    if found:
        FileSystems.delete([path])
    return found
