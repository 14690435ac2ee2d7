"""A source → the newest dump of it that is finished."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import requests

from pipelines.refresh.ask import describe_error
from pipelines.refresh.plain_sites import find_gutenberg, find_news
from pipelines.refresh.remote import RemoteDump, RemoteFile, SiteError
from pipelines.refresh.sources import (
    EntitiesSource,
    FixedSource,
    GutenbergSource,
    NewsSource,
    Source,
    WikimediaSource,
)
from pipelines.refresh.wikimedia_site import find_entities, find_wiki

LOG = logging.getLogger(__name__)

_FINDERS: Mapping[type, Callable[[Any, str, requests.Session], RemoteDump | None]] = {
    WikimediaSource: find_wiki,
    EntitiesSource: find_entities,
    GutenbergSource: find_gutenberg,
    NewsSource: find_news,
}
"""Kind of source → (source, mirror, session) → the newest finished dump on that mirror."""


def newest_dump(source: Source, session: requests.Session) -> RemoteDump | None:
    """The newest finished dump that any mirror has; None where nothing is finished yet.

    All mirrors are asked: one that lags behind must not hide a newer dump. Of those that have the newest
    the files' urls are, in the order of the mirrors; one whose checksums differ is left out.

    Args:
      session: of `ask.open_session`.

    Raises SiteError where no mirror could be asked.
    """
    if isinstance(source, FixedSource):
        return RemoteDump(source.name, source.date, source.files)
    offers: list[RemoteDump | None] = []
    failures: list[str] = []
    for mirror in source.mirrors:
        try:
            offers.append(_FINDERS[type(source)](source, mirror.rstrip("/"), session))
            continue
        except SiteError as error:
            failures.append(str(error))
        except (requests.RequestException, ValueError) as error:
            failures.append(f"{mirror}: {describe_error(error)}")
        LOG.warning("%s: a mirror is passed over: %s", source.name, failures[-1])
    if not offers:
        raise SiteError(f"{source.name}: {'; '.join(failures)}")
    found = list(filter(None, offers))
    return merge_offers(found) if found else None


def merge_offers(offers: Sequence[RemoteDump]) -> RemoteDump:
    """The newest of what mirrors offer, with the addresses of all that have the same files."""
    newest = max(offer.date for offer in offers)
    first, *others = [offer for offer in offers if offer.date == newest]
    files = {
        role: tuple(_with_mirrors(file, role, others) for file in chosen)
        for role, chosen in first.files.items()
    }
    return first._replace(files=files)


def _with_mirrors(file: RemoteFile, role: str, others: Sequence[RemoteDump]) -> RemoteFile:
    for other in (one for offer in others for one in offer.files.get(role, ())):
        if other.name != file.name:
            continue
        if not _agree(file, other):
            LOG.warning("%s is left out: it differs from %s", other.urls[0], file.urls[0])
            continue
        file = file._replace(
            urls=file.urls + other.urls,
            size=max(file.size, other.size),
            checksum=file.checksum or other.checksum,
        )
    return file


def _agree(one: RemoteFile, other: RemoteFile) -> bool:
    """Whether nothing that is known of both says that they differ."""
    if one.size >= 0 and other.size >= 0 and one.size != other.size:
        return False
    kinds = one.checksum.partition(":")[0], other.checksum.partition(":")[0]
    return kinds[0] != kinds[1] or one.checksum == other.checksum
