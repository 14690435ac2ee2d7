"""Finds the newest finished dumps of a source on its mirrors."""

import logging
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import requests

from corpusmill.pipelines.refresh.ask import SERVER_FAULTS, describe_error
from corpusmill.pipelines.refresh.plain_sites import find_gutenberg, find_news
from corpusmill.pipelines.refresh.remote import RemoteDump, RemoteFile, SiteError, hide_passwords
from corpusmill.pipelines.refresh.sources import (
    ROLES_OF_ANY_DATE,
    EntitiesSource,
    FixedSource,
    GutenbergSource,
    NewsSource,
    Source,
    WikimediaSource,
)
from corpusmill.pipelines.refresh.wikimedia_site import find_entities, find_wiki

LOG = logging.getLogger(__name__)
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
