"""Defines the tables [[corpus]] of a configuration. Each class has the settings and the sources of a kind of
corpus.

pipelines/run/corpora.py names the class for each corpus.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Self

import msgspec

from corpusmill.pipelines.refresh.config import CURRENT_TABLE, CorpusTable, Settings
from corpusmill.pipelines.refresh.remote import RemoteFile
from corpusmill.pipelines.refresh.sources import (
    EntitiesSource,
    FixedSource,
    GutenbergSource,
    NewsSource,
    WikimediaSource,
)
from corpusmill.pipelines.run.editions import is_future
from corpusmill.transforms.files.dates import plain_date
from corpusmill.transforms.files.translation_records import DOMAINS
from corpusmill.transforms.wikipedia.sites import load_site
from corpusmill.transforms.wikitext.wikis import (
    LANGUAGE_CODES,
    canonical_code,
    dbname_of,
    open_codes,
)

_ALIASES: Mapping[tuple[str, ...], Callable[[], Sequence[str]]] = {
    ("all",): open_codes,
    ("paper",): lambda: LANGUAGE_CODES,
}
_DATE = re.compile(r"\d{4}[\w.-]*")


def _wiki_source(
    table: CorpusTable, dbname: str, roles: tuple[str, ...], settings: Settings
) -> WikimediaSource:
    keep_good = table.build.get("on_corrupt") == "keep-good"
    return WikimediaSource(dbname, roles, settings.mirrors, settings.layout, keep_good)


class EntitiesTable(CorpusTable, frozen=True, kw_only=True):
    """The settings for the entity table of Wikidata."""

    def sources(self, settings: Settings) -> tuple[EntitiesSource]:
        """Returns the sources of the input files."""
        return (EntitiesSource(settings.mirrors),)


class LanguageTable(CorpusTable, frozen=True, kw_only=True):
    """The settings that all corpora of one language have in common."""

    language: str = ""

    def default_name(self) -> str:
        """Returns the name of the corpus and the code of the language, such as "wiki40b-uk"."""
        return f"{self.kind}-{self.language}"

    def given(self) -> dict[str, str]:
        """Returns a mapping with the only build setting that is a key of this table: `language`."""
        return {"language": self.language}


class Wiki40bTable(LanguageTable, frozen=True, kw_only=True):
    """The settings for one or more languages of Wiki-40B."""

    joins: ClassVar[str] = "entities"

    languages: tuple[str, ...] = ()
    """Several languages instead of `language`. ("all",) means all Wikipedias, ("paper",) the paper's 41."""
    page_props: bool = True  # download the Wikidata item of each page
    page_table: bool = False  # download the page table; a page that is not in it was deleted
    entities: str = CURRENT_TABLE  # "current", of [[corpus]] kind = "entities"; "none"; a folder

    def one_by_one(self) -> Sequence[Self]:
        """Returns a table for each language.

        Raises ValueError unless exactly one of `language` and `languages` is set.
        """
        if bool(self.language) == bool(self.languages):
            raise ValueError(
                f'[[corpus]] kind = "{self.kind}": set either `language` or `languages`'
            )
        if self.language:
            return [msgspec.structs.replace(self, language=canonical_code(self.language))]
        named = _ALIASES.get(self.languages)
        codes = named() if named else dict.fromkeys(map(canonical_code, self.languages))
        return [
            msgspec.structs.replace(
                self, language=code, languages=(), name=f"{self.name}-{code}" if self.name else ""
            )
            for code in codes
        ]

    def sources(self, settings: Settings) -> tuple[WikimediaSource]:
        """Returns the sources of the input files."""
        wanted = {"page_props": self.page_props, "page_table": self.page_table}
        roles = ("dump", *(role for role in wanted if wanted[role]))
        return (_wiki_source(self, dbname_of(self.language), roles, settings),)


class NewsTable(LanguageTable, frozen=True, kw_only=True):
    """The settings for One Billion Word, which is built from yearly news files."""

    language: str = "en"
    first_year: int = 0  # 0 is the first year on the server
    last_year: int = 9999

    def sources(self, settings: Settings) -> tuple[NewsSource]:
        """Returns the sources of the input files."""
        years = (self.first_year, self.last_year)
        return (NewsSource(self.language, *years, mirrors=settings.news_mirrors),)


class GutenbergTable(CorpusTable, frozen=True, kw_only=True):
    """The settings for a corpus of books from Project Gutenberg's weekly archive."""

    books: str = "txt-files.tar.zip"  # names of the files on the server
    catalog: str = "pg_catalog.csv"

    def sources(self, settings: Settings) -> tuple[GutenbergSource]:
        """Returns the sources of the input files."""
        return (GutenbergSource(self.books, self.catalog, settings.gutenberg_mirrors),)


class SitesTable(CorpusTable, frozen=True, kw_only=True):
    """The settings for FLORES-101, which is built from several English wikis."""

    sites: tuple[str, ...] = ("wikinews", "wikibooks", "wikivoyage")  # or wikipedia

    def sources(self, settings: Settings) -> tuple[WikimediaSource, ...]:
        """Returns the sources of the input files."""
        return tuple(_wiki_source(self, wiki, ("dump",), settings) for wiki in self._wikis())

    def setting_of(self, source: str, role: str) -> str:
        """Returns the name of the build setting for the dump of a wiki.

        The setting has the name of the site to which the wiki belongs. For example, it is "wikinews" for the
        wiki (`source`) "enwikinews".
        """
        return self._wikis()[source]

    def _wikis(self) -> dict[str, str]:
        unknown = [site for site in self.sites if site not in DOMAINS]
        if unknown or not self.sites:
            known = ", ".join(DOMAINS)
            raise ValueError(
                f"`sites` must be one or more of {known}, got {', '.join(unknown) or 'no site'}"
            )
        return {load_site(site).dbname: site for site in self.sites}


class FilesTable(CorpusTable, frozen=True, kw_only=True):
    """The settings for a corpus whose input files are listed one by one.

    If the field `date` is changed in the configuration, a new edition is built.
    """

    date: str
    files: Mapping[str, tuple[str, ...]]  # setting of the corpus → addresses

    def sources(self, settings: Settings) -> tuple[FixedSource]:
        """Returns the sources of the input files."""
        if not _DATE.fullmatch(self.date):
            raise ValueError(f"`date` must begin with a year, got {self.date!r}")
        date = plain_date(self.date)
        if is_future(date):
            raise ValueError(f"`date` must not be in the future, got {self.date!r}")
        files = {
            role: tuple(RemoteFile(url.rpartition("/")[2], (url,)) for url in urls)
            for role, urls in self.files.items()
        }
        names = [file.name for of_role in files.values() for file in of_role]
        if not names or "" in names or len(set(names)) < len(names):
            raise ValueError("`files` must list at least one address, and no file name twice")
        return (FixedSource(self.label, date, files),)
