"""Opens input files on any Beam file system, with any compression. Errors name the file and the position.

Computes the size and the SHA-256 of input files for the manifest.

Estimates the amount of text in compressed files from the beginnings of some of the files.

Lists files and folders on any Beam file system. Symbolic links are followed.
"""

import contextlib
import hashlib
import io
import json
import pathlib
import posixpath
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple, cast

import apache_beam as beam
from apache_beam.io.filesystem import BeamIOError, CompressionTypes
from apache_beam.io.filesystems import FileSystems

from .compression import DECODE_ERRORS, DamageError, codec_of, decompress, decompressed
from .distribution import SpreadAll, transform
from .records import InputFile
from .stores import is_local, match_files, refusal_of

READ_BYTES = 1 << 20


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


@contextlib.contextmanager
def damage_in(path: str, name: str = "") -> Iterator[None]:
    """Raises InputError if a file turns out to be damaged while it is read in the `with` block.

    Args:
      path: path of the file.
      name: name of the file in an archive, for the message.
    """
    try:
        yield
    except DamageError as error:
        raise InputError(path, error.message, error.offset) from None
    except DECODE_ERRORS as error:
        if isinstance(error, OSError) and error.errno:
            raise
        of_name = f"{name}: " if name else ""
        raise InputError(path, f"{of_name}damaged or truncated: {error}") from None


def match_inputs(patterns: Sequence[str]) -> list[str]:
    """Returns the files that match at least one of the patterns, sorted by name, without repetitions.

    Raises InputError for a pattern without a match, because otherwise a mistyped pattern would result in a
    smaller corpus. Also raises it for files that are not regular, such as pipes.
    """
    paths: set[str] = set()
    for pattern in patterns:
        found = _match(pattern)
        if not (files := [path for path in found if not pathlib.Path(path).is_dir()]):
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
    found = match_files(f"./{pattern}" if is_bare else pattern, pattern, InputError)
    # Browsers of stores create an object with a trailing slash for a folder.
    paths = (metadata.path for metadata in found)
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


def read_raw(path: str) -> bytes:
    """Returns the content of a file as it is stored, on any file system. Raises as `open_raw` does."""
    with open_raw(path) as stream:
        return stream.read()


def is_there(path: str) -> bool:
    """Returns True if a file exists.

    Raises OSError if a local disk does not respond. (Beam would return False in this case.)
    """
    if not is_local(path):
        return bool(FileSystems.exists(path))
    try:
        pathlib.Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _open(path: str) -> BinaryIO:
    return cast(BinaryIO, FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED))


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
    return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, decompressed(open_raw(path)))))


MAX_SMALL_BYTES = 1 << 29


def read_input(path: str, max_bytes: int | None = None) -> bytes:
    """Returns the content of a small file, decompressed.

    If the content has more than `max_bytes` bytes, returns only its beginning, which is longer than that.
    Raises InputError if the file is missing, damaged or a folder, or if its whole content is wanted and has
    more than MAX_SMALL_BYTES.
    """
    content = bytearray()
    most = MAX_SMALL_BYTES if max_bytes is None else max_bytes
    try:
        stream = open_input(path)
    except FileNotFoundError:
        raise InputError(path, "no such file") from None
    except IsADirectoryError:
        raise InputError(path, "a folder, not a file") from None
    with stream:
        try:
            while data := stream.read(READ_BYTES):
                content += data
                if len(content) > most:
                    break
        except DECODE_ERRORS as error:
            raise InputError(path, f"damaged or truncated: {error}", len(content)) from None
    if max_bytes is None and len(content) > most:
        raise InputError(path, f"more than {most:,} bytes, which is too much for this kind of file")
    return bytes(content)


def read_text(path: str) -> str:
    """Returns the text of a small file, decompressed.

    Raises InputError as `read_input` does, and for text that is not UTF-8.
    """
    data = read_input(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(path, f"line {line} is not UTF-8") from None


def parse_json(path: str, content: bytes) -> Any:
    """Parses the content of a JSON file.

    If it is malformed, raises InputError with the file and the position.
    """
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"not JSON: {error}") from None


@transform
def HashInputs(
    root: beam.Pipeline, paths: Mapping[str, Sequence[str]], sums: Mapping[str, str] | None = None
) -> beam.PCollection:
    """Computes the SHA-256 of input files. Pipeline → PCollection[InputFile].

    Raises InputError if the size of a file, or the checksum of an object in a store, has changed since the
    pipeline was constructed. In this case, the content that the build read may differ from the content that
    was hashed for the manifest.

    Args:
      paths: role of an input, such as "dump" → paths of its files.
      sums: path → expected SHA-256, from the SHA256SUMS file in its folder. A different hash raises
        InputError.
    """
    sums = sums or {}
    files = sorted(
        (role, path, file_bytes_of(path), checksum_of(path), sums.get(path, ""))
        for role, of_role in paths.items()
        for path in of_role
    )
    return root | "SpreadFiles" >> SpreadAll(files) | "Hash" >> beam.MapTuple(hash_unchanged)


def checksum_of(path: str) -> str:
    """Returns the checksum that an object store has stored for an object; "" for a local file."""
    if is_local(path):
        return ""
    try:
        return str(FileSystems.checksum(path))
    except BeamIOError as error:
        raise InputError(path, refusal_of(error)) from error


def hash_unchanged(
    role: str, path: str, file_bytes: int, checksum: str = "", sha256: str = ""
) -> InputFile:
    """Computes the hash of a file, and checks that the file has not changed.

    Raises InputError if its size, checksum or SHA-256 differs from that in the arguments. If `sha256` is "",
    it is not compared. `role` is the role of the file in the build, such as "dump".
    """
    file = hash_input(role, path)
    if file.bytes != file_bytes:
        message = f"the file is changing: it had {file_bytes} bytes, and now {file.bytes}"
        raise InputError(path, message, file.bytes)
    if checksum_of(path) != checksum:
        raise InputError(path, "the file is changing: it was written while it was read")
    if sha256 and sha256 != file.sha256:
        raise InputError(
            path, f"its SHA-256 is {file.sha256}, but SHA256SUMS beside it lists {sha256}"
        )
    return file


def hash_input(role: str, path: str) -> InputFile:
    """Reads a file once, and returns its size and SHA-256.

    `role` is the role of the file in the build, such as "dump".
    """
    digest = hashlib.sha256()
    size = 0
    with open_raw(path) as stream:
        while data := stream.read(READ_BYTES):
            digest.update(data)
            size += len(data)
    return InputFile(role, posixpath.basename(path), size, digest.hexdigest())


FILES = 8
TEXT_BYTES = 4 << 20  # bytes to read from each file: several blocks of bzip2
_STEP_BYTES = 1 << 18
_PAGE = re.compile(rb"<page>.*?</page>", re.DOTALL)
_ARTICLE = b"<ns>0</ns>"


class TextSample(NamedTuple):
    """Estimates from the beginnings of some files: how much decompression expands them, and article sizes."""

    expansion: float = 1.0  # bytes of text per stored byte
    articles_share: float = 1.0  # share of namespace 0 in the bytes of the pages of a wiki
    article_bytes: float = 0.0  # mean size of a page of namespace 0 as XML; 0 if there is none


def codec_at(path: str) -> str:
    """Returns the codec of a file, detected from its first bytes: one of CODECS, or "" if uncompressed."""
    with open_raw(path) as stream:
        return codec_of(stream)


def sample_texts(paths: Sequence[str]) -> TextSample:
    """Estimates the amount of text from the beginnings of at most FILES files.

    These files are evenly spread over the list. All files in the list must have the same compression.
    """
    heads = [read_beginning(path) for path in paths[:: max(len(paths) // FILES, 1)][:FILES]]
    stored, text = (
        sum(sizes) for sizes in zip(*((n, len(head)) for n, head in heads), strict=True)
    )
    pages = [page for _, head in heads for page in _PAGE.findall(head)]
    articles = [len(page) for page in pages if _ARTICLE in page]
    return TextSample(
        expansion=text / max(stored, 1) if text else 1.0,
        articles_share=sum(articles) / max(sum(map(len, pages)), 1) if pages else 1.0,
        article_bytes=sum(articles) / max(len(articles), 1),
    )


def read_beginning(path: str) -> tuple[int, bytes]:
    """Reads the beginning of a file. Returns (number of stored bytes read, decompressed content).

    If the file is damaged, the content ends at the damage.
    """
    text = bytearray()
    with open_raw(path) as stream:
        content = decompress(stream, codec_of(stream))
        try:
            while len(text) < TEXT_BYTES and (data := content.read(_STEP_BYTES)):
                text += data
        except DECODE_ERRORS:
            pass  # the build reports the damage
        return stream.tell(), bytes(text)


def check_folder(folder: str) -> None:
    """Raises InputError if a local path is not a folder.

    Object stores have no folders, so a missing folder counts as empty there.
    """
    if is_local(folder) and not pathlib.Path(folder).is_dir():
        message = "a file, not a folder" if pathlib.Path(folder).exists() else "no such folder"
        raise InputError(folder, message)


def list_subfolders(folder: str) -> list[str]:
    """Returns the names of the folders in a folder, or [] if it does not exist.

    On object stores, which have no folders, names of files may be included.
    """
    if is_local(folder):
        return sorted(path.name for path in _list_local(folder, pathlib.Path.is_dir))
    if FileSystems.get_filesystem(folder).has_dirs():
        return sorted(posixpath.basename(path) for path, _ in _match_folder(folder, "*"))
    start = len(folder.rstrip("/")) + 1
    return sorted({path[start:].partition("/")[0] for path, _ in _match_folder(folder, "**")})


def list_files(folder: str) -> dict[str, int]:
    """Returns name → size in bytes for the files in a folder, or {} if the folder does not exist."""
    if is_local(folder):
        files = _list_local(folder, pathlib.Path.is_file)
        return {path.name: path.stat().st_size for path in files}
    return {posixpath.basename(path): size for path, size in _match_folder(folder, "*")}


def _list_local(folder: str, wanted: Callable[[pathlib.Path], bool]) -> list[pathlib.Path]:
    """Lists the entries of a local folder for which `wanted` returns True.

    Beam's own listing is not used, because it also reads all folders below, and does not follow links.
    """
    try:
        return [path for path in pathlib.Path(folder).iterdir() if wanted(path)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise InputError(folder, error.strerror or str(error)) from None


def _match_folder(folder: str, pattern: str) -> Iterator[tuple[str, int]]:
    """Yields path and size in bytes of the files that match a pattern in a folder."""
    # On file systems with folders, listing a missing folder is an error.
    if FileSystems.get_filesystem(folder).has_dirs() and not FileSystems.exists(folder):
        return
    for metadata in match_files(FileSystems.join(folder, pattern), folder, InputError):
        yield metadata.path, int(metadata.size_in_bytes)
