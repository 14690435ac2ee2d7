"""Manages the folder of downloads, which has a subfolder for each source and date, like the dump server.

Example: <downloads>/ukwiki/20261101/ukwiki-20261101-pages-articles.xml.bz2
"""

import os
import pathlib
import shutil
from collections.abc import Callable, Collection, Iterable

from apache_beam.io.filesystems import FileSystems

from corpusmill.pipelines.refresh.ask import name_ourselves
from corpusmill.pipelines.refresh.config import Settings
from corpusmill.pipelines.refresh.download import download
from corpusmill.pipelines.refresh.remote import RemoteDump
from corpusmill.pipelines.refresh.stored_part import give_up_uploads
from corpusmill.transforms.files.list_folders import list_subfolders
from corpusmill.transforms.files.open_input import is_there
from corpusmill.transforms.files.safe_files import write_whole
from corpusmill.transforms.files.stores import is_local, list_below, remove_below

OURS = ".corpusmill-refresh"  # marks a folder that a refresh created and may remove


def folder_of(downloads: str, dump: RemoteDump) -> str:
    """Returns the folder for the files of a dump: `<downloads>/<source>/<date>`."""
    folder: str = FileSystems.join(downloads, dump.source, dump.date)
    return folder


def fetch_dump(
    dump: RemoteDump,
    settings: Settings,
    count_bytes: Callable[[int], None] = lambda _: None,
    *,
    is_ours: bool = True,
) -> dict[str, list[str]]:
    """Downloads the missing files of a dump. Returns the paths of its files for each role, such as "dump".

    Args:
      count_bytes: function that is called, by several threads, with the size of each piece of data received.
      is_ours: whether to mark the folder, so that a refresh may remove the files after the build.

    Raises DownloadError if a file cannot be downloaded, and OSError if the folder cannot be written.
    """
    folder = folder_of(settings.downloads, dump)
    if is_ours:
        _mark(folder)
    files = {file.name: file for file in dump.all_files}
    paths = download(
        list(files.values()),
        folder,
        user_agent=name_ourselves(settings.contact),
        connections=settings.connections,
        min_free_bytes=settings.min_free_bytes,
        count_bytes=count_bytes,
    )
    path_of = dict(zip(files, paths, strict=True))
    return {role: [path_of[one.name] for one in dump.files[role]] for role in dump.files}


def _mark(folder: str) -> None:
    """Marks an empty folder as created by a refresh.

    A folder that already has files is not marked, so a refresh never removes it.
    """
    mark = FileSystems.join(folder, OURS)
    if not is_local(folder):
        if not list_below(folder):
            write_whole(mark, b"")
        return
    place = pathlib.Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    if not any(place.iterdir()):
        pathlib.Path(mark).touch()  # atomic: a temporary file would make the folder non-empty


def remove_downloads(downloads: str, sources: Iterable[str], wanted: Collection[str]) -> list[str]:
    """Removes downloads that are no longer needed. Returns the paths of the removed folders.

    Only folders that a refresh has marked as its own are removed.

    Args:
      downloads: The parent folder of all downloads.
      sources: The names of the sources, such as "ukwiki", whose downloads may be removed.
      wanted: The folders of these sources that must be kept.

    Raises OSError or InputError if a folder cannot be read or removed.
    """
    removed = []
    for source in dict.fromkeys(sources):
        place = FileSystems.join(downloads, source)
        for folder in [FileSystems.join(place, date) for date in list_subfolders(place)]:
            if folder not in wanted and is_there(FileSystems.join(folder, OURS)):
                _remove(folder) if is_local(folder) else _remove_from_store(folder)
                removed.append(folder)
    return removed


def _remove(folder: str) -> None:
    """Removes a folder that a refresh has marked.

    The file that marks it is removed last, so that the next run continues an interrupted removal.
    """
    for entry in list(os.scandir(folder)):
        if entry.name == OURS:
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            pathlib.Path(entry.path).unlink()
    (pathlib.Path(folder) / OURS).unlink()
    pathlib.Path(folder).rmdir()


def _remove_from_store(folder: str) -> None:
    """Removes a folder on an object store, including unfinished uploads."""
    give_up_uploads(f"{folder}/")
    names = [name for name in list_below(folder) if name != OURS]
    if names:
        FileSystems.delete([FileSystems.join(folder, *name.split("/")) for name in names])
    remove_below(folder)
