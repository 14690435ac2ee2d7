"""Finds the newest finished dumps of a source on its mirrors: on dumps.wikimedia.org, in the feeds of Project
Gutenberg, and in the news of WMT.

The folder of a dump exists from the first hour, but making the dump of a wiki takes days. `dumpstatus.json`
in this folder lists the jobs that are finished, and the size and SHA-1 of every file. In a folder of
entities, a file is finished when it is listed in the file of checksums.

The files of a Content File Export are in
`<mirror>/other/mediawiki_content_current/ukwiki/2026-11-01/xml/bzip2/`. An export is finished when this
folder has the file SHA256SUMS, which lists all files. Their sizes are read from the listing page of the
folder. If the page does not contain exact sizes, they are read from the headers of each file.
"""

import dataclasses
import email.utils
import functools
import html
import logging
import re
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC
from typing import Any
from urllib.parse import urlsplit

import requests

from corpusmill.transforms.files.text import iso_date, plain_date
from corpusmill.transforms.wikipedia import dump_folder

from ..run.editions import is_future
from . import http_requests
from .http_requests import SERVER_FAULTS, describe_error, find_file, read_listing
from .sources import (
    ROLES_OF_ANY_DATE,
    EntitiesSource,
    FixedSource,
    GutenbergSource,
    NewsSource,
    RemoteDump,
    RemoteFile,
    SiteError,
    Source,
    WikimediaSource,
    hide_passwords,
)

# After the link: a time, then the size as a whole number at the end of the line. Rounded sizes have a unit.
_SIZE = re.compile(r"\d\d:\d\d(?::\d\d)?\s+(\d{1,18})\s*(?:\n|$)")
# Each part is atomic: a hostile page must not make the search return to earlier characters.
_LINK = re.compile(
    r"""(?i)<a\s(?>[^<>]*?(?<=\s)href\s*=\s*("[^"<>]+"|'[^'<>]+'|[^\s"'<>]+))[^<>]*+>"""
)
_TAG = re.compile(r"<[^<>]*>")


def _read_links(page: bytes) -> Iterator[tuple[str, str]]:
    """Yields a pair (name, text) for each link on a page.

    The name is the last component of the link's path; the text is everything from this link to the next.
    """
    _, *parts = _LINK.split(page.decode("utf-8", "replace"))
    for target, text in zip(parts[::2], parts[1::2], strict=True):
        name = html.unescape(target.strip("\"'")).rstrip("/").rpartition("/")[2]
        yield name, html.unescape(_TAG.sub(" ", text))


def names_in(page: bytes) -> Iterator[str]:
    """Returns the names of the files and folders that a page links to, without final slashes."""
    return (name for name, _ in _read_links(page))


def sizes_in(page: bytes) -> dict[str, int]:
    """Returns file name → size in bytes, for the files whose exact size the page states."""
    found = {name: _SIZE.search(text) for name, text in _read_links(page)}
    return {name: int(size[1]) for name, size in found.items() if size}


def dates_in(page: bytes, separator: str = "") -> list[str]:
    """Returns the dates of the folders on a page in the form "20261101", the newest first.

    Args:
      separator: text between year, month and day in the names of the folders. Names of another form are
        skipped.
    """
    form = re.compile(separator.join(("20[0-9]{2}", "[0-9]{2}", "[0-9]{2}")))
    return sorted(
        {plain_date(name) for name in names_in(page) if form.fullmatch(name)}, reverse=True
    )


_MOST_DATES = 12  # maximum number of dates that are considered per mirror


def read_dates(session: requests.Session, url: str, separator: str = "") -> list[str]:
    """Returns the dates of the subfolders at a URL in the form "20261101", at most 12, the newest first.

    Dates in the future are skipped. Raises SiteError if no date is left.

    Args:
      separator: text between year, month and day in the names of the folders.
    """
    dates = dates_in(http_requests.read_listing(session, url), separator)
    if future := [date for date in dates if is_future(date)]:
        named = f"{', '.join(future[:3])}{' and more' if len(future) > 3 else ''}"
        LOG.warning("%s: skipped folders with dates in the future: %s", hide_passwords(url), named)
    if len(future) == len(dates):
        which = "except some with dates in the future" if future else "with a date"
        raise SiteError(f"{url}: the page lists no folder {which}")
    return dates[len(future) :][:_MOST_DATES]


_COMPRESSIONS = ("bzip2", "uncompressed", "none", "zstd", "gzip")  # in order of preference
_MOST_FILES = 1_000  # limit for one export; enwiki has 19 files


class _UnfinishedError(dump_folder.UnusableDumpError):
    """The export has no SHA256SUMS, so it is still in progress."""


def find_export(
    source: WikimediaSource, mirror: str, session: requests.Session
) -> RemoteDump | None:
    """Returns the newest finished export on a mirror. An export has only pages, no SQL tables.

    Returns None if the only export on the mirror is still in progress.

    Raises SiteError if the mirror has no exports of the wiki, if it has several and none is complete, or if
    its only export cannot be used for another reason.
    """
    wiki = f"{mirror}/other/{dump_folder.CURRENT}/{source.dbname}"
    dates = read_dates(session, f"{wiki}/", "-")
    faults = []
    for date in dates:
        folder = f"{wiki}/{iso_date(date)}/{dump_folder.FOLDER_OF_FILES}"
        try:
            return RemoteDump(
                source.name, date, {"dump": _find_files(source, folder, date, session)}
            )
        except dump_folder.UnusableDumpError as error:
            faults.append(f"{folder} is skipped: {error}")
            is_known = isinstance(error, _UnfinishedError)
            LOG.log(logging.INFO if is_known else logging.WARNING, hide_passwords(faults[-1]))
    if len(dates) == 1 and is_known:
        return None
    raise SiteError(faults[0])


def _find_files(
    source: WikimediaSource, folder: str, date: str, session: requests.Session
) -> tuple[RemoteFile, ...]:
    """Returns the files of the export of one date. `folder` is the address of its folder.

    If the export is complete in several compressions, the preferred one is used.

    Raises UnusableDumpError if no compression is complete.
    """
    there = set(names_in(http_requests.read_page(session, f"{folder}/") or b""))
    error = dump_folder.UnusableDumpError(
        f"the export has no folder {', '.join(_COMPRESSIONS[:-1])} or {_COMPRESSIONS[-1]}"
    )
    for name in filter(there.__contains__, _COMPRESSIONS):
        try:
            return _describe_files(source, f"{folder}/{name}", date, session)
        except dump_folder.UnusableDumpError as reason:
            error = reason
    raise error


def _describe_files(
    source: WikimediaSource, folder: str, date: str, session: requests.Session
) -> tuple[RemoteFile, ...]:
    if (content := http_requests.read_page(session, f"{folder}/{dump_folder.SUMS}")) is None:
        raise _UnfinishedError(f"{dump_folder.SUMS} is missing: the export is not finished")
    sums = dump_folder.parse_sums(content)
    sizes = _find_sizes(folder, filter(dump_folder.parse_name, sums), session)
    export = dump_folder.ExportFolder(source.dbname, date, sizes, sums)
    return tuple(
        RemoteFile(name, (f"{folder}/{name}",), sizes[name], f"sha256:{sums[name]}")
        for name in dump_folder.select_export(export, keep_good=source.keep_good)
    )


def _find_sizes(folder: str, listed: Iterable[str], session: requests.Session) -> Mapping[str, int]:
    """Returns file name → size in bytes, for the files in a folder of the server. Unknown sizes are -1.

    The sizes are read from the listing page of the folder. If a size is missing there, a HEAD request for the
    file is sent.

    Args:
      folder: address of the folder.
      listed: names of the files, from SHA256SUMS.

    Raises UnusableDumpError if the listing page lacks the sizes of more than _MOST_FILES files.
    """
    sizes = {
        name: size
        for name, size in sizes_in(http_requests.read_page(session, f"{folder}/") or b"").items()
        if dump_folder.parse_name(name)
    }
    unknown = [name for name in listed if name not in sizes]
    if len(unknown) > _MOST_FILES:
        raise dump_folder.UnusableDumpError(
            f"{dump_folder.SUMS} lists {len(unknown):,} files whose sizes are not on the page of the"
            " folder"
        )
    for name in unknown:
        if found := http_requests.find_file(session, f"{folder}/{name}"):
            sizes[name] = found[0].size
    return sizes


_TABLES = {  # role → (name of the table, job that writes it)
    "page_props": ("page_props", "pagepropstable"),
    "page_table": ("page", "pagetable"),
    "items_per_site": ("wb_items_per_site", "wbitemspersitetable"),
}
_PAGES_JOBS = re.compile(r"articles(?:multistream)?dump(?:recombine)?")
_ENTITY_FOLDERS = ("wikidatawiki/entities", "other/wikibase/wikidatawiki")
_SUMS = re.compile(r"wikidata-[0-9]{8}-sha1sums\.txt")
_SUM = re.compile(r"([0-9a-f]{40}) [ *]((wikidata-([0-9]{8})-all\.json)\.bz2)")
_ANY_SUM = re.compile(r"^[0-9a-f]{40} [ *]wikidata-", re.MULTILINE)


def find_wiki(source: WikimediaSource, mirror: str, session: requests.Session) -> RemoteDump | None:
    """Returns the newest finished dump or Content File Export of a wiki on a mirror.

    The mirror may have only dumps or only exports. If the newest dump and the newest export have the same
    date, returns the dump, because it also has SQL tables, such as `page_props`.

    Returns None if no dump or export is finished, but one is still in progress. Raises SiteError if the
    mirror has neither a finished dump or export nor one in progress.
    """
    layouts = {dump_folder.DUMPS: find_dump}
    if "dump" in source.roles:
        layouts[dump_folder.EXPORTS] = _find_export_with_tables
    finders = [
        find for layout, find in layouts.items() if source.layout in (dump_folder.ANY, layout)
    ]
    return _find_newest(finders, source, mirror, session)


def _find_newest(
    finders: Sequence[Callable[[Any, str, requests.Session], RemoteDump | None]],
    source: WikimediaSource | EntitiesSource,
    mirror: str,
    session: requests.Session,
) -> RemoteDump | None:
    """Calls all finders and returns the newest dump that they find.

    If several finders find a dump of the newest date, returns that of the first of these finders.

    Args:
      finders: Functions that look for a dump in different folders of the mirror. A finder returns None if a
        dump is in progress, but none is finished. It raises SiteError if there is neither.

    Returns None if no finder finds a dump, but at least one returns None. Raises SiteError if every finder
    raises SiteError. If a request fails, raises its error, unless an earlier finder has returned
    a dump or None.
    """
    found: list[RemoteDump | None] = []
    faults: list[str] = []
    for find in finders:
        try:
            found.append(find(source, mirror, session))
        except SiteError as error:
            faults.append(str(error))
        except http_requests.SERVER_FAULTS as error:
            if not found:
                raise
            faults.append(f"{hide_passwords(mirror)}: {http_requests.describe_error(error)}")
    if not found:
        raise SiteError("; ".join(faults))
    for fault in faults:
        LOG.info("%s: %s", source.name, fault)
    return max(filter(None, found), key=lambda one: one.date, default=None)


def _find_export_with_tables(
    source: WikimediaSource, mirror: str, session: requests.Session
) -> RemoteDump | None:
    """Returns the newest finished export on a mirror; None if the only export is still in progress.

    Exports have no SQL tables. If the source needs tables of ROLES_OF_ANY_DATE, adds these tables of the
    newest finished dump. If the mirror has no such dump, returns the export without tables.
    """
    export = find_export(source, mirror, session)
    tables = tuple(role for role in source.roles if role in ROLES_OF_ANY_DATE)
    if not export or not tables:
        return export
    try:
        newest = find_dump(dataclasses.replace(source, roles=tables), mirror, session)
        reason = "none is finished"
    except (SiteError, *http_requests.SERVER_FAULTS) as error:
        newest, reason = None, http_requests.describe_error(error)
    if newest:
        return export._replace(files={**export.files, **newest.files})
    LOG.info("%s has no tables of %s: %s", hide_passwords(mirror), source.dbname, reason)
    return export


def find_dump(source: WikimediaSource, mirror: str, session: requests.Session) -> RemoteDump | None:
    """Returns the newest finished dump of a wiki on a mirror.

    A dump is finished if all jobs that the source needs are done.

    Returns None if no dump is finished, but one is still in progress. Raises SiteError if the mirror has
    neither a finished dump nor one in progress.
    """
    wiki = f"{mirror}/{source.dbname}"
    faults, is_awaited = [], False
    for date in read_dates(session, f"{wiki}/"):
        folder = f"{wiki}/{date}"
        if (status := http_requests.read_page(session, f"{folder}/dumpstatus.json")) is None:
            faults.append(f"{folder} has no dumpstatus.json")
            continue
        jobs: Mapping[str, Any] = {}
        try:
            jobs = dump_folder.parse_jobs(status)
            return _describe_dump(source, folder, date, jobs)
        except dump_folder.UnusableDumpError as error:
            faults.append(f"{folder} is skipped: {error}")
        is_known = any(job.get("status") in dump_folder.NOT_DONE for job in jobs.values())
        LOG.log(logging.INFO if is_known else logging.WARNING, hide_passwords(faults[-1]))
        is_awaited |= is_known
    if not is_awaited:
        raise SiteError(faults[0])
    return None


def _describe_dump(
    source: WikimediaSource, folder: str, date: str, jobs: Mapping[str, Any]
) -> RemoteDump:
    """Returns the dump in a folder. `jobs` are the jobs in its dumpstatus.json, by name.

    Raises UnusableDumpError if the dump is not finished.
    """
    names = select_finished(source, date, jobs)
    listed = dict(_list_files(jobs))

    def describe(name: str) -> RemoteFile:
        facts = listed[name]
        sums = (f"{kind}:{facts[kind].lower()}" for kind in ("sha1", "md5") if facts.get(kind))
        return RemoteFile(name, (f"{folder}/{name}",), facts.get("size", -1), next(sums, ""))

    files = {role: tuple(map(describe, chosen)) for role, chosen in names.items()}
    return RemoteDump(source.name, date, files)


def select_finished(
    source: WikimediaSource, date: str, jobs: Mapping[str, Any]
) -> Mapping[str, tuple[str, ...]]:
    """Returns the names of the files of a finished dump for each role of `source`.

    If there is no single file with all pages, the names of the partial files are returned.

    Args:
      date: The date of the dump, such as "20261101".
      jobs: The jobs in dumpstatus.json, by name.

    Raises UnusableDumpError if a needed job is not done.
    """
    needed = {_TABLES[role][1] for role in source.roles if role in _TABLES}
    for job in sorted(needed):
        status = jobs.get(job, {}).get("status", "missing")
        if status != "done":
            raise dump_folder.UnusableDumpError(f"{job} is {status} according to dumpstatus.json")
    asked = {
        name: job for name, job in jobs.items() if name in needed or _PAGES_JOBS.fullmatch(name)
    }
    sizes = {name: file.get("size", 0) for name, file in _list_files(asked)}
    folder = dump_folder.DumpFolder(source.dbname, date, sizes, asked)
    names: dict[str, tuple[str, ...]] = {}
    for role in source.roles:
        if role == "dump":
            names[role] = dump_folder.select_files(folder).dump
        else:
            names[role] = dump_folder.select_table(folder, _TABLES[role][0])
        if not names[role]:
            raise dump_folder.UnusableDumpError(f"dumpstatus.json lists no file for {role}")
    return names


def _list_files(jobs: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields a pair (name, description) for each file of the finished jobs. Files of other jobs
    are still being written.
    """
    for job in jobs.values():
        if job.get("status") == "done":
            yield from job.get("files", {}).items()


def find_entities(
    source: EntitiesSource, mirror: str, session: requests.Session
) -> RemoteDump | None:
    """Returns the newest finished dump of Wikidata's entities on a mirror; None if none is finished yet.

    A dump is finished when its checksum is published. Wikimedia publishes these dumps in two folders, but a
    mirror may have only one of them. Raises SiteError if the mirror has no file of checksums at all.
    """
    finders = [functools.partial(_find_entities_below, folder) for folder in _ENTITY_FOLDERS]
    return _find_newest(finders, source, mirror, session)


def _find_entities_below(
    parent: str, source: EntitiesSource, mirror: str, session: requests.Session
) -> RemoteDump | None:
    """Returns the newest finished dump of Wikidata's entities in `parent`, which has a folder for each date.

    The date of the dump is the date in the name of its file, which may be a day later than the name of its
    folder. Returns None if the files of checksums do not list a dump yet.

    Args:
      parent: The path of the parent folder on the mirror.

    Raises SiteError if no folder has a file of checksums.
    """
    entities = f"{mirror}/{parent}"
    is_awaited = False
    for date in read_dates(session, f"{entities}/"):
        folder = f"{entities}/{date}"
        names = names_in(http_requests.read_page(session, f"{folder}/") or b"")
        for sums_name in filter(_SUMS.fullmatch, names):
            sums = (http_requests.read_page(session, f"{folder}/{sums_name}") or b"").decode(
                "ascii", "replace"
            )
            is_awaited |= bool(_ANY_SUM.search(sums))
            found = next(filter(None, map(_SUM.fullmatch, sums.splitlines())), None)
            if not found or is_future(found[4]):
                continue
            dump = http_requests.find_file(session, f"{folder}/{found[2]}", f"sha1:{found[1]}")
            if dump:
                return RemoteDump(source.name, found[4], {"dump": (dump[0],)})
    if not is_awaited:
        raise SiteError(f"{entities}/: no folder has a file of checksums")
    return None


LOG = logging.getLogger(__name__)


def find_gutenberg(
    source: GutenbergSource, mirror: str, session: requests.Session
) -> RemoteDump | None:
    """Returns the current files of Project Gutenberg: the archive of books and, if wanted, the catalogue.

    The dump has the date on which the archive last changed. Never returns None: raises SiteError if a file is
    missing.
    """
    files: dict[str, tuple[RemoteFile, ...]] = {}
    date = ""
    for role, name in source.files.items():
        file, changed = _find_dated(session, f"{mirror}/{name}")
        files[role] = (file,)
        date = date or time.strftime("%Y%m%d", time.gmtime(changed))
    return RemoteDump(source.name, date, files)


def find_news(source: NewsSource, mirror: str, session: requests.Session) -> RemoteDump | None:
    """Returns the news files of the wanted years; None if there is none.

    A file that changed recently is left out, because it may be incomplete.

    Raises SiteError if the mirror lists no news file of this year or an earlier one. Also raises it if a
    listed file of a wanted year is missing, or if its response has no valid Last-Modified header.
    """
    folder = f"{mirror}/{source.language}"
    page = read_listing(session, f"{folder}/")
    pattern = re.compile(rf"news\.([0-9]{{4}})\.{source.language}\.shuffled\.deduped\.gz")
    years = {found[1]: name for name in names_in(page) if (found := pattern.fullmatch(name))}
    if future := sorted(filter(is_future, years)):
        what = f"skipped because the year is in the future: {', '.join(future)}"
        LOG.warning("%s/: %s", hide_passwords(folder), what)
    if len(future) == len(years):
        raise SiteError(f"{folder}/: the page lists no news file of this year or an earlier one")
    files: dict[str, RemoteFile] = {}
    for year, name in sorted(years.items()):
        if year in future or not source.first_year <= int(year) <= source.last_year:
            continue
        listed = ", although the page of its folder lists it"
        file, changed = _find_dated(session, f"{folder}/{name}", listed)
        if changed <= time.time() - source.settled_hours * 3600:
            files[year] = file
    return RemoteDump(source.name, max(files), {"input": tuple(files.values())}) if files else None


def _find_dated(session: requests.Session, url: str, remark: str = "") -> tuple[RemoteFile, float]:
    """Returns a file, and the time at which it last changed, in seconds since 1970.

    Args:
      remark: End of the error message if the file is missing.

    Raises SiteError if the file is missing, or if its response has no valid time.
    """
    if (found := find_file(session, url)) is None:
        raise SiteError(f"{url}: there is no such file{remark}")
    file, headers = found
    try:
        changed = email.utils.parsedate_to_datetime(headers.get("Last-Modified", ""))
        seconds = (changed if changed.tzinfo else changed.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise SiteError(f"{url}: the response has no valid Last-Modified header") from None
    if is_future(changed.strftime("%Y%m%d")):
        raise SiteError(f"{url}: Last-Modified is in the future: {changed}")
    return file, seconds


_SILENT_SECONDS = 600.0
_SILENT: "weakref.WeakKeyDictionary[requests.Session, dict[str, tuple[str, float]]]"
_SILENT = weakref.WeakKeyDictionary()
"""Session → host that could not be reached → (error message, time until which it is not queried again)."""

_FINDERS: Mapping[type, Callable[[Any, str, requests.Session], RemoteDump | None]] = {
    WikimediaSource: find_wiki,
    EntitiesSource: find_entities,
    GutenbergSource: find_gutenberg,
    NewsSource: find_news,
}
"""Class of a source → function (source, mirror, session) that returns the newest finished dump
on a mirror.
"""


def find_offers(source: Source, session: requests.Session) -> list[RemoteDump]:
    """Returns the newest finished dump on each mirror, the newest first. Equal dumps on several mirrors are
    merged.

    Returns an empty list if no dump is finished yet. All mirrors are queried, so an outdated mirror does not
    hide a newer dump on another one.

    Args:
      session: session from `ask.open_session`.

    Raises SiteError if no mirror gave a response that could be understood.
    """
    if isinstance(source, FixedSource):
        return [RemoteDump(source.name, source.date, source.files)]
    offers: list[RemoteDump | None] = []
    failures: list[str] = []
    for mirror in source.mirrors:
        silent = _SILENT.setdefault(session, {})
        failure, until = silent.get(host := urlsplit(mirror).netloc, ("", 0.0))
        if time.monotonic() < until:
            failures.append(failure)
            continue
        LOG.info("%s: querying %s", source.name, hide_passwords(mirror))
        try:
            offers.append(_FINDERS[type(source)](source, mirror.rstrip("/"), session))
            continue
        except SiteError as error:
            failures.append(str(error))
        except SERVER_FAULTS as error:
            failures.append(f"{hide_passwords(mirror)}: {describe_error(error)}")
            if isinstance(error, requests.ConnectionError):
                silent[host] = failures[-1], time.monotonic() + _SILENT_SECONDS
        LOG.warning("%s: a mirror is skipped: %s", source.name, failures[-1])
    if not offers:
        raise SiteError(f"{source.name}: {'; '.join(failures)}")
    merged = merge_offers(list(filter(None, offers)))
    if merged and (lacking := ", ".join({*source.roles} - {*merged[0].files})):
        LOG.warning(
            "%s: the corpus is built without %s, because the dump of %s has no such file",
            source.name,
            lacking,
            merged[0].date,
        )
    return merged


def merge_offers(offers: Sequence[RemoteDump]) -> list[RemoteDump]:
    """Merges the dumps of mirrors. Returns the merged dumps, the newest first.

    Each file gets the addresses of all mirrors that have the same file. If mirrors have different files of
    the same date, both dumps are returned, in the order of the mirrors.
    """
    merged: list[RemoteDump] = []
    newest_first = sorted(offers, key=lambda one: one.date, reverse=True)
    for offer in (_with_all_roles(one, newest_first) for one in newest_first):
        others = [one for one in offers if one.date == offer.date]
        known = {url for one in merged for file in one.all_files for url in file.urls}
        if not known.issuperset(file.urls[0] for file in offer.all_files):
            files = {
                role: tuple(_with_mirrors(file, role, others) for file in chosen)
                for role, chosen in offer.files.items()
            }
            merged.append(offer._replace(files=files))
    return merged


def _with_all_roles(offer: RemoteDump, newest_first: Sequence[RemoteDump]) -> RemoteDump:
    """Adds files that the dump `offer` lacks, from other dumps of the same source. Returns the result.

    For example, an export has no SQL tables, so it gets the tables of a dump. Files of one kind (role) are
    taken from the newest dump that has them. This dump must have the same date as `offer`, unless the role is
    in ROLES_OF_ANY_DATE.
    """
    files = dict(offer.files)
    for other in newest_first:
        for role, chosen in other.files.items():
            if other.date == offer.date or role in ROLES_OF_ANY_DATE:
                files.setdefault(role, chosen)
    return offer._replace(files=files)


def _with_mirrors(file: RemoteFile, role: str, others: Sequence[RemoteDump]) -> RemoteFile:
    for other in (one for offer in others for one in offer.files.get(role, ())):
        if other.name != file.name or other.urls[0] in file.urls:
            continue
        if not _agree(file, other):
            urls = map(hide_passwords, (other.urls[0], file.urls[0]))
            LOG.warning("%s is not used: its size or checksum differs from that of %s", *urls)
            continue
        file = file._replace(
            urls=file.urls + other.urls,
            size=max(file.size, other.size),
            checksum=file.checksum or other.checksum,
        )
    return file


def _agree(one: RemoteFile, other: RemoteFile) -> bool:
    """Returns True unless the two files have different sizes or checksums. Unknown values are ignored."""
    if one.size >= 0 and other.size >= 0 and one.size != other.size:
        return False
    kinds = one.checksum.partition(":")[0], other.checksum.partition(":")[0]
    return kinds[0] != kinds[1] or one.checksum == other.checksum
