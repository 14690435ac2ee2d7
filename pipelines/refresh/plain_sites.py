"""Finds files on sites without checksums: the feeds of Project Gutenberg and the news of WMT."""

import email.utils
import logging
import re
import time
from collections.abc import Mapping
from datetime import UTC

import requests

from corpusmill.pipelines.refresh.ask import read_headers, read_listing, read_size
from corpusmill.pipelines.refresh.listings import names_in
from corpusmill.pipelines.refresh.remote import RemoteDump, RemoteFile, SiteError, hide_passwords
from corpusmill.pipelines.refresh.sources import GutenbergSource, NewsSource
from corpusmill.pipelines.run.editions import is_future

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
        url = f"{mirror}/{name}"
        headers = read_headers(session, url)
        if headers is None:
            raise SiteError(f"{url}: there is no such file")
        files[role] = (_describe(name, url, headers),)
        date = date or time.strftime("%Y%m%d", time.gmtime(_changed(url, headers)))
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
        url = f"{folder}/{name}"
        headers = read_headers(session, url)
        if headers is None:
            raise SiteError(
                f"{url}: there is no such file, although the page of its folder lists it"
            )
        if _changed(url, headers) <= time.time() - source.settled_hours * 3600:
            files[year] = _describe(name, url, headers)
    return RemoteDump(source.name, max(files), {"input": tuple(files.values())}) if files else None


def _changed(url: str, headers: Mapping[str, str]) -> float:
    """Returns the time at which the file at `url` last changed, in seconds since 1970, from its headers.

    Raises SiteError if the headers have no valid time.
    """
    try:
        changed = email.utils.parsedate_to_datetime(headers.get("Last-Modified", ""))
        seconds = (changed if changed.tzinfo else changed.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise SiteError(f"{url}: the response has no valid Last-Modified header") from None
    if is_future(changed.strftime("%Y%m%d")):
        raise SiteError(f"{url}: Last-Modified is in the future: {changed}")
    return seconds


def _describe(name: str, url: str, headers: Mapping[str, str]) -> RemoteFile:
    return RemoteFile(name, (url,), read_size(url, headers), etag=headers.get("ETag", ""))
