"""dumps.wikimedia.org and its mirrors: wikis, and Wikidata's entities.

Of a wiki's folder `dumpstatus.json` says which jobs are done, with size and SHA-1 of every file; a dump takes
days, and its folder is there from the first hour. In the folder of entities the file of checksums gets its
line when a file is finished.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any

import requests

from pipelines.refresh.ask import read_headers, read_listing, read_page
from pipelines.refresh.listings import dates_in, names_in
from pipelines.refresh.remote import RemoteDump, RemoteFile
from pipelines.refresh.sources import EntitiesSource, WikimediaSource
from transforms.text.wikimedia.dump_folder import (
    DumpFolder,
    UnusableDumpError,
    parse_jobs,
    select_files,
    select_table,
)

LOG = logging.getLogger(__name__)

_TABLES = {  # role → table, job
    "page_props": ("page_props", "pagepropstable"),
    "page_table": ("page", "pagetable"),
    "items_per_site": ("wb_items_per_site", "wbitemspersitetable"),
}
_PAGES_JOBS = re.compile(r"articles(?:multistream)?dump(?:recombine)?")
_SUMS = re.compile(r"wikidata-\d{8}-sha1sums\.txt")
_SUM = re.compile(r"([0-9a-f]{40}) [ *]((wikidata-(\d{8})-all\.json)\.bz2)")


def find_wiki(source: WikimediaSource, mirror: str, session: requests.Session) -> RemoteDump | None:
    """The newest dump on a mirror whose needed jobs are all done."""
    folder = f"{mirror}/{source.dbname}"
    for date in dates_in(read_listing(session, f"{folder}/")):
        status = read_page(session, f"{folder}/{date}/dumpstatus.json")
        if status is None:
            continue
        try:
            jobs = parse_jobs(status)
            names = select_finished(source, date, jobs)
        except UnusableDumpError as error:
            LOG.info("%s/%s is passed over: %s", folder, date, error)
            continue
        listed = dict(_list_files(jobs))
        return RemoteDump(
            source.name,
            date,
            {
                role: tuple(_wiki_file(f"{folder}/{date}", name, listed[name]) for name in chosen)
                for role, chosen in names.items()
            },
        )
    return None


def select_finished(
    source: WikimediaSource, date: str, jobs: Mapping[str, Any]
) -> Mapping[str, tuple[str, ...]]:
    """Role → names of its files: pages as one file before parts, and never twice.

    Raises UnusableDumpError where a needed job is not done.
    """
    needed = {_TABLES[role][1] for role in source.roles if role in _TABLES}
    for job in sorted(needed):
        status = jobs.get(job, {}).get("status", "not there")
        if status != "done":
            raise UnusableDumpError(f"{job} is {status}, says dumpstatus.json")
    asked = {
        name: job for name, job in jobs.items() if name in needed or _PAGES_JOBS.fullmatch(name)
    }
    sizes = {name: int(file.get("size", 0)) for name, file in _list_files(asked)}
    folder = DumpFolder(source.dbname, date, sizes, asked)
    names: dict[str, tuple[str, ...]] = {}
    for role in source.roles:
        if role == "dump":
            names[role] = select_files(folder).dump
        else:
            names[role] = select_table(folder, _TABLES[role][0])
        if not names[role]:
            raise UnusableDumpError(f"dumpstatus.json names no file of {role}")
    return names


def _list_files(jobs: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Files of the jobs that are done; others have files that are still being written."""
    for job in jobs.values():
        if job.get("status") == "done":
            yield from job.get("files", {}).items()


def _wiki_file(folder: str, name: str, listed: Mapping[str, Any]) -> RemoteFile:
    sums = (f"{kind}:{listed[kind]}" for kind in ("sha1", "md5") if listed.get(kind))
    return RemoteFile(name, (f"{folder}/{name}",), int(listed["size"]), next(sums, ""))


def find_entities(
    source: EntitiesSource, mirror: str, session: requests.Session
) -> RemoteDump | None:
    """The newest dump of entities on a mirror that has its checksum.

    Its date is that of the file, which may be a day after that of the folder.
    """
    entities = f"{mirror}/wikidatawiki/entities"
    for date in dates_in(read_listing(session, f"{entities}/")):
        folder = f"{entities}/{date}"
        names = names_in(read_page(session, f"{folder}/") or b"")
        for sums_name in filter(_SUMS.fullmatch, names):
            sums = (read_page(session, f"{folder}/{sums_name}") or b"").decode("ascii", "replace")
            found = next(filter(None, map(_SUM.fullmatch, sums.splitlines())), None)
            if not found:
                continue
            headers = read_headers(session, f"{folder}/{found[2]}")
            if headers is not None:
                size = int(headers.get("Content-Length", -1))
                file = RemoteFile(found[2], (f"{folder}/{found[2]}",), size, f"sha1:{found[1]}")
                return RemoteDump(source.name, found[4], {"dump": (file,)})
    return None
