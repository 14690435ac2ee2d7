"""Finds the files of a dump in a folder of Wikimedia's dump server, and checks that they are complete.

The folder of one wiki and date contains the same pages several times. The pages are in one file, and again in
several part files. There are plain bz2 files and "multistream" files, which can be read from many positions.
`dumpstatus.json`, if it exists, has the state of each dump job and the size of every file.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypedDict

import msgspec

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
_NOT_DONE = (*_NOT_YET, "failed", "skipped", "partial", "missing")
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


def is_in_progress(jobs: Mapping[str, Any]) -> bool:
    """Returns True if dumpstatus.json says that one of the jobs is not done."""
    return any(job.get("status") in _NOT_DONE for job in jobs.values())


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
            reason = _why_not_whole(folder, kind, parts)
            if not reason:
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
    sizes = (_why_not_written(folder, part.name) for part in parts)
    return next(filter(None, sizes), "")


def _why_not_all(folder: DumpFolder, kind: str, job: str, parts: Sequence[_Part]) -> str:
    listed = sorted(_parse_parts(folder, kind, folder.jobs.get(job, {}).get("files", {})))
    present = {part[:3] for part in parts}
    absent = [part.name for part in listed if part[:3] not in present]
    if absent:
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
    size = folder.sizes[name]
    if not size:
        return f"{name} is empty"
    for job in folder.jobs.values():
        listed = job.get("files", {}).get(name, {}).get("size", size)
        if listed != size:
            return (
                f"{name} is still being written: it has {size:,} bytes,"
                f" but dumpstatus.json says {listed:,}"
            )
    return ""
