"""Describes the sources of dumps. Each source has a list of mirrors, the preferred one first.

There are three sites. dumps.wikimedia.org has a folder for each wiki and date, with dumpstatus.json or
SHA256SUMS; it also has Wikidata's entities, with files of checksums. www.gutenberg.org/cache/epub/feeds has
files that are replaced every week. data.statmt.org/news-crawl has a file for each year.

Describes dumps and files on servers, and the errors of finding and downloading them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.wikipedia.dump_folder import ANY

_PASSWORD = re.compile(r"(?<=://)[^/?#\s]*@")


def hide_passwords(text: str) -> str:
    """Replaces user names and passwords in URLs, as in "https://***@mirror/"."""
    return _PASSWORD.sub("***@", text)


class RemoteFile(NamedTuple):
    """A file on one or more servers."""

    name: str  # "ukwiki-20261101-page_props.sql.gz", no folder
    urls: tuple[str, ...]  # all with the same bytes, in order of preference
    size: int = -1  # bytes; -1 unknown
    checksum: str = ""  # "sha1:da39…", "sha256:…", "md5:…"; "" unknown
    etag: str = ""  # ETag at the first URL; set if nothing else distinguishes versions of the file


class RemoteDump(NamedTuple):
    """The files that a source, such as a wiki, has published for one date."""

    source: str  # "ukwiki"
    date: str  # "20261101"; for news a year, "2025"
    # role → files; most roles are build settings, such as "dump"
    files: Mapping[str, tuple[RemoteFile, ...]]

    @property
    def all_files(self) -> list[RemoteFile]:
        """The files of all roles, in one list."""
        return [file for of_role in self.files.values() for file in of_role]


class SiteError(BuildError):
    """No server of a source could be reached, or a server sent a response that cannot be understood."""

    def __init__(self, message: str):
        super().__init__(hide_passwords(message))


class DownloadError(BuildError):
    """A file could not be downloaded. The bytes received so far are kept for the next attempt."""

    def __init__(self, name: str, url: str, reason: str):
        url, reason = hide_passwords(url), hide_passwords(reason)
        super().__init__(f"{name} from {url}: {reason}" if url else f"{name}: {reason}")
        self.name, self.url, self.reason = name, url, reason

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.name, self.url, self.reason)


class DiskFullError(DownloadError):
    """The disk does not have enough space for the files."""


WIKIMEDIA = ("https://dumps.wikimedia.org",)
GUTENBERG = ("https://www.gutenberg.org/cache/epub/feeds",)
NEWS_CRAWL = ("https://data.statmt.org/news-crawl",)

ROLES_OF_ANY_DATE = ("page_props",)
"""Roles whose files may have another date than the pages. The page table must have the same date, because
pages that are missing in an older table may be new.
"""

_DBNAME = re.compile(r"[a-z][a-z0-9_]*")
_LANGUAGE = re.compile(r"[a-z]{2,3}")


class _Mirrored:
    """A source with mirrors. Raises ValueError for invalid mirrors."""

    mirrors: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the source, and of its folder of downloads."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        for number, mirror in enumerate(self.mirrors, start=1):
            if not mirror.startswith(("http://", "https://")):
                raise ValueError(f"mirror {hide_passwords(mirror)!r} must begin with https://")
            try:
                parse_url(mirror)
            except LocationParseError:
                # The address is not shown, because it may contain a password.
                raise ValueError(
                    f"mirror {number} of {self.name} is not a valid address; if its password has special"
                    " characters, write %40 for @ and %2F for /"
                ) from None
        if not self.mirrors:
            raise ValueError(f"the list of mirrors for {self.name} is empty")


@dataclass(frozen=True)
class WikimediaSource(_Mirrored):
    """A wiki. Its files are in `<mirror>/ukwiki/20261101/` or
    `<mirror>/other/mediawiki_content_current/ukwiki/2026-11-01/`.

    The second folder has a Content File Export, which has no SQL tables.
    """

    dbname: str  # "ukwiki"
    roles: tuple[str, ...] = ("dump", "page_props")  # needed files, such as "page_table"
    mirrors: tuple[str, ...] = WIKIMEDIA
    layout: str = ANY  # from LAYOUTS
    keep_good: bool = False  # accept an export with missing pages

    @property
    def name(self) -> str:
        return self.dbname

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _DBNAME.fullmatch(self.dbname):
            raise ValueError(
                f"{self.dbname!r} is not the name of a wiki; expected a name like ukwiki"
            )


@dataclass(frozen=True)
class EntitiesSource(_Mirrored):
    """Wikidata's entities, such as `<mirror>/wikidatawiki/entities/20261102/wikidata-20261102-all.json.bz2`.

    `<mirror>/other/wikibase/wikidatawiki/` has the same folders.
    """

    mirrors: tuple[str, ...] = WIKIMEDIA

    name = "wikidata"
    roles = ("dump",)


@dataclass(frozen=True)
class GutenbergSource(_Mirrored):
    """Project Gutenberg's weekly archive of all books, `<mirror>/txt-files.tar.zip`, and its catalogue.

    Each new archive replaces the old one under the same name. The date of an archive is that of the header
    Last-Modified.
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
    """News sentences crawled for WMT, with a file for each year:
    `<mirror>/en/news.2025.en.shuffled.deduped.gz`.

    The date of a dump is its newest year. The site has no checksums. A file counts as finished if it has not
    changed for `settled_hours`.
    """

    language: str = "en"
    first_year: int = 0  # 0 for the first year on the server
    last_year: int = 9999
    settled_hours: float = 24.0  # hours since its last change after which a file is finished
    mirrors: tuple[str, ...] = NEWS_CRAWL

    roles = ("input",)

    @property
    def name(self) -> str:
        return f"news-{self.language}"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _LANGUAGE.fullmatch(self.language):
            raise ValueError(f"language must be a code like en, got {self.language!r}")


class FixedSource(NamedTuple):
    """Files that a configuration lists one by one.

    If the date in the configuration is changed, a new edition is built.
    """

    name: str
    date: str
    files: Mapping[str, tuple[RemoteFile, ...]]

    @property
    def roles(self) -> tuple[str, ...]:
        return tuple(self.files)


Source = WikimediaSource | EntitiesSource | GutenbergSource | NewsSource | FixedSource
"""Any source. `name` is also the name of its download folder; `roles` are the uses of its files
in a build.
"""
