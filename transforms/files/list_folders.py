"""Lists the files in a folder, on any Beam file system. Links are followed."""

import pathlib
import posixpath
from collections.abc import Callable, Iterator

from apache_beam.io.filesystem import BeamIOError
from apache_beam.io.filesystems import FileSystems

from transforms.files.open_input import InputError
from transforms.files.stores import is_local as is_local
from transforms.files.stores import refusal_of


def check_folder(folder: str) -> None:
    """Raises InputError for what is not a folder of a disk.

    An object store has no folders: there, one that does not exist is an empty one.
    """
    if is_local(folder) and not pathlib.Path(folder).is_dir():
        message = "a file, not a folder" if pathlib.Path(folder).exists() else "no such folder"
        raise InputError(folder, message)


def list_subfolders(folder: str) -> list[str]:
    """The names of the folders in a folder; none where it does not exist.

    Elsewhere than on a disk, names of files may be among them: object stores do not know folders.
    """
    if is_local(folder):
        return sorted(path.name for path in _list_local(folder, pathlib.Path.is_dir))
    if FileSystems.get_filesystem(folder).has_dirs():
        return sorted(posixpath.basename(path) for path, _ in _match(folder, "*"))
    start = len(folder.rstrip("/")) + 1
    return sorted({path[start:].partition("/")[0] for path, _ in _match(folder, "**")})


def list_files(folder: str) -> dict[str, int]:
    """Name → bytes of the files in a folder; none where it does not exist."""
    if is_local(folder):
        files = _list_local(folder, pathlib.Path.is_file)
        return {path.name: path.stat().st_size for path in files}
    return {posixpath.basename(path): size for path, size in _match(folder, "*")}


def _list_local(folder: str, wanted: Callable[[pathlib.Path], bool]) -> list[pathlib.Path]:
    """Beam's own listing of a disk reads everything below the folder, and follows no link."""
    try:
        return [path for path in pathlib.Path(folder).iterdir() if wanted(path)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise InputError(folder, error.strerror or str(error)) from None


def _match(folder: str, pattern: str) -> Iterator[tuple[str, int]]:
    """Path and bytes of what matches below a folder."""
    # Where there are folders, listing one that does not exist is an error.
    if FileSystems.get_filesystem(folder).has_dirs() and not FileSystems.exists(folder):
        return
    try:
        (match,) = FileSystems.match([FileSystems.join(folder, pattern)])
    except BeamIOError as error:
        raise InputError(folder, refusal_of(error)) from error
    for metadata in match.metadata_list:
        yield metadata.path, int(metadata.size_in_bytes)
