"""Opens input files on any Beam file system, with any compression. Errors name the file and the position."""

import io
import json
import pathlib
import stat
from collections.abc import Sequence
from typing import Any, BinaryIO, cast

from apache_beam.io.filesystem import BeamIOError, CompressionTypes
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.compression import DECODE_ERRORS, decompressed
from corpusmill.transforms.files.stores import is_local, refusal_of

_READ_BYTES = 1 << 20


class InputError(Exception):
    """Raised if an input is missing, unreadable or malformed.

    The message names the file and the position in it.

    Args:
      path: path of the file.
      message: description of the error.
      offset: offset of the error in the file in bytes; None if the error concerns the whole file.
      is_unread: True if the disk or store did not return the data, so the content itself may be valid.
    """

    def __init__(self, path: str, message: str, offset: int | None = None, is_unread: bool = False):
        place = path if offset is None else f"{path}, byte {offset}"
        super().__init__(f"{place}: {message}")
        self.path, self.message, self.offset = path, message, offset
        self.is_unread = is_unread

    def __reduce__(self) -> tuple[object, ...]:
        return InputError, (self.path, self.message, self.offset, self.is_unread)


def match_inputs(patterns: Sequence[str]) -> list[str]:
    """Returns the files that match at least one of the patterns, sorted by name, without repetitions.

    Raises InputError for a pattern without a match, because otherwise a mistyped pattern would result in a
    smaller corpus. Also raises it for files that are not regular, such as pipes.
    """
    paths: set[str] = set()
    for pattern in patterns:
        found = _match(pattern)
        files = [path for path in found if not pathlib.Path(path).is_dir()]
        if not files:
            raise InputError(pattern, "a folder, not a file" if found else "no such file")
        for path in files:
            check_regular(path)
        paths.update(files)
    return sorted(paths)


def check_regular(path: str) -> None:
    """Raises InputError for a local pipe, socket or device.

    Such a file may have no end or block its reader, and it cannot be read twice.
    """
    if not (is_local(path) and pathlib.Path(path).exists()):
        return
    mode = pathlib.Path(path).stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        kind = next((kind for is_kind, kind in _SPECIAL_KINDS.items() if is_kind(mode)), "special")
        raise InputError(
            path, f"not a regular file, but a {kind}: copy its content to a file first"
        )


_SPECIAL_KINDS = {
    stat.S_ISFIFO: "pipe",
    stat.S_ISSOCK: "socket",
    stat.S_ISCHR: "character device",
    stat.S_ISBLK: "block device",
}


def _match(pattern: str) -> list[str]:
    if pathlib.Path(pattern).is_file():
        return [pattern]  # the name of an existing file may contain pattern characters
    # Beam finds nothing in the working folder for a pattern without a folder.
    is_bare = "/" not in pattern and is_local(pattern)
    try:
        (match,) = FileSystems.match([f"./{pattern}" if is_bare else pattern])
    except BeamIOError as error:
        if is_local(pattern):
            raise
        raise InputError(pattern, refusal_of(error)) from error
    # Browsers of stores create an object with a trailing slash for a folder.
    paths = (metadata.path for metadata in match.metadata_list)
    return [path.removeprefix("./") for path in paths if not path.endswith("/")]


def file_bytes_of(path: str) -> int:
    """Returns the stored size of a file in bytes, on any file system.

    Raises InputError if the file does not exist.
    """
    try:
        return int(FileSystems.get_filesystem(path).metadata(path).size_in_bytes)
    except (BeamIOError, FileNotFoundError) as error:
        raise InputError(path, "no such file" if is_local(path) else refusal_of(error)) from error


def open_raw(path: str) -> BinaryIO:
    """Opens the stored bytes of a file as a seekable stream, without decompression.

    Raises InputError if the file is not regular, or if the store does not return the object. The stream also
    raises InputError if the store fails while it is read.
    """
    if is_local(path):
        check_regular(path)
        return _open(path)
    try:
        return cast(BinaryIO, _StoredObject(path, _open(path)))
    except Exception as error:
        raise InputError(path, refusal_of(error), is_unread=True) from error


def is_there(path: str) -> bool:
    """Returns True if a file exists.

    Raises OSError if a local disk does not respond. (Beam would return False in this case.)
    """
    if not is_local(path):
        found: bool = FileSystems.exists(path)
        return found
    try:
        pathlib.Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _open(path: str) -> BinaryIO:
    stream = FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)
    return cast(BinaryIO, stream)


class _StoredObject(io.RawIOBase):
    """An object in a store, open for reading. Raises InputError with the path for all errors.

    The libraries of stores raise many kinds of errors. Some of them are OSErrors, which would count as
    damaged data and be skipped with on_corrupt="keep-good".
    """

    def __init__(self, path: str, stream: BinaryIO):
        super().__init__()
        self._path = path
        self._stream = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        try:
            return self._stream.read(-1 if size is None else size)
        except Exception as error:
            raise InputError(self._path, refusal_of(error), is_unread=True) from error

    def readall(self) -> bytes:
        return self.read()

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


def open_input(path: str) -> BinaryIO:
    """Opens a file for reading. Compressed files are decompressed."""
    stream = decompressed(open_raw(path))
    return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, stream)))


def read_input(path: str, max_bytes: int | None = None) -> bytes:
    """Returns the content of a small file, decompressed.

    If the content has more than `max_bytes` bytes, returns only its beginning, which is longer than that.
    Raises InputError if the file is missing, damaged or a folder.
    """
    content = bytearray()
    try:
        stream = open_input(path)
    except FileNotFoundError:
        raise InputError(path, "no such file") from None
    except IsADirectoryError:
        raise InputError(path, "a folder, not a file") from None
    with stream:
        try:
            while data := stream.read(_READ_BYTES):
                content += data
                if max_bytes is not None and len(content) > max_bytes:
                    break
        except DECODE_ERRORS as error:
            raise InputError(path, f"damaged or truncated: {error}", len(content)) from None
    return bytes(content)


def parse_json(path: str, content: bytes) -> Any:
    """Parses the content of a JSON file.

    If it is malformed, raises InputError with the file and the position.
    """
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"not JSON: {error}") from None
