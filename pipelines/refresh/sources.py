"""Kinds of sites, as a configuration names them. Every one has mirrors, the preferred first.

Formats of the sites: dumps.wikimedia.org (a folder per wiki and date with a dumpstatus.json, or with
SHA256SUMS; Wikidata's entities with files of checksums), www.gutenberg.org/cache/epub/feeds (files that
are replaced every week), data.statmt.org/news-crawl (a file per year, in a list).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from pipelines.refresh.remote import RemoteFile, hide_passwords
from transforms.text.wikimedia.dump_layouts import ANY, LAYOUTS

WIKIMEDIA = ("https://dumps.wikimedia.org",)
GUTENBERG = ("https://www.gutenberg.org/cache/epub/feeds",)
NEWS_CRAWL = ("https://data.statmt.org/news-crawl",)

WIKIMEDIA_ROLES = ("dump", "page_props", "page_table", "items_per_site")
ROLES_OF_ANY_DATE = ("page_props",)
"""Roles whose files may be of another date than the pages. Pages that are not in the page table may have been
made after it."""

_DBNAME = re.compile(r"[a-z][a-z0-9_]*")
_LANGUAGE = re.compile(r"[a-z]{2,3}")


class _Mirrored:
    """A source with mirrors. Raises ValueError for settings that none can have."""

    mirrors: tuple[str, ...]

    @property
    def name(self) -> str:
        """The folder of its downloads."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        for number, mirror in enumerate(self.mirrors, start=1):
            if not mirror.startswith(("http://", "https://")):
                shown = hide_passwords(mirror)
                raise ValueError(f"{shown!r} is not a mirror; it must begin with https://")
            try:
                parse_url(mirror)
            except (
                LocationParseError
            ):  # there may be a password in it, which nobody can tell from the rest
                raise ValueError(
                    f"mirror {number} of {self.name} is not an address; write special characters of a"
                    " password as %40 for @, %2F for /"
                ) from None
        if not self.mirrors:
            raise ValueError(f"no mirror is named for {self.name}")


@dataclass(frozen=True)
class WikimediaSource(_Mirrored):
    """A wiki: `<mirror>/ukwiki/20261101/…`, `<mirror>/other/mediawiki_content_current/ukwiki/2026-11-01/…`.

    Content File Exports, the latter, have no tables.
    """

    dbname: str  # "ukwiki"
    roles: tuple[str, ...] = ("dump", "page_props")  # of WIKIMEDIA_ROLES; all must be finished
    mirrors: tuple[str, ...] = WIKIMEDIA
    layout: str = ANY  # of LAYOUTS
    keep_good: bool = False  # take an export that lacks pages

    @property
    def name(self) -> str:
        return self.dbname

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _DBNAME.fullmatch(self.dbname):
            raise ValueError(f"{self.dbname!r} is not a wiki; one is ukwiki")
        if not self.roles or not {*self.roles} <= {*WIKIMEDIA_ROLES}:
            raise ValueError(f"roles are of {WIKIMEDIA_ROLES}, not {self.roles}")
        if self.layout not in LAYOUTS:
            raise ValueError(f"layout is {self.layout!r}; it is one of {', '.join(LAYOUTS)}")


@dataclass(frozen=True)
class EntitiesSource(_Mirrored):
    """Wikidata's entities: `<mirror>/wikidatawiki/entities/20261102/wikidata-20261102-all.json.bz2`.

    The same folders are below `<mirror>/other/wikibase/wikidatawiki/`.
    """

    mirrors: tuple[str, ...] = WIKIMEDIA

    name = "wikidata"
    roles = ("dump",)


@dataclass(frozen=True)
class GutenbergSource(_Mirrored):
    """Project Gutenberg's weekly archive of all books and its catalogue: `<mirror>/txt-files.tar.zip`.

    The archive is replaced in place: its date is that of Last-Modified.
    """

    books: str = "txt-files.tar.zip"
    catalog: str = "pg_catalog.csv"  # "" for none
    mirrors: tuple[str, ...] = GUTENBERG

    name = "gutenberg"

    @property
    def files(self) -> Mapping[str, str]:
        """Role → name of the file on the server."""
        return {"books": self.books} | ({"catalog": self.catalog} if self.catalog else {})

    @property
    def roles(self) -> tuple[str, ...]:
        return tuple(self.files)


@dataclass(frozen=True)
class NewsSource(_Mirrored):
    """News crawled for WMT: `<mirror>/en/news.2025.en.shuffled.deduped.gz`, a file per year.

    The files are those of all years from first to last; its date is the newest year. There are no
    checksums, and nothing says that a file is finished but its age.
    """

    language: str = "en"
    first_year: int = 0  # 0 for the first that there is
    last_year: int = 9999
    settled_hours: float = 24.0  # since the last change of a file
    mirrors: tuple[str, ...] = NEWS_CRAWL

    roles = ("input",)

    @property
    def name(self) -> str:
        return f"news-{self.language}"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _LANGUAGE.fullmatch(self.language):
            raise ValueError(f"{self.language!r} is not a language of the news; one is en")


class FixedSource(NamedTuple):
    """Files that a configuration names one by one; a new date in it is a new edition."""

    name: str
    date: str
    files: Mapping[str, tuple[RemoteFile, ...]]

    @property
    def roles(self) -> tuple[str, ...]:
        return tuple(self.files)


Source = WikimediaSource | EntitiesSource | GutenbergSource | NewsSource | FixedSource
"""All have a name, that of their folder of downloads, and roles: what their files are to a corpus."""
