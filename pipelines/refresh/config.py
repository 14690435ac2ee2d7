"""refresh.toml: what is refreshed, from where, and where it goes."""

import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, get_args

import msgspec

from pipelines.refresh.sources import GUTENBERG, NEWS_CRAWL, WIKIMEDIA
from transforms.text.wikimedia.language import LANGUAGE_CODES

CURRENT_TABLE = "current"  # the entity table that the same configuration keeps
NO_TABLE = "none"
EVERY_LANGUAGE = "all"

_NAME = re.compile(r"\w[\w.-]*")

Count = Annotated[int, msgspec.Meta(ge=1)]
Bytes = Annotated[int, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file: what is not a field of it is an error."""


class Settings(_Table, frozen=True, kw_only=True):
    """The table [refresh]. Relative paths are relative to the folder of the file."""

    output: str  # parent of the editions, on any file system of Beam's
    downloads: str  # folder that belongs to this configuration
    contact: str  # address of whoever runs this, for the people of the servers
    state: str = ""  # folder; "" is .refresh in `downloads`
    metrics: str = ""  # file for Prometheus; "" is metrics.prom in `state`
    keep: Count = 2  # editions of each corpus, the current one among them
    keep_downloads: bool = False  # else those of an accepted edition are removed
    connections: Annotated[int, msgspec.Meta(ge=1, le=2)] = 2  # servers allow no more
    min_free_bytes: Bytes = 0  # that downloads and output must leave
    max_removed_share: Share = 0.2  # of the documents of an edition that may be gone in the next
    verify: bool = True  # check every file of an edition before it becomes the current one
    runner: str = "in-process"
    workers: int = 0  # of the in-process runner, and of Spark here; 0 is one for each core
    ignore_memory: bool = False  # build although the in-process runner has too little of it
    beam_flags: tuple[str, ...] = ()
    mirrors: tuple[str, ...] = WIKIMEDIA
    gutenberg_mirrors: tuple[str, ...] = GUTENBERG
    news_mirrors: tuple[str, ...] = NEWS_CRAWL

    def __post_init__(self) -> None:
        if self.workers < 0:
            raise ValueError(f"workers is {self.workers}, and must not be negative")
        if "://" in self.downloads or "://" in self.state:
            raise ValueError("downloads and state are folders of a disk")


class CorpusTable(_Table, kw_only=True, tag_field="kind", frozen=True):
    """What every table [[corpus]] may have; `kind` says which corpus it is."""

    name: str = ""  # of it in messages, metrics and the state; "" is made of kind and language
    allow_moves: bool = False  # take an edition although documents are in other splits than before
    build: Mapping[str, Any] = {}  # settings of the corpus: flags of its command, with underscores

    def default_name(self) -> str:
        """What the table is called where it has no name."""
        return str(self.__struct_config__.tag)

    @property
    def label(self) -> str:
        """Its name; no two tables of a file have the same."""
        return self.name or self.default_name()


class EntitiesTable(CorpusTable, tag="entities", frozen=True, kw_only=True):
    """The entity table of Wikidata. It is refreshed before all that need it."""


class Wiki40bTable(CorpusTable, tag="wiki40b", frozen=True, kw_only=True):
    """A language of Wiki-40B, or several."""

    language: str = ""
    languages: tuple[
        str, ...
    ] = ()  # instead: a corpus of each; ("all",) is every one that there is
    page_table: bool = False  # fetch it too: a page that is not in it was deleted
    entities: str = CURRENT_TABLE  # that of [[corpus]] kind = "entities"; "none"; or a folder

    def default_name(self) -> str:
        """As above."""
        return f"wiki40b-{self.language}"


class Lm1bTable(CorpusTable, tag="lm1b", frozen=True, kw_only=True):
    """One Billion Word from yearly news."""

    language: str = "en"
    first_year: int = 0  # 0 is the first that there is
    last_year: int = 9999

    def default_name(self) -> str:
        """As above."""
        return f"lm1b-{self.language}"


class Pg19Table(CorpusTable, tag="pg19", frozen=True, kw_only=True):
    """PG-19 from the weekly archive of Project Gutenberg."""

    books: str = "txt-files.tar.zip"  # names of the files on the server
    catalog: str = "pg_catalog.csv"


class SimpleBooksTable(CorpusTable, tag="simplebooks", frozen=True, kw_only=True):
    """SimpleBooks from the same."""

    books: str = "txt-files.tar.zip"
    catalog: str = "pg_catalog.csv"


class Flores101Table(CorpusTable, tag="flores101", frozen=True, kw_only=True):
    """Sentences to translate, from English wikis."""

    sites: tuple[str, ...] = ("wikinews", "wikibooks", "wikivoyage")  # or wikipedia


AnyTable = EntitiesTable | Wiki40bTable | Lm1bTable | Pg19Table | SimpleBooksTable | Flores101Table


KINDS = [str(table.__struct_config__.tag) for table in get_args(AnyTable)]


class RefreshConfig(_Table, frozen=True, kw_only=True):
    """The whole file."""

    refresh: Settings
    corpus: tuple[AnyTable, ...]


def load_config(path: str) -> RefreshConfig:
    """Reads the file. Raises ValueError, one line that names the file and the key."""
    try:
        content = pathlib.Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    try:
        config = msgspec.toml.decode(content, type=RefreshConfig)
    except (msgspec.MsgspecError, ValueError) as error:
        raise ValueError(f"{path}: {_explain(str(error))}") from None
    try:
        return _resolved(config, pathlib.Path(path).absolute().parent)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def in_order(tables: Sequence[AnyTable]) -> list[AnyTable]:
    """As they are refreshed: what others need comes first."""
    return sorted(tables, key=lambda table: not isinstance(table, EntitiesTable))


def _explain(message: str) -> str:
    """The key as the file has it: `$.corpus[0].kind` → [[corpus]] 1: kind."""
    what, _, place = message.partition(" - at `$.")
    place = place.rstrip("`")
    if place.endswith(".kind"):
        what += f"; known are {', '.join(KINDS)}"
    place = re.sub(r"^corpus\[(\d+)\]\.?", lambda m: f"[[corpus]] {int(m[1]) + 1}: ", place)
    place = re.sub(r"^refresh\.?", "[refresh]: ", place)
    return f"{place.removesuffix(': ')}: {what}" if place else what.removesuffix(" - at `$`")


def _resolved(config: RefreshConfig, folder: pathlib.Path) -> RefreshConfig:
    """With absolute paths, and the defaults that depend on others."""
    given = config.refresh
    downloads = str(folder / given.downloads)
    state = str(folder / (given.state or pathlib.Path(given.downloads, ".refresh")))
    metrics = str(folder / (given.metrics or pathlib.Path(state, "metrics.prom")))
    output = given.output if "://" in given.output else str(folder / given.output)
    settings = msgspec.structs.replace(
        given, output=output, downloads=downloads, state=state, metrics=metrics
    )
    tables = tuple(one for table in config.corpus for one in _one_by_one(table))
    _check_names(tables)
    return msgspec.structs.replace(config, refresh=settings, corpus=tables)


def _one_by_one(table: AnyTable) -> Sequence[AnyTable]:
    """A table for each language. Raises ValueError where none is named, or in two ways."""
    if not isinstance(table, Wiki40bTable):
        return [table]
    if bool(table.language) == bool(table.languages):
        raise ValueError('[[corpus]] kind = "wiki40b": it has either language or languages')
    if table.language:
        return [table]
    codes = LANGUAGE_CODES if table.languages == (EVERY_LANGUAGE,) else table.languages
    return [
        msgspec.structs.replace(
            table, language=code, languages=(), name=f"{table.name}-{code}" if table.name else ""
        )
        for code in codes
    ]


def _check_names(tables: Sequence[AnyTable]) -> None:
    """Raises ValueError for names that are none, and that two have."""
    if not tables:
        raise ValueError("there is no [[corpus]]")
    labels = [table.label for table in tables]
    for label in labels:
        if not _NAME.fullmatch(label):
            raise ValueError(f"{label!r} is no name; it has letters, digits, ., - and _")
        if labels.count(label) > 1:
            raise ValueError(
                f"two [[corpus]] are called {label}; give one a name, and settings of its own"
            )
