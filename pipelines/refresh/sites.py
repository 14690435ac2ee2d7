"""Finds the newest finished dumps of a source on its mirrors.

Finds files on sites without checksums: the feeds of Project Gutenberg and the news of WMT.
"""

import email.utils
import logging
import re
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from typing import Any
from urllib.parse import urlsplit

import requests

from ..run.editions import is_future
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
from .wikimedia_site import find_entities, find_wiki, names_in

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
