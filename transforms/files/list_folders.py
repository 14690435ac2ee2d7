"""Lists files and folders on any Beam file system. Symbolic links are followed."""

import pathlib
import posixpath
from collections.abc import Callable, Iterator

from apache_beam.io.filesystem import BeamIOError
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.open_input import InputError
from corpusmill.transforms.files.stores import is_local as is_local
from corpusmill.transforms.files.stores import refusal_of


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
        return sorted(posixpath.basename(path) for path, _ in _match(folder, "*"))
    start = len(folder.rstrip("/")) + 1
    return sorted({path[start:].partition("/")[0] for path, _ in _match(folder, "**")})


def list_files(folder: str) -> dict[str, int]:
    """Returns name → size in bytes for the files in a folder, or {} if the folder does not exist."""
    if is_local(folder):
        files = _list_local(folder, pathlib.Path.is_file)
        return {path.name: path.stat().st_size for path in files}
    return {posixpath.basename(path): size for path, size in _match(folder, "*")}


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


def _match(folder: str, pattern: str) -> Iterator[tuple[str, int]]:
    """Yields path and size in bytes of the files that match a pattern in a folder."""
    # On file systems with folders, listing a missing folder is an error.
    if FileSystems.get_filesystem(folder).has_dirs() and not FileSystems.exists(folder):
        return
    try:
        (match,) = FileSystems.match([FileSystems.join(folder, pattern)])
    except BeamIOError as error:
        raise InputError(folder, refusal_of(error)) from error
    for metadata in match.metadata_list:
        yield metadata.path, int(metadata.size_in_bytes)
