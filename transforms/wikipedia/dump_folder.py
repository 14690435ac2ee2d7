"""Finds the files of a dump in a folder of Wikimedia's dump server, and checks that they are complete.

The folder of one wiki and date contains the same pages several times. The pages are in one file, and again in
several part files. There are plain bz2 files and "multistream" files, which can be read from many positions.
`dumpstatus.json`, if it exists, has the state of each dump job and the size of every file.

Describes the two file layouts in which Wikimedia publishes wikis, and finds dates in file names.

dumps    ukwiki/20261101/ukwiki-20261101-pages-articles-multistream.xml.bz2, with dumpstatus.json

exports  MediaWiki Content File Exports: ukwiki/2026-11-01/xml/bzip2/ukwiki-2026-11-01-p1p412.xml.bz2, with
         SHA256SUMS

Finds the files of a Wikimedia Content File Export in a folder, and checks that the export is complete.

An export of one wiki and date consists of one or more files in `<wiki>/2026-11-01/xml/<compression>/`,
ordered by page id. The name of each file contains the ids of its first and last page. `SHA256SUMS` is written
last and lists all files.
"""

import itertools
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypedDict

import msgspec

from ..files.text import checked_date, iso_date, plain_date

ANY, DUMPS, EXPORTS = LAYOUTS = ("any", "dumps", "exports")
"""The layouts. "any" accepts both.

A dump is preferred to an export of the same date, because it has SQL tables of that date and half the size.
"""

_IN_NAME = re.compile(r"wik\w+-(\d{8}|\d{4}-\d\d-\d\d|latest)-")


def date_in_name(path: str) -> str:
    """Returns the date in the name of a dump file, without hyphens, or "latest".

    Returns "" if the name has neither.
    """
    found = _IN_NAME.search(posixpath.basename(path))
    return plain_date(found[1]) if found else ""


def date_in_names(names: Iterable[str]) -> str:
    """Returns the date that all the file names have in common.

    For example, the date in "elwiki-20261101-page_props.sql.gz" is "20261101". Returns "" if a name has no
    date, or if the dates differ.
    """
    dates = {checked_date(date_in_name(name)) for name in names}
    return dates.pop() if len(dates) == 1 else ""


MULTISTREAM, PLAIN = "-multistream", ""
MAX_GAP_PAGES = 1_000
"""Largest accepted gap between the last page id of a part and the first page id of the next part.

There are gaps in old dumps: a part begins with the first page that exists, so unused ids before this page are
in no part.
"""

# Formats that can be read from the middle come first.
_SUFFIXES = (".bz2", "", ".gz", ".xz")
_TABLE_SUFFIXES = (".gz", "", ".bz2", ".xz")
_JOBS = {MULTISTREAM: "articlesmultistreamdump", PLAIN: "articlesdump"}
_TABLE_JOBS = {"page_props": "pagepropstable", "page": "pagetable"}
_NOT_YET = ("in-progress", "waiting")
NOT_DONE = (*_NOT_YET, "failed", "skipped", "partial", "missing")
_NUMBER = r"\d{1,18}"  # fits 64 bits


class UnusableDumpError(Exception):
    """Raised if a folder contains no dump, or an incomplete one. The message gives the reason."""


class DumpFolder(NamedTuple):
    """A folder with the files of one wiki and date."""

    dbname: str  # "ukwiki"
    date: str  # "20230501" or "latest"
    sizes: Mapping[str, int]  # name of a file → bytes
    jobs: Mapping[str, Any]  # of dumpstatus.json; empty where there is none


class DumpFiles(NamedTuple):
    """The names of the files that make up one dump."""

    dump: tuple[str, ...]  # one file, or all parts in the order of their pages
    page_props: tuple[str, ...]  # one or none
    page_table: tuple[str, ...]  # one or none


class _Part(NamedTuple):
    number: int  # 1 in "pages-articles1.xml"; 0 where the name has none
    first: int  # page id; 0 where the name has none
    last: int
    name: str
    suffix: str = ""  # of _SUFFIXES


class _ListedFile(TypedDict, total=False):
    size: Annotated[int, msgspec.Meta(ge=0, le=10**18)]
    sha1: Annotated[str, msgspec.Meta(pattern=r"^(?:[0-9A-Fa-f]{40})?$")]
    md5: Annotated[str, msgspec.Meta(pattern=r"^(?:[0-9A-Fa-f]{32})?$")]


class _Job(TypedDict, total=False):
    status: str
    files: dict[str, _ListedFile]


class _Jobs(TypedDict, total=False):
    """The jobs of the dump server whose files are needed to build corpora.

    All other jobs are skipped while dumpstatus.json is parsed.
    """

    articlesdump: _Job
    articlesdumprecombine: _Job
    articlesmultistreamdump: _Job
    articlesmultistreamdumprecombine: _Job
    pagepropstable: _Job
    pagetable: _Job
    wbitemspersitetable: _Job


class _DumpStatus(TypedDict):
    jobs: _Jobs


def parse_jobs(dumpstatus: bytes) -> Mapping[str, Any]:
    """Parses a dumpstatus.json. Returns name → job, for the jobs whose files are needed to build corpora.

    Raises UnusableDumpError if the file has another format.
    """
    try:
        return dict(msgspec.json.decode(dumpstatus, type=_DumpStatus)["jobs"])
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        reason = f"dumpstatus.json does not have the format of the dump server: {error}"
        raise UnusableDumpError(reason) from None


def select_files(folder: DumpFolder) -> DumpFiles:
    """Chooses the files that make up the dump in a folder.

    Multistream files are preferred to plain ones, and a single file to parts. Raises UnusableDumpError if the
    folder has no complete dump, or if the file of an SQL table is empty or still being written.
    """
    return DumpFiles(
        dump=_select_dump(folder),
        page_props=select_table(folder, "page_props"),
        page_table=select_table(folder, "page"),
    )


def _select_dump(folder: DumpFolder) -> tuple[str, ...]:
    first_reason = ""
    for kind in (MULTISTREAM, PLAIN):
        for parts in (_whole_file(folder, kind), _parts(folder, kind)):
            if not parts:
                continue
            if not (reason := _why_not_whole(folder, kind, parts)):
                return tuple(part.name for part in parts)
            first_reason = first_reason or reason
    raise UnusableDumpError(first_reason or "no pages-articles dump")


def _whole_file(folder: DumpFolder, kind: str) -> list[_Part]:
    stem = f"{folder.dbname}-{folder.date}-pages-articles{kind}.xml"
    names = (stem + suffix for suffix in _SUFFIXES)
    return [_Part(0, 0, 0, name) for name in names if name in folder.sizes][:1]


def _parts(folder: DumpFolder, kind: str) -> list[_Part]:
    """Returns the parts of a dump in page order. `kind` is MULTISTREAM or PLAIN.

    If a part exists with several compressions, only the file with the preferred one is returned: the first
    in _SUFFIXES.
    """
    found = list(_parse_parts(folder, kind, folder.sizes))
    found.sort(key=lambda part: _SUFFIXES.index(part.suffix), reverse=True)
    return sorted({part[:3]: part for part in found}.values())


def _parse_parts(folder: DumpFolder, kind: str, names: Mapping[str, Any]) -> Iterator[_Part]:
    stem = re.escape(f"{folder.dbname}-{folder.date}-pages-articles{kind}")
    pattern = re.compile(rf"{stem}({_NUMBER})\.xml(?:-p({_NUMBER})p({_NUMBER}))?(\.bz2|\.gz|\.xz|)")
    for found in filter(None, map(pattern.fullmatch, names)):
        number, first, last = (int(group or 0) for group in found.groups()[:3])
        yield _Part(number, first, last, found[0], found[4])


def _why_not_whole(folder: DumpFolder, kind: str, parts: Sequence[_Part]) -> str:
    """Returns the reason why the parts are not a complete dump, or "" if they seem complete.

    Args:
      folder: the folder of the dump.
      kind: MULTISTREAM or PLAIN.
      parts: all parts of the dump, or its single file.
    """
    is_whole_file = not parts[0].number
    job = _JOBS[kind]
    # A large wiki is dumped in parts; another job concatenates them.
    if is_whole_file and f"{job}recombine" in folder.jobs:
        job = f"{job}recombine"
    status = folder.jobs.get(job, {}).get("status", "done")
    if status != "done":
        return f"{job} is {status} according to dumpstatus.json"
    if not is_whole_file and (reason := _why_not_all(folder, kind, job, parts)):
        return reason
    return next(filter(None, (_why_not_written(folder, part.name) for part in parts)), "")


def _why_not_all(folder: DumpFolder, kind: str, job: str, parts: Sequence[_Part]) -> str:
    listed = sorted(_parse_parts(folder, kind, folder.jobs.get(job, {}).get("files", {})))
    present = {part[:3] for part in parts}
    if absent := [part.name for part in listed if part[:3] not in present]:
        return f"{len(absent)} of {len(listed)} parts are missing: {name_some(absent, len(absent))}"
    numbers = {part.number for part in parts}
    if gaps := max(numbers) - len(numbers):
        missing = (str(number) for number in itertools.count(1) if number not in numbers)
        return f"of {max(numbers)} parts, these are missing: {name_some(missing, gaps)}"
    for one, other in itertools.pairwise(sorted(parts, key=lambda part: part.first)):
        if one.last and other.first and other.first <= one.last:
            return f"{one.name} and {other.name} overlap"
        if one.last and other.first - one.last > MAX_GAP_PAGES:
            return f"no part has the pages {one.last + 1:,} to {other.first - 1:,}"
    return ""


def name_some(names: Iterable[str], count: int) -> str:
    """Returns a text such as "a, b, c and 5 more": the first three names, and the number of the others.

    `count` is the number of all names.
    """
    more = f" and {count - 3:,} more" if count > 3 else ""
    return ", ".join(itertools.islice(names, min(count, 3))) + more


def select_table(folder: DumpFolder, table: str) -> tuple[str, ...]:
    """Returns (file name,) for the SQL dump of a table, or () if the folder does not contain it.

    Raises UnusableDumpError if the SQL dump is empty or still being written. A build without the table is not
    an alternative, because it would produce a different corpus.
    """
    job = _TABLE_JOBS.get(table, "")
    if folder.jobs.get(job, {}).get("status") in _NOT_YET:
        raise UnusableDumpError(
            f"{job} is {folder.jobs[job]['status']} according to dumpstatus.json"
        )
    stem = f"{folder.dbname}-{folder.date}-{table}.sql"
    for suffix in _TABLE_SUFFIXES:
        if (name := stem + suffix) in folder.sizes:
            if reason := _why_not_written(folder, name):
                raise UnusableDumpError(reason)
            return (name,)
    return ()


def _why_not_written(folder: DumpFolder, name: str) -> str:
    if not (size := folder.sizes[name]):
        return f"{name} is empty"
    for job in folder.jobs.values():
        listed = job.get("files", {}).get(name, {}).get("size", size)
        if listed != size:
            return (
                f"{name} is still being written: it has {size:,} bytes,"
                f" but dumpstatus.json says {listed:,}"
            )
    return ""


MAX_GAP_SHARE = 4
"""A gap between two files is accepted if it has at most 1 / MAX_GAP_SHARE of the ids of each of the files.

A gap of at most MAX_GAP_PAGES ids is always accepted.
"""

CURRENT, HISTORY = "mediawiki_content_current", "mediawiki_content_history"
"""Folders of the site: current revisions of the pages, and all revisions."""

SUMS = "SHA256SUMS"
FOLDER_OF_FILES = "xml"

# Formats that can be read from the middle come first, then the format that is faster to decompress.
_EXPORT_SUFFIXES = (".bz2", "", ".zst", ".gz", ".xz")
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
    if not found or found["suffix"] not in _EXPORT_SUFFIXES:
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
        if not (found := _SUM.fullmatch(line.rstrip())):
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
    found = [number for number, suffix in enumerate(_EXPORT_SUFFIXES) if suffix in suffixes]
    return min(found, default=len(_EXPORT_SUFFIXES))


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
        > max(MAX_GAP_PAGES, min(file.last - file.first for file in (one, other)) // MAX_GAP_SHARE)
    ]
