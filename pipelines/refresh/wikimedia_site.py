"""Finds dumps of wikis and of Wikidata's entities on dumps.wikimedia.org and its mirrors.

The folder of a dump exists from the first hour, but making the dump of a wiki takes days. `dumpstatus.json`
in this folder lists the jobs that are finished, and the size and SHA-1 of every file. In a folder of
entities, a file is finished when it is listed in the file of checksums.
"""

import dataclasses
import functools
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import requests

from corpusmill.pipelines.refresh.ask import (
    SERVER_FAULTS,
    describe_error,
    read_headers,
    read_page,
    read_size,
)
from corpusmill.pipelines.refresh.dated_folders import read_dates
from corpusmill.pipelines.refresh.export_site import find_export
from corpusmill.pipelines.refresh.listings import names_in
from corpusmill.pipelines.refresh.remote import RemoteDump, RemoteFile, SiteError, hide_passwords
from corpusmill.pipelines.refresh.sources import ROLES_OF_ANY_DATE, EntitiesSource, WikimediaSource
from corpusmill.pipelines.run.editions import is_future
from corpusmill.transforms.wikipedia.dump_folder import (
    DumpFolder,
    UnusableDumpError,
    is_in_progress,
    parse_jobs,
    select_files,
    select_table,
)
from corpusmill.transforms.wikipedia.dump_layouts import ANY, DUMPS, EXPORTS

LOG = logging.getLogger(__name__)

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
    layouts = {DUMPS: find_dump}
    if "dump" in source.roles:
        layouts[EXPORTS] = _find_export_with_tables
    finders = [find for layout, find in layouts.items() if source.layout in (ANY, layout)]
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
        except SERVER_FAULTS as error:
            if not found:
                raise
            faults.append(f"{hide_passwords(mirror)}: {describe_error(error)}")
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
    except (SiteError, *SERVER_FAULTS) as error:
        newest, reason = None, describe_error(error)
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
        status = read_page(session, f"{folder}/dumpstatus.json")
        if status is None:
            faults.append(f"{folder} has no dumpstatus.json")
            continue
        jobs: Mapping[str, Any] = {}
        try:
            jobs = parse_jobs(status)
            return _describe_dump(source, folder, date, jobs)
        except UnusableDumpError as error:
            faults.append(f"{folder} is skipped: {error}")
        is_known = is_in_progress(jobs)
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
    files = {
        role: tuple(_wiki_file(folder, name, listed[name]) for name in chosen)
        for role, chosen in names.items()
    }
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
            raise UnusableDumpError(f"{job} is {status} according to dumpstatus.json")
    asked = {
        name: job for name, job in jobs.items() if name in needed or _PAGES_JOBS.fullmatch(name)
    }
    sizes = {name: file.get("size", 0) for name, file in _list_files(asked)}
    folder = DumpFolder(source.dbname, date, sizes, asked)
    names: dict[str, tuple[str, ...]] = {}
    for role in source.roles:
        if role == "dump":
            names[role] = select_files(folder).dump
        else:
            names[role] = select_table(folder, _TABLES[role][0])
        if not names[role]:
            raise UnusableDumpError(f"dumpstatus.json lists no file for {role}")
    return names


def _list_files(jobs: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields a pair (name, description) for each file of the finished jobs. Files of other jobs
    are still being written.
    """
    for job in jobs.values():
        if job.get("status") == "done":
            yield from job.get("files", {}).items()


def _wiki_file(folder: str, name: str, listed: Mapping[str, Any]) -> RemoteFile:
    sums = (f"{kind}:{listed[kind].lower()}" for kind in ("sha1", "md5") if listed.get(kind))
    return RemoteFile(name, (f"{folder}/{name}",), listed.get("size", -1), next(sums, ""))


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
        names = names_in(read_page(session, f"{folder}/") or b"")
        for sums_name in filter(_SUMS.fullmatch, names):
            sums = (read_page(session, f"{folder}/{sums_name}") or b"").decode("ascii", "replace")
            is_awaited |= bool(_ANY_SUM.search(sums))
            found = next(filter(None, map(_SUM.fullmatch, sums.splitlines())), None)
            if not found or is_future(found[4]):
                continue
            url = f"{folder}/{found[2]}"
            headers = read_headers(session, url)
            if headers is not None:
                file = RemoteFile(found[2], (url,), read_size(url, headers), f"sha1:{found[1]}")
                return RemoteDump(source.name, found[4], {"dump": (file,)})
    if not is_awaited:
        raise SiteError(f"{entities}/: no folder has a file of checksums")
    return None
