"""Reads and checks refresh.toml: which corpora are refreshed, and how each is built from the files of its
sources.

Defines the tables [[corpus]] of a configuration. Each class has the settings and the sources of a kind of
corpus.

pipelines/run/corpora.py names the class for each corpus.
"""

import dataclasses
import os
import pathlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeVar, Union, cast

import msgspec
from apache_beam.io.filesystem import BeamIOError
from apache_beam.io.filesystems import FileSystems
from apache_beam.runners.runner import create_runner

from corpusmill.transforms.files.builds.ledger import DOUBTS, Usual
from corpusmill.transforms.files.builds.manifest import is_name
from corpusmill.transforms.files.errors import DATAFLOW, IN_PROCESS, SPARK, BuildError, runner_named
from corpusmill.transforms.files.records import DOMAINS
from corpusmill.transforms.files.stores import free_bytes
from corpusmill.transforms.files.text import plain_date
from corpusmill.transforms.wikipedia.dump_folder import ANY, LAYOUTS
from corpusmill.transforms.wikipedia.sites import load_site
from corpusmill.transforms.wikitext import wikis

from ..run.corpora import load, rows
from ..run.corpus_build import CorpusBuild
from ..run.editions import is_future
from ..run.engines.engine import check_beam_flags
from ..run.engines.run_pipeline import find_engine
from ..run.extras import check_extras
from ..run.forecast import check_memory, memory_limit
from .http_requests import name_ourselves
from .sources import (
    GUTENBERG,
    NEWS_CRAWL,
    WIKIMEDIA,
    EntitiesSource,
    FixedSource,
    GutenbergSource,
    NewsSource,
    RemoteDump,
    RemoteFile,
    Source,
    WikimediaSource,
)

CURRENT_TABLE = "current"  # value that means: the current edition of a [[corpus]] in this file
NO_TABLE = "none"

_Derived = TypeVar("_Derived", bound=msgspec.Struct)

Count = Annotated[int, msgspec.Meta(ge=1)]
Bytes = Annotated[int, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Doubted: Any = Literal[tuple(DOUBTS)]
Layout: Any = Literal[LAYOUTS]


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of refresh.toml. Unknown keys are errors."""


class Settings(_Table, frozen=True, kw_only=True):
    """The table [refresh] of refresh.toml. Relative paths are relative to the folder of this file."""

    output: str  # parent folder of the editions, on any file system that Beam supports
    contact: str  # e-mail address or web page of the operator, sent to the servers
    # folder used by this configuration only; "" is .downloads in an output on a store
    downloads: str = ""
    state: str = ""  # folder of the state files; "" is .refresh in `downloads`
    metrics: str = ""  # file for Prometheus; "" is metrics.prom in `state`
    keep: Count = 2  # editions of each corpus, including the current one
    keep_downloads: bool = False  # if False, the downloads of accepted editions are removed
    connections: Annotated[int, msgspec.Meta(ge=1, le=3)] = 2  # dump servers allow at most 3
    min_free_bytes: Bytes = 0  # bytes to keep free on the disks of downloads and output
    max_removed_share: Share = 0.2  # share of documents that may be missing in the next edition
    verify: bool = True  # check every file of an edition before it becomes the current one
    runner: str = "in-process"
    workers: int = 0  # processes of the in-process runner and local Spark; 0: one per core
    ignore_memory: bool = False  # build even if the in-process runner has too little memory
    beam_flags: tuple[str, ...] = ()
    mirrors: tuple[str, ...] = WIKIMEDIA
    layout: Layout = ANY  # of wikis; "any" takes the newer
    gutenberg_mirrors: tuple[str, ...] = GUTENBERG
    news_mirrors: tuple[str, ...] = NEWS_CRAWL

    def __post_init__(self) -> None:
        if self.workers < 0:
            raise ValueError(f"workers must be 0 or more, not {self.workers}")
        if not self.downloads and "://" not in self.output:
            raise ValueError("`downloads` is missing: set it to a folder that nothing else uses")

    @property
    def engine(self) -> dict[str, Any]:
        """Returns the settings of the runner as keyword arguments for `launch`, `verify` and comparisons."""
        return {
            "runner": runner_named(self.runner),
            "workers": self.workers or None,
            "beam_flags": self.beam_flags,
        }


class CorpusTable(_Table, kw_only=True, tag_field="kind", frozen=True):
    """The fields that all tables [[corpus]] have in common. The key `kind` in the table names the corpus."""

    name: str = ""  # shown in messages, metrics and the state; "" is the kind and the language
    allow_moves: bool = False  # accept an edition with documents in other splits than before
    accept: tuple[Doubted, ...] = ()  # signs of damaged input that do not stop a build
    min_documents: int | None = None
    """An edition with fewer documents is not published; None uses the default of the corpus."""
    max_rejected_shares: Mapping[str, Share] = {}
    """Reason → share; an edition is not published if a larger share is rejected for this reason."""
    build: Mapping[str, Any] = {}  # settings of the corpus: its command's flags, with underscores

    # corpus whose current edition is an input of the builds; also the name of the setting
    joins: ClassVar[str] = ""

    @property
    def kind(self) -> str:
        """Returns the name of the corpus that the table describes, such as "wiki40b"."""
        return str(self.__struct_config__.tag)

    def default_name(self) -> str:
        """Returns the name that the table has if the key `name` is not set."""
        return self.kind

    def one_by_one(self) -> Sequence[Self]:
        """Returns one table for each corpus that this table describes.

        Raises ValueError for invalid settings.
        """
        return [self]

    def sources(self, settings: Settings) -> tuple[Source, ...]:
        """Returns the sources of the input files. Raises ValueError for invalid settings."""
        raise NotImplementedError

    def setting_of(self, source: str, role: str) -> str:
        """Returns the name of the build setting for the downloaded files of one kind.

        Args:
          source: The name of the source of the files, such as "ukwiki".
          role: The kind of files, such as "dump".
        """
        return role

    def given(self) -> Mapping[str, str]:
        """Returns the build settings that are keys of the table itself, such as `language`.

        The keys of its subtable `build` are not included.
        """
        return {}

    @property
    def usual(self) -> Usual:
        """The limits for publishing an edition: least number of documents, and greatest shares of rejected
        documents.
        """
        usual = rows()[self.kind].usual
        documents = usual.documents if self.min_documents is None else self.min_documents
        return Usual(documents, {**usual.shares, **self.max_rejected_shares})

    @property
    def label(self) -> str:
        """A name for the table in messages and metrics. No other table of the file has the same name."""
        return self.name or self.default_name()


class RefreshConfig(_Table, frozen=True, kw_only=True):
    """The whole configuration file refresh.toml."""

    refresh: Settings
    corpus: tuple[CorpusTable, ...]


def tables() -> dict[str, type[CorpusTable]]:
    """Returns the class of the table [[corpus]] for each corpus that can be refreshed, by corpus name."""
    return {
        row.name: _derive(row.name, load(row.refresh), tag=row.name)
        for row in rows().values()
        if row.refresh
    }


def _derive(
    name: str, base: type[_Derived], *fields: tuple[str, Any], **how: Any
) -> type[_Derived]:
    derived: Any = msgspec.defstruct(name, fields, bases=(base,), frozen=True, kw_only=True, **how)
    return cast(type[_Derived], derived)


def load_config(path: str) -> RefreshConfig:
    """Reads a configuration file.

    Raises ValueError for an invalid file. The message is one line that names the file and the key.
    """
    try:
        content = pathlib.Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    try:
        kinds: Any = Union[tuple(tables().values())]  # noqa: UP007
        form = _derive("RefreshConfig", RefreshConfig, ("corpus", tuple[kinds, ...]))
        config = msgspec.toml.decode(content, type=form)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ValueError(f"{path}: {_explain(str(error))}") from None
    try:
        return _resolved(config, pathlib.Path(path).absolute().parent)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def in_order(tables: Sequence[CorpusTable]) -> list[CorpusTable]:
    """Returns the tables [[corpus]] of a configuration in the order in which the corpora are refreshed.

    Corpora that are inputs of other corpora come first.
    """
    needed = {table.joins for table in tables}
    return sorted(tables, key=lambda table: table.kind not in needed)


def _explain(message: str) -> str:
    """Returns a message of msgspec with a readable path: `$.corpus[0].kind` becomes "[[corpus]] 1: kind"."""
    what, _, place = message.partition(" - at `$.")
    place = place.rstrip("`")
    if place.endswith(".kind"):
        what += f"; known: {', '.join(tables())}"
    place = re.sub(r"^corpus\[(\d+)\]\.?", lambda m: f"[[corpus]] {int(m[1]) + 1}: ", place)
    place = re.sub(r"^refresh\.?", "[refresh]: ", place)
    return f"{place.removesuffix(': ')}: {what}" if place else what.removesuffix(" - at `$`")


def _resolved(config: RefreshConfig, folder: pathlib.Path) -> RefreshConfig:
    """Returns the configuration with absolute paths and with default values filled in.

    Relative paths are relative to `folder`, which contains the configuration file.
    """
    given = config.refresh
    output = _absolute(folder, given.output)
    downloads = _absolute(folder, given.downloads or f"{output}/.downloads")
    state = _absolute(folder, given.state or f"{downloads}/.refresh")
    metrics = _absolute(folder, given.metrics or f"{state}/metrics.prom")
    settings = msgspec.structs.replace(
        given, output=output, downloads=downloads, state=state, metrics=metrics
    )
    corpora = tuple(one for table in config.corpus for one in table.one_by_one())
    _check_names(corpora)
    return msgspec.structs.replace(config, refresh=settings, corpus=corpora)


def _absolute(folder: pathlib.Path, path: str) -> str:
    return path.rstrip("/") if "://" in path else str(folder / path)


def _check_names(tables: Sequence[CorpusTable]) -> None:
    """Raises ValueError if there is no table [[corpus]], or if the name of one is invalid or used twice."""
    if not tables:
        raise ValueError("there is no [[corpus]]: add at least one")
    labels = [table.label for table in tables]
    for label in labels:
        if not is_name(label):
            raise ValueError(f"{label!r} is not a valid name: use only letters, digits, ., - and _")
        if labels.count(label) > 1:
            raise ValueError(
                f"two tables [[corpus]] have the name {label}; set another name in one of them"
            )


_ALIASES: Mapping[tuple[str, ...], Callable[[], Sequence[str]]] = {
    ("all",): wikis.open_codes,
    ("paper",): lambda: wikis.LANGUAGE_CODES,
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
            return [msgspec.structs.replace(self, language=wikis.canonical_code(self.language))]
        named = _ALIASES.get(self.languages)
        codes = named() if named else dict.fromkeys(map(wikis.canonical_code, self.languages))
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
        return (_wiki_source(self, wikis.dbname_of(self.language), roles, settings),)


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
        if (unknown := [site for site in self.sites if site not in DOMAINS]) or not self.sites:
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


Files = Mapping[str, Sequence[str]]
"""Name of a build setting, such as "dump" or "page_props" → paths of its files."""

_GIVEN = "-"  # placeholder for paths while the settings are checked before the download


class Recipe(NamedTuple):
    """The sources of one corpus of the configuration, and a function that builds the corpus."""

    table: CorpusTable
    sources: tuple[Source, ...]
    version: str  # version of the corpus: part of the name of an edition
    edition_folder: str  # path below the output: "wiki40b/uk"; "" if only the build determines it
    place: str  # the same in two recipes only if they certainly share a folder of editions
    # (files, date, folder of the build used as input)
    make: Callable[[Files, str, str], CorpusBuild]


def recipe_of(table: CorpusTable, settings: Settings) -> Recipe:
    """Returns the recipe of a table [[corpus]].

    Raises ValueError with the name of the corpus for invalid settings.
    """
    try:
        return _find_recipe(table, settings)
    except ValueError as error:
        raise ValueError(f"[[corpus]] {table.label}: {error}") from None


def _find_recipe(table: CorpusTable, settings: Settings) -> Recipe:
    row = rows()[table.kind]
    module = row.load()
    config, build = getattr(module, row.settings), getattr(module, row.build)
    sources, given = table.sources(settings), table.given()
    roles = {table.setting_of(one.name, role) for one in sources for role in one.roles}
    edition = _configure(config, table.build, {role: [_GIVEN] for role in roles}, given).edition()

    def make(files: Files, date: str, joined: str) -> CorpusBuild:
        more = {**given, "dump_date": date} | ({table.joins: joined} if table.joins else {})
        corpus: CorpusBuild = build(_configure(config, table.build, files, more))
        return corpus

    folder = f"{row.name}/{edition}" if edition else ""
    place = folder or f"{row.name} {sorted(roles)} {sorted(table.build.items())}"
    return Recipe(table, sources, build.release.version, folder, place, make)


def _configure(
    config: type, build: Mapping[str, Any], files: Files, given: Mapping[str, Any]
) -> Any:
    """Returns the settings of a build as an object of the class `config`.

    Args:
      build: The settings in the subtable `build` of the configuration.
      files: The settings that contain the paths of the downloaded files.
      given: The other settings that the refresh determines.

    Raises ValueError with the name of an unknown or invalid setting.
    """
    fields = {field.name for field in dataclasses.fields(config)}
    taken = {*files, *given, "dump_date"}
    for name in build:
        if name not in fields:
            raise ValueError(f"build: there is no setting {name!r}")
        if name in taken:
            raise ValueError(f"build: remove {name!r}: the refresh sets it")
    try:
        return msgspec.convert({**build, **files, **given}, type=config)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        raise ValueError(f"build: {place.strip('.`')}: {what}".replace(": : ", ": ")) from None


def check_config(config: RefreshConfig) -> None:
    """Checks all settings of refresh.toml. Raises ValueError for the first invalid setting.

    The message of the error has one line.
    """
    settings = config.refresh
    name_ourselves(settings.contact)
    check_beam_flags(settings.beam_flags)
    _check_runner(settings)
    check_extras(
        dict.fromkeys(table.kind for table in config.corpus),
        [getattr(table, "language", "") for table in config.corpus if table.kind == "wiki40b"],
    )
    for name in ("state", "metrics"):
        _check_place(f"[refresh]: {name}", getattr(settings, name), IN_PROCESS)
    _check_folders([recipe_of(table, settings) for table in config.corpus])
    for table in config.corpus:
        joined = getattr(table, table.joins, NO_TABLE)
        if joined not in (NO_TABLE, CURRENT_TABLE):
            _check_place(
                f"[[corpus]] {table.label}: {table.joins}", joined, settings.engine["runner"]
            )


def _check_runner(settings: Settings) -> None:
    try:
        runner = runner_named(settings.runner)
    except ValueError as error:
        raise ValueError(f"[refresh]: runner: {error}") from None
    for name in ("output", "downloads"):
        _check_place(f"[refresh]: {name}", getattr(settings, name), runner)
    try:
        find_engine(runner, settings.workers or os.cpu_count() or 1, settings.beam_flags)
        if runner not in (IN_PROCESS, SPARK):
            create_runner(runner)
    except (ValueError, ImportError, AttributeError) as error:
        raise ValueError(f"[refresh]: runner: {error}") from None


def _check_place(what: str, place: str, runner: str) -> None:
    """Raises ValueError if this machine or the workers of the runner cannot access the path `place`.

    Args:
      what: The name of the setting, for the message.
    """
    if FileSystems.get_scheme(place) is None:
        if runner == DATAFLOW:
            raise ValueError(
                f"{what} is {place}, a folder on this machine, which workers of {DATAFLOW} cannot access;"
                f" use a path in a bucket (gs://), or the runner {IN_PROCESS} or {SPARK}"
            )
        return
    try:
        FileSystems.get_filesystem(place)
    except (BeamIOError, ValueError) as error:
        raise ValueError(f"{what} is {place}, which cannot be accessed: {error}") from None


def _check_folders(recipes: Iterable[Recipe]) -> None:
    """Raises ValueError if two tables [[corpus]] of refresh.toml would write editions to the same folder."""
    labels: dict[str, str] = {}
    for recipe in recipes:
        table = recipe.table
        other = labels.setdefault(recipe.place, table.label)
        if other != table.label:
            folder = recipe.edition_folder or f"one folder of {table.kind}"
            raise ValueError(
                f"[[corpus]] {other} and {table.label} both write to {folder}: their `build` settings do not"
                " distinguish their editions; use two configuration files with different outputs"
            )


def check_room(settings: Settings) -> None:
    """Raises BuildError if the disk for downloads, or the disk for builds, has too little free space.

    The setting `min_free_bytes` is the limit.
    """
    for folder in (settings.downloads, settings.output):
        free = free_bytes(folder)
        if free is not None and free < settings.min_free_bytes:
            raise BuildError(
                f"{folder}: only {free:,} bytes are free, but min_free_bytes is"
                f" {settings.min_free_bytes:,}: free some space"
            )


def check_means(corpus: str, dumps: Iterable[RemoteDump], settings: Settings) -> None:
    """Raises BuildError if this machine has too little disk space or memory to build a corpus from
    the dumps.

    Files of unknown size count as 0 bytes.
    """
    check_room(settings)
    if settings.engine["runner"] != IN_PROCESS or settings.ignore_memory:
        return
    sizes = {file.name: file.size for dump in dumps for file in dump.all_files if file.size > 0}
    model, workers = rows()[corpus].memory, settings.workers or os.cpu_count() or 1
    check_memory(model, model.text_bytes(sizes), workers, memory_limit())
