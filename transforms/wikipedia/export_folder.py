"""Finds the files of a Wikimedia Content File Export in a folder, and checks that the export is complete.

An export of one wiki and date consists of one or more files in `<wiki>/2026-11-01/xml/<compression>/`,
ordered by page id. The name of each file contains the ids of its first and last page. `SHA256SUMS` is written
last and lists all files.
"""

import itertools
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from corpusmill.transforms.files.dates import iso_date, plain_date
from corpusmill.transforms.wikipedia.dump_folder import MAX_GAP_PAGES, UnusableDumpError, name_some

MAX_GAP_SHARE = 4
"""A gap between two files is accepted if it has at most 1 / MAX_GAP_SHARE of the ids of each of the files.

A gap of at most MAX_GAP_PAGES ids is always accepted.
"""

CURRENT, HISTORY = "mediawiki_content_current", "mediawiki_content_history"
"""Folders of the site: current revisions of the pages, and all revisions."""

SUMS = "SHA256SUMS"
FOLDER_OF_FILES = "xml"

# Formats that can be read from the middle come first, then the format that is faster to decompress.
_SUFFIXES = (".bz2", "", ".zst", ".gz", ".xz")
_NUMBER = r"\d{1,18}"  # fits 64 bits
_NAME = re.compile(
    rf"(?P<dbname>[a-z]\w*)-(?P<date>\d{{4}}-\d\d-\d\d)-p(?P<first>{_NUMBER})"
    rf"(?:p(?P<last>{_NUMBER})|r(?P<revision>{_NUMBER})r{_NUMBER})\.xml(?P<suffix>|\.\w+)"
)
_SUM = re.compile(r"([0-9a-fA-F]{64})[ \t]+\*?(\S.*)")


class ExportFolder(NamedTuple):
    """A folder with the files of one wiki, date and compression."""

    dbname: str  # "ukwiki"
    date: str  # "20261101"
    sizes: Mapping[str, int]  # name of each file in the folder → bytes; -1: unknown
    sums: Mapping[str, str]  # name of a file → its SHA-256 in SHA256SUMS


class ExportFile(NamedTuple):
    """The parsed name of a file of an export."""

    first: int  # page id
    last: int
    revision: int  # the first revision, in names of files with a single page; else 0
    name: str  # without a folder
    dbname: str
    date: str  # "20261101"
    suffix: str  # ".bz2"; "" for plain XML


def parse_name(path: str) -> ExportFile | None:
    """Parses the name of a file of a Content File Export. Returns None for any other name."""
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
    """Parses SHA256SUMS. Returns name of the file → its SHA-256.

    Raises UnusableDumpError if a line is malformed, or if two lines have different hashes for the same file.
    Malformed lines are not skipped: the list may be truncated at such a line, and then it lacks files.
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
            raise UnusableDumpError(
                f"{SUMS}: line {number} has a second, different SHA-256 of {name}"
            )
    return sums


def order_of_suffix(names: Iterable[str]) -> int:
    """Returns the rank of the compression of a folder's files. Preferred compressions have smaller ranks.

    If the files have several compressions, the smallest rank is returned. `names` are the names of the files.
    """
    suffixes = {file.suffix for file in map(parse_name, names) if file}
    found = [number for number, suffix in enumerate(_SUFFIXES) if suffix in suffixes]
    return min(found, default=len(_SUFFIXES))


def select_export(folder: ExportFolder, *, keep_good: bool = False) -> tuple[str, ...]:
    """Returns the names of all files of an export, ordered by page id.

    Args:
      folder: the folder that contains the files.
      keep_good: True to accept an export with missing files or pages (see `find_gaps`), and to use the files
        that exist.

    Raises UnusableDumpError if the folder does not contain an export, if a file is empty, or if the files are
    not parts of one export (see `why_not_one_export`). Without `keep_good`, raises it also if files or pages
    are missing, or if a file is not listed in SHA256SUMS.
    """
    listed = _listed_files(folder)
    present = [file for file in listed if file.name in folder.sizes]
    missing = [file.name for file in listed if file.name not in folder.sizes]
    empty = [file.name for file in present if not folder.sizes[file.name]]
    if missing and not (keep_good and present):
        count = f"{len(missing)} of {len(listed)} files that {SUMS} lists are missing"
        raise UnusableDumpError(f"{count}: {name_some(missing, len(missing))}")
    if not keep_good and (unlisted := _unlisted_file(folder, listed)):
        raise UnusableDumpError(f"{SUMS} does not list {unlisted}, which is in the folder")
    if empty:
        raise UnusableDumpError(f"{empty[0]} is empty")
    if reason := why_not_one_export(present):
        raise UnusableDumpError(reason)
    if not keep_good and (gaps := find_gaps(present)):
        raise UnusableDumpError(gaps[0])
    return tuple(file.name for file in present)


def _listed_files(folder: ExportFolder) -> list[ExportFile]:
    """Returns the files listed in SHA256SUMS that belong to the folder's wiki and date, sorted by page id."""
    if not folder.sums:
        raise UnusableDumpError(
            f"{SUMS} is missing: the export is not finished, or was not copied completely"
        )
    stem = f"{folder.dbname}-{iso_date(folder.date)}-"
    names = [name for name in folder.sums if name.startswith(stem)] or list(folder.sums)
    if odd := [name for name in names if not (name.startswith(stem) and parse_name(name))]:
        raise UnusableDumpError(f"{SUMS} lists {odd[0]}, expected names like {stem}p1p2.xml.bz2")
    return sorted(filter(None, map(parse_name, names)))


def _unlisted_file(folder: ExportFolder, listed: Sequence[ExportFile]) -> str:
    """Finds a file in the folder that SHA256SUMS does not list. Returns its name, or "".

    A file also counts as listed if SHA256SUMS lists the same pages in another compression. If there is an
    unlisted file, SHA256SUMS may be truncated.
    """
    stem, ranges = f"{folder.dbname}-{iso_date(folder.date)}-", {file[:3] for file in listed}
    files = filter(None, map(parse_name, folder.sizes))
    names = (one.name for one in files if one.name.startswith(stem) and one[:3] not in ranges)
    return min(names, default="")


def why_not_one_export(files: Sequence[ExportFile]) -> str:
    """Returns the reason why files are not parts of one export, or "" if they are.

    `files` must be sorted by page id.
    """
    for one, other in itertools.pairwise(files):
        if (one.dbname, one.date) != (other.dbname, other.date):
            return f"{one.name} and {other.name} are not parts of one export"
        if one.last < other.first:
            continue
        if one.revision and other.revision and one.first == other.first:
            return (
                f"{one.name} and {other.name} have revisions of one page: this is an export of all"
                f" revisions ({HISTORY}); use the export of current revisions ({CURRENT})"
            )
        return f"{one.name} and {other.name} overlap"
    return ""


def find_gaps(files: Sequence[ExportFile]) -> list[str]:
    """Returns a message for each gap between the page ids of two files that is too long to be natural.

    `files` must be sorted by page id. The name of a file contains the ids of its first and last page, and no
    page should lie between two files. In the file names of enwiki of 2026-05-01, the gaps have at most one
    id. But some wikis have long ranges of unused ids. If a file is missing, the gap is about as long as the
    id ranges of the neighbouring files.
    """
    return [
        f"no file holds the pages {one.last + 1:,} to {other.first - 1:,}"
        for one, other in itertools.pairwise(files)
        if other.first - one.last - 1
        > max(MAX_GAP_PAGES, min(_span(one), _span(other)) // MAX_GAP_SHARE)
    ]


def _span(file: ExportFile) -> int:
    return file.last - file.first
