"""Finds the files in one folder of Wikimedia's Content File Exports that make an export, and checks that
all are there.

An export of one wiki and date is one or more files in `<wiki>/2026-11-01/xml/<compression>/`, ordered by page
id. Their names give the first and the last page that they hold. `SHA256SUMS` is written last and lists all.
"""

import itertools
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from transforms.text.files.dates import iso_date, plain_date
from transforms.text.wikimedia.dump_folder import MAX_GAP_PAGES, UnusableDumpError, name_some

MAX_GAP_SHARE = 4
"""A gap that is a smaller part of the ids of both files around it than 1 / MAX_GAP_SHARE may be empty."""

CURRENT, HISTORY = "mediawiki_content_current", "mediawiki_content_history"
"""Folders of the site: of the current revision of each page, and of all revisions."""

SUMS = "SHA256SUMS"
FOLDER_OF_FILES = "xml"

# What can be entered in the middle comes first, then what is faster to decompress.
_SUFFIXES = (".bz2", "", ".zst", ".gz", ".xz")
_NUMBER = r"\d{1,18}"  # 64 bits hold it
_NAME = re.compile(
    rf"(?P<dbname>[a-z]\w*)-(?P<date>\d{{4}}-\d\d-\d\d)-p(?P<first>{_NUMBER})"
    rf"(?:p(?P<last>{_NUMBER})|r(?P<revision>{_NUMBER})r{_NUMBER})\.xml(?P<suffix>|\.\w+)"
)
_SUM = re.compile(r"([0-9a-fA-F]{64})[ \t]+\*?(\S.*)")


class ExportFolder(NamedTuple):
    """The files of one wiki, date and compression."""

    dbname: str  # "ukwiki"
    date: str  # "20261101"
    sizes: Mapping[str, int]  # name of a file that is there → bytes; -1 unknown
    sums: Mapping[str, str]  # name of a file → its SHA-256, of SHA256SUMS


class ExportFile(NamedTuple):
    """The name of a file."""

    first: int  # page id
    last: int
    revision: int  # the first, of a file that holds one page; 0 where the name has none
    name: str  # without a folder
    dbname: str
    date: str  # "20261101"
    suffix: str  # ".bz2"; "" for plain XML


def parse_name(path: str) -> ExportFile | None:
    """Parses the name of a file; None if it is not that of a file of an export."""
    name = posixpath.basename(path)
    found = _NAME.fullmatch(name)
    if not found or found["suffix"] not in _SUFFIXES:
        return None
    first = int(found["first"])
    return ExportFile(
        first,
        int(found["last"] or first),
        int(found["revision"] or 0),
        name,
        found["dbname"],
        plain_date(found["date"]),
        found["suffix"],
    )


def parse_sums(content: bytes) -> dict[str, str]:
    """Name → SHA-256 of the files that SHA256SUMS lists. Raises UnusableDumpError for any other content.

    No line is passed over: with one that is cut off, the export would end early.
    """
    sums: dict[str, str] = {}
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        found = _SUM.fullmatch(line.rstrip())
        if not found:
            raise UnusableDumpError(
                f"{SUMS}: line {number} is not a SHA-256 and a name: {line[:80]!r}"
            )
        name, digest = posixpath.basename(found[2]), found[1].lower()
        if sums.setdefault(name, digest) != digest:
            raise UnusableDumpError(f"{SUMS}: line {number} has another SHA-256 of {name}")
    return sums


def order_of_suffix(names: Iterable[str]) -> int:
    """Returns the key that sorts the folders of several compressions, the best first."""
    suffixes = {file.suffix for file in map(parse_name, names) if file}
    found = [number for number, suffix in enumerate(_SUFFIXES) if suffix in suffixes]
    return min(found, default=len(_SUFFIXES))


def select_export(folder: ExportFolder, *, keep_good: bool = False) -> tuple[str, ...]:
    """The names of all files of an export, in the order of their pages.

    Args:
      keep_good: take what is there of an export with missing files or pages; see `find_gaps`.

    Raises UnusableDumpError where the folder does not hold the export, or not all of it.
    """
    listed = _listed_files(folder)
    present = [file for file in listed if file.name in folder.sizes]
    missing = [file.name for file in listed if file.name not in folder.sizes]
    empty = [file.name for file in present if not folder.sizes[file.name]]
    if missing and not (keep_good and present):
        count = f"{len(missing)} of {len(listed)} files that {SUMS} lists are not there"
        raise UnusableDumpError(f"{count}: {name_some(missing, len(missing))}")
    if not keep_good and (unlisted := _unlisted_file(folder, listed)):
        raise UnusableDumpError(f"{unlisted} is there, and {SUMS} does not list it")
    if empty:
        raise UnusableDumpError(f"{empty[0]} is empty")
    if reason := why_not_one_export(present):
        raise UnusableDumpError(reason)
    if not keep_good and (gaps := find_gaps(present)):
        raise UnusableDumpError(gaps[0])
    return tuple(file.name for file in present)


def _listed_files(folder: ExportFolder) -> list[ExportFile]:
    """Returns the files of the wiki and date in SHA256SUMS, sorted."""
    if not folder.sums:
        raise UnusableDumpError(
            f"{SUMS} is not there: the export is not finished, or not copied whole"
        )
    stem = f"{folder.dbname}-{iso_date(folder.date)}-"
    names = [name for name in folder.sums if name.startswith(stem)] or list(folder.sums)
    if odd := [name for name in names if not (name.startswith(stem) and parse_name(name))]:
        raise UnusableDumpError(
            f"{SUMS} lists {odd[0]}, which is not named like {stem}p1p2.xml.bz2"
        )
    return sorted(filter(None, map(parse_name, names)))


def _unlisted_file(folder: ExportFolder, listed: Sequence[ExportFile]) -> str:
    """A file of the export that SHA256SUMS, which may be cut off, does not list in any compression; or ""."""
    stem, ranges = f"{folder.dbname}-{iso_date(folder.date)}-", {file[:3] for file in listed}
    files = filter(None, map(parse_name, folder.sizes))
    names = (one.name for one in files if one.name.startswith(stem) and one[:3] not in ranges)
    return min(names, default="")


def why_not_one_export(files: Sequence[ExportFile]) -> str:
    """The reason why files are not parts of one export; "" where they are. `files` are sorted."""
    for one, other in itertools.pairwise(files):
        if (one.dbname, one.date) != (other.dbname, other.date):
            return f"{one.name} and {other.name} are not of one export"
        if one.last < other.first:
            continue
        if one.revision and other.revision and one.first == other.first:
            return (
                f"{one.name} and {other.name} hold revisions of one page: an export of all revisions"
                f" ({HISTORY}) is not read, only that of current ones ({CURRENT})"
            )
        return f"{one.name} and {other.name} overlap"
    return ""


def find_gaps(files: Sequence[ExportFile]) -> list[str]:
    """The ranges of page ids between files that are too long to be empty. `files` are sorted.

    Both numbers in a name are ids of pages that exist, so the ids between two files should have no page:
    between those files of enwiki of 2026-05-01 whose names were seen, it is one id at most. A wiki may lack
    long runs of ids, though. Where a file is missing, as many ids are as its neighbours have, about.
    """
    return [
        f"no file holds the pages {one.last + 1:,} to {other.first - 1:,}"
        for one, other in itertools.pairwise(files)
        if other.first - one.last - 1
        > max(MAX_GAP_PAGES, min(_span(one), _span(other)) // MAX_GAP_SHARE)
    ]


def _span(file: ExportFile) -> int:
    return file.last - file.first
