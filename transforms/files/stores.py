"""What disks do by themselves, for object stores too: whole files, folders that go, reasons in one line."""

import glob
import shutil
from typing import Any, BinaryIO

from apache_beam.io.filesystem import BeamIOError, CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.io.localfilesystem import LocalFileSystem

from transforms.files.s3_clients import keep_clients

keep_clients()  # in every process: all that touch a store import this module

COPIED_BYTES = 1 << 23  # at once: what a store gets in one request has 5 MiB at least
_NOT_ALLOWED = (401, 403)
_NOT_FOUND = 404


class StoreError(OSError):
    """An object store does not do what it should; the message names the path."""

    def __init__(self, path: str, message: str):
        super().__init__(f"{path}: {message}")
        self.path, self.message = path, message

    def __reduce__(self) -> tuple[object, ...]:
        return StoreError, (self.path, self.message)


def is_local(path: str) -> bool:
    """Whether a path is on a disk of this machine."""
    return isinstance(FileSystems.get_filesystem(path), LocalFileSystem)


def refusal_of(error: BaseException) -> str:
    """One line that says why a store refuses: its libraries raise errors of many kinds."""
    cause = _innermost(error)
    status = _status_of(cause)
    said = " ".join(str(cause).split()) or type(cause).__name__
    if status == _NOT_FOUND:
        return "no such file or bucket"
    if status in _NOT_ALLOWED:
        return f"access is denied: {said}"
    return f"the store fails: {said}"


def _innermost(error: BaseException) -> BaseException:
    """What Beam has wrapped."""
    if isinstance(error, BeamIOError) and error.exception_details:
        for detail in error.exception_details.values():
            if isinstance(detail, BaseException):
                return _innermost(detail)
    return error


def _status_of(error: BaseException) -> int | None:
    """Of HTTP; where there is none, none was got."""
    if isinstance(error, FileNotFoundError):
        return _NOT_FOUND
    for holder, name in ((error, "code"), (getattr(error, "response", None), "status_code")):
        status = getattr(holder, name, None)
        if isinstance(status, int):
            return int(status)
    return None


def write_object(path: str, content: BinaryIO, size: int) -> None:
    """Writes an object, which is there when all of it is. Raises StoreError.

    Args:
      content: at its start.
      size: what it has in bytes.
    """
    try:
        stream = FileSystems.create(path, compression_type=CompressionTypes.UNCOMPRESSED)
        with stream:
            shutil.copyfileobj(content, stream, COPIED_BYTES)
            if not size:
                _send_nothing(stream)
        # An upload that breaks off, and is ended nevertheless, would leave a part.
        written = FileSystems.get_filesystem(path).metadata(path).size_in_bytes
    except Exception as error:
        raise StoreError(path, refusal_of(error)) from error
    if written != size:
        raise StoreError(path, f"{written} bytes of {size} have arrived")


def _send_nothing(stream: BinaryIO) -> None:
    """An object without bytes is one part without bytes for S3, and Beam sends no part."""
    uploader: Any = getattr(getattr(stream, "raw", None), "_uploader", None)
    if hasattr(uploader, "_write_to_s3"):
        uploader._write_to_s3(b"")


def list_below(folder: str) -> dict[str, tuple[int, float]]:
    """Path below a folder of a store → (bytes, Unix time of the last change). Raises StoreError."""
    start = len(folder.rstrip("/")) + 1
    try:
        (match,) = FileSystems.match([f"{glob.escape(folder.rstrip('/'))}/**"])
    except BeamIOError as error:
        raise StoreError(folder, refusal_of(error)) from error
    return {
        metadata.path[start:]: (metadata.size_in_bytes, metadata.last_updated_in_seconds)
        for metadata in match.metadata_list
    }


def remove_below(folder: str) -> None:
    """Removes all objects below a folder of a store. Raises StoreError where some stay."""
    try:
        FileSystems.delete([folder.rstrip("/") + "/"])
    except BeamIOError as error:
        raise StoreError(folder, refusal_of(error)) from error
    left = list_below(folder)
    if left:
        raise StoreError(folder, f"{len(left)} files could not be removed, {min(left)} one of them")
