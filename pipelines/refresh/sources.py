"""Kinds of sites, as a configuration names them. Every one has mirrors, the preferred first.

Formats of the sites: dumps.wikimedia.org (a folder per wiki and date with a dumpstatus.json; Wikidata's
entities with files of checksums), www.gutenberg.org/cache/epub/feeds (files that are replaced every
week), data.statmt.org/news-crawl (a file per year, in a list).
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from pipelines.refresh.remote import RemoteFile

WIKIMEDIA = ("https://dumps.wikimedia.org",)
GUTENBERG = ("https://www.gutenberg.org/cache/epub/feeds",)
NEWS_CRAWL = ("https://data.statmt.org/news-crawl",)

WIKIMEDIA_ROLES = ("dump", "page_props", "page_table", "items_per_site")
_DBNAME = re.compile(r"[a-z][a-z0-9_]*")
_LANGUAGE = re.compile(r"[a-z]{2,3}")


class WikimediaSource(NamedTuple):
    """A wiki: `<mirror>/ukwiki/20261101/…`."""

    dbname: str  # "ukwiki"
    roles: tuple[str, ...] = ("dump", "page_props")  # of WIKIMEDIA_ROLES; all must be finished
    mirrors: tuple[str, ...] = WIKIMEDIA

    @property
    def name(self) -> str:
        return self.dbname


class EntitiesSource(NamedTuple):
    """Wikidata's entities: `<mirror>/wikidatawiki/entities/20261102/wikidata-20261102-all.json.bz2`.

    Its role is "dump".
    """

    mirrors: tuple[str, ...] = WIKIMEDIA

    @property
    def name(self) -> str:
        return "wikidata"


class GutenbergSource(NamedTuple):
    """Project Gutenberg's weekly archive of all books and its catalogue: `<mirror>/txt-files.tar.zip`.

    Its roles are "books" and "catalog". The archive is replaced in place: its date is that of Last-Modified.
    """

    books: str = "txt-files.tar.zip"
    catalog: str = "pg_catalog.csv"  # "" for none
    mirrors: tuple[str, ...] = GUTENBERG

    @property
    def name(self) -> str:
        return "gutenberg"


class NewsSource(NamedTuple):
    """News crawled for WMT: `<mirror>/en/news.2025.en.shuffled.deduped.gz`, a file per year.

    Its role is "input", the files are those of all years from first to last; its date is the newest year.
    There are no checksums, and nothing says that a file is finished but its age.
    """

    language: str = "en"
    first_year: int = 0  # 0 for the first that there is
    last_year: int = 9999
    settled_hours: float = 24.0  # since the last change of a file
    mirrors: tuple[str, ...] = NEWS_CRAWL

    @property
    def name(self) -> str:
        return f"news-{self.language}"


class FixedSource(NamedTuple):
    """Files that a configuration names one by one; a new date in it is a new edition."""

    name: str
    date: str
    files: Mapping[str, tuple[RemoteFile, ...]]


Source = WikimediaSource | EntitiesSource | GutenbergSource | NewsSource | FixedSource


def check_source(source: Source) -> None:
    """Raises ValueError for settings that no source can have."""
    if not isinstance(source, FixedSource):
        for mirror in source.mirrors:
            if not mirror.startswith(("http://", "https://")):
                raise ValueError(f"{mirror!r} is no mirror; it begins with https://")
        if not source.mirrors:
            raise ValueError(f"no mirror is named for {source.name}")
    if isinstance(source, WikimediaSource):
        if not _DBNAME.fullmatch(source.dbname):
            raise ValueError(f"{source.dbname!r} is no wiki; one is ukwiki")
        unknown = [role for role in source.roles if role not in WIKIMEDIA_ROLES]
        if unknown or not source.roles:
            raise ValueError(f"roles are of {WIKIMEDIA_ROLES}, not {source.roles}")
    if isinstance(source, NewsSource) and not _LANGUAGE.fullmatch(source.language):
        raise ValueError(f"{source.language!r} is no language of the news; one is en")
