"""Finds the Content File Exports of a wiki in folders with the layout of the dump server.

The layout is `<root>/other/mediawiki_content_current/<wiki>/2026-11-01/xml/<compression>/`. The folder
`other`, or both `other` and `mediawiki_content_current`, may be missing. If an export exists in several
compressions, one that lets several workers read parts of the same file is preferred.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.dates import plain_date
from corpusmill.transforms.files.list_folders import list_files, list_subfolders
from corpusmill.transforms.wikipedia.dump_folder import UnusableDumpError
from corpusmill.transforms.wikipedia.export_folder import (
    CURRENT,
    FOLDER_OF_FILES,
    HISTORY,
    SUMS,
    ExportFolder,
    order_of_suffix,
    select_export,
)
from corpusmill.transforms.wikipedia.listed_sums import read_sums

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def find_exports(roots: Sequence[str], dbname: str) -> dict[str, list[str]]:
    """Returns date ("20261101") → folders of the export of this date, in the order of the roots.

    Each folder is a folder `xml`, with one subfolder for each compression.
    """
    found: dict[str, list[str]] = {}
    for parent in folders_of_wikis(roots, CURRENT):
        wiki = FileSystems.join(parent, dbname)
        for name in filter(_DATE.fullmatch, list_subfolders(wiki)):
            folder = FileSystems.join(wiki, name, FOLDER_OF_FILES)
            found.setdefault(plain_date(name), []).append(folder)
    return found


def has_history(roots: Sequence[str], dbname: str) -> bool:
    """Returns True if there is an export of all revisions of a wiki."""
    wikis = (FileSystems.join(parent, dbname) for parent in folders_of_wikis(roots, HISTORY))
    return any(map(list_subfolders, wikis))


def folders_of_wikis(roots: Sequence[str], kind: str) -> Iterator[str]:
    """Yields the folders that may contain folders of wikis. A root may be such a folder itself.

    `kind` is the folder of one kind of export, such as "mediawiki_content_current".
    """
    for root in roots:
        yield FileSystems.join(root, "other", kind)
        yield FileSystems.join(root, kind)
        is_history = posixpath.basename(root.rstrip("/")) == HISTORY
        if is_history == (kind == HISTORY):
            yield root


def use_export(
    folders: Sequence[str], dbname: str, date: str, *, keep_good: bool = False
) -> list[str]:
    """Returns the paths of the files of an export, in page order.

    Args:
      folders: folders of the export from `find_exports`. Its files may be spread over several of them.
      dbname: database name of the wiki.
      date: date of the export, such as "20261101".
      keep_good: True to accept an export with missing files or pages.

    Raises UnusableDumpError if the export is not complete in any compression.
    """
    compressions: dict[str, list[str]] = {}
    for folder in folders:
        for name in list_subfolders(folder):
            compressions.setdefault(name, []).append(FileSystems.join(folder, name))
    reasons = []
    sizes = {name: _list_sizes(places) for name, places in compressions.items()}
    for name in sorted(compressions, key=lambda name: (order_of_suffix(sizes[name]), name)):
        try:
            paths = {file: path for file, (path, _) in sizes[name].items()}
            export = ExportFolder(
                dbname, date, {file: size for file, (_, size) in sizes[name].items()}, _sums(paths)
            )
            return [paths[file] for file in select_export(export, keep_good=keep_good)]
        except UnusableDumpError as error:
            reasons.append(str(error))
    raise UnusableDumpError(reasons[0] if reasons else f"no files in {FOLDER_OF_FILES}/bzip2")


def _list_sizes(folders: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Returns name of a file → (path, size in bytes).

    If two folders have a file with the same name, the file in the first folder is used.
    """
    return {
        name: (FileSystems.join(folder, name), size)
        for folder in reversed(folders)
        for name, size in list_files(folder).items()
    }


def _sums(paths: Mapping[str, str]) -> Mapping[str, str]:
    return read_sums(paths[SUMS]) if SUMS in paths else {}
