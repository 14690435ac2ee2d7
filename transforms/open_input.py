"""Opening input files: any Beam file system, any compression, errors that name the place."""

import io
import pathlib
from collections.abc import Sequence
from typing import BinaryIO, cast

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.io.localfilesystem import LocalFileSystem

from transforms.text.compression import decompressed


class InputError(Exception):
    """An input that cannot be read as what it should be; the message names file and place."""

    def __init__(self, path: str, message: str, offset: int | None = None):
        place = path if offset is None else f"{path}, byte {offset}"
        super().__init__(f"{place}: {message}")
        self.path, self.message, self.offset = path, message, offset

    def __reduce__(self) -> tuple[object, ...]:
        return InputError, (self.path, self.message, self.offset)


def match_inputs(patterns: Sequence[str]) -> list[str]:
    """The files that the patterns match, each once, sorted by name.

    Raises InputError for a pattern that matches nothing: a typing error must not become a smaller corpus.
    """
    paths: set[str] = set()
    for pattern in patterns:
        found = _match(pattern)
        files = [path for path in found if not pathlib.Path(path).is_dir()]
        if not files:
            raise InputError(pattern, "a folder, no file" if found else "no such file")
        paths.update(files)
    return sorted(paths)


def _match(pattern: str) -> list[str]:
    if pathlib.Path(pattern).is_file():
        return [pattern]  # whatever its name has in it
    # Beam does not look into the working folder for a pattern without a folder.
    is_bare = "/" not in pattern and isinstance(
        FileSystems.get_filesystem(pattern), LocalFileSystem
    )
    (match,) = FileSystems.match([f"./{pattern}" if is_bare else pattern])
    return [metadata.path.removeprefix("./") for metadata in match.metadata_list]


def open_raw(path: str) -> BinaryIO:
    """Opens the stored bytes, seekable, with no decompression."""
    stream = FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)
    return cast(BinaryIO, stream)


def open_input(path: str) -> BinaryIO:
    """Opens a file for reading, decompressed where it is compressed."""
    stream = decompressed(open_raw(path))
    return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, stream)))
