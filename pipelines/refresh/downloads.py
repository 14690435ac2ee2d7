"""The folder of downloads: a folder for each source and date, laid out like the dump server's.

<downloads>/ukwiki/20261101/ukwiki-20261101-pages-articles.xml.bz2
"""

import os
import pathlib
import shutil
from collections.abc import Callable, Collection, Iterable

from pipelines.refresh.ask import name_ourselves
from pipelines.refresh.config import Settings
from pipelines.refresh.download import download
from pipelines.refresh.remote import RemoteDump

OURS = ".corpusmill-refresh"  # file in a folder that a refresh has filled, and may remove


def folder_of(downloads: str, dump: RemoteDump) -> pathlib.Path:
    """Where the files of a dump go."""
    return pathlib.Path(downloads, dump.source, dump.date)


def fetch_dump(
    dump: RemoteDump, settings: Settings, count_bytes: Callable[[int], None]
) -> dict[str, list[str]]:
    """Fetches what is not there yet; role → paths. Raises DownloadError, OSError.

    Args:
      count_bytes: gets the bytes as they come, from several threads.
    """
    folder = folder_of(settings.downloads, dump)
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):  # what somebody else has put there is not ours to remove
        (folder / OURS).touch()  # in one step: nothing is left beside it that looks like somebody's
    files = {file.name: file for file in dump.all_files}
    paths = download(
        list(files.values()),
        folder,
        user_agent=name_ourselves(settings.contact),
        connections=settings.connections,
        min_free_bytes=settings.min_free_bytes,
        count_bytes=count_bytes,
    )
    path_of = dict(zip(files, map(str, paths), strict=True))
    return {role: [path_of[one.name] for one in dump.files[role]] for role in dump.files}


def remove_downloads(
    downloads: str, sources: Iterable[str], wanted: Collection[pathlib.Path]
) -> list[pathlib.Path]:
    """Removes the downloads of sources, all but those that are wanted; returns the folders.

    Only what a refresh has downloaded is removed.
    """
    removed = []
    for source in dict.fromkeys(sources):
        for mark in sorted(pathlib.Path(downloads, source).glob(f"*/{OURS}")):
            if mark.parent not in wanted:
                _remove(mark.parent)
                removed.append(mark.parent)
    return removed


def _remove(folder: pathlib.Path) -> None:
    """The mark goes last: a killed removal is continued by the next run."""
    for entry in list(os.scandir(folder)):
        if entry.name == OURS:
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            pathlib.Path(entry.path).unlink()
    (folder / OURS).unlink()
    folder.rmdir()
