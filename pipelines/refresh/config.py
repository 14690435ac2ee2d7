"""refresh.toml: what is refreshed, from where, and where it goes."""

import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, Union, cast

import msgspec

from pipelines.corpora import load, rows
from pipelines.engines.runners import runner_named
from pipelines.refresh.sources import GUTENBERG, NEWS_CRAWL, WIKIMEDIA, Source
from transforms.text.builds.plausibility import DOUBTS, Usual

CURRENT_TABLE = "current"  # the build to join that the same configuration keeps
NO_TABLE = "none"

_Derived = TypeVar("_Derived", bound=msgspec.Struct)
_NAME = re.compile(r"\w[\w.-]*")

Count = Annotated[int, msgspec.Meta(ge=1)]
Bytes = Annotated[int, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Doubted: Any = Literal[tuple(DOUBTS)]


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file: what is not a field of it is an error."""


class Settings(_Table, frozen=True, kw_only=True):
    """The table [refresh]. Relative paths are relative to the folder of the file."""

    output: str  # parent of the editions, on any file system of Beam's
    contact: str  # address of whoever runs this, for the people of the servers
    downloads: str = (
        ""  # folder of this configuration alone; "" is .downloads in an output on a store
    )
    state: str = ""  # folder; "" is .refresh in `downloads`
    metrics: str = ""  # file for Prometheus; "" is metrics.prom in `state`
    keep: Count = 2  # editions of each corpus, the current one among them
    keep_downloads: bool = False  # else those of an accepted edition are removed
    connections: Annotated[int, msgspec.Meta(ge=1, le=3)] = 2  # servers allow no more
    min_free_bytes: Bytes = 0  # that downloads and output must leave
    max_removed_share: Share = 0.2  # of the documents of an edition that may be gone in the next
    verify: bool = True  # check every file of an edition before it becomes the current one
    runner: str = "in-process"
    workers: int = 0  # of the in-process runner, and of Spark here; 0 is one for each core
    ignore_memory: bool = False  # build although the in-process runner has too little of it
    beam_flags: tuple[str, ...] = ()
    mirrors: tuple[str, ...] = WIKIMEDIA
    layout: Literal["any", "dumps", "exports"] = "any"  # of the wikis on them; the newest of both
    gutenberg_mirrors: tuple[str, ...] = GUTENBERG
    news_mirrors: tuple[str, ...] = NEWS_CRAWL

    def __post_init__(self) -> None:
        if self.workers < 0:
            raise ValueError(f"workers is {self.workers}, and must not be negative")
        if not self.downloads and "://" not in self.output:
            raise ValueError("downloads is missing: a folder of its own")

    @property
    def engine(self) -> dict[str, Any]:
        """The settings of the runner, as keyword arguments of `launch` and of checks."""
        flags = self.beam_flags
        return {
            "runner": runner_named(self.runner),
            "workers": self.workers or None,
            "beam_flags": flags,
        }


class CorpusTable(_Table, kw_only=True, tag_field="kind", frozen=True):
    """The fields that every table [[corpus]] may have; `kind` names the corpus."""

    name: str = ""  # of it in messages, metrics and the state; "" is made of kind and language
    allow_moves: bool = False  # take an edition although documents are in other splits than before
    accept: tuple[Doubted, ...] = ()  # what shows damaged input, and does not end a build
    min_documents: int | None = None
    """Documents of an edition that is published; None is what is usual for the corpus."""
    max_rejected_shares: Mapping[str, Share] = {}
    """Reason → share of the documents that may be lost to it in an edition that is published."""
    build: Mapping[str, Any] = {}  # settings of the corpus: flags of its command, with underscores

    joins: ClassVar[str] = (
        ""  # corpus whose current edition its builds take, as a setting of that name
    )

    @property
    def kind(self) -> str:
        """The name of the corpus."""
        return str(self.__struct_config__.tag)

    def default_name(self) -> str:
        """The name of the table where it is given none."""
        return self.kind

    def one_by_one(self) -> Sequence[Self]:
        """A table for each edition. Raises ValueError."""
        return [self]

    def sources(self, settings: Settings) -> tuple[Source, ...]:
        """The sources of its files. Raises ValueError."""
        raise NotImplementedError

    def setting_of(self, source: str, role: str) -> str:
        """The setting of the corpus that takes the files of a source."""
        return role

    def given(self) -> Mapping[str, str]:
        """Settings of the corpus that are in the table itself."""
        return {}

    @property
    def usual(self) -> Usual:
        """The least that an edition must have."""
        usual = rows()[self.kind].usual
        documents = usual.documents if self.min_documents is None else self.min_documents
        return Usual(documents, {**usual.shares, **self.max_rejected_shares})

    @property
    def label(self) -> str:
        """Its name; no two tables of a file have the same."""
        return self.name or self.default_name()


class RefreshConfig(_Table, frozen=True, kw_only=True):
    """The whole file."""

    refresh: Settings
    corpus: tuple[CorpusTable, ...]


def tables() -> dict[str, type[CorpusTable]]:
    """Name of each corpus that can be refreshed → its kind of table."""
    return {
        row.name: _derive(row.name, load(row.refresh), tag=row.name)
        for row in rows().values()
        if row.refresh
    }


def _type_of_file() -> type[RefreshConfig]:
    kinds: Any = Union[tuple(tables().values())]  # noqa: UP007
    return _derive("RefreshConfig", RefreshConfig, ("corpus", tuple[kinds, ...]))


def _derive(
    name: str, base: type[_Derived], *fields: tuple[str, Any], **how: Any
) -> type[_Derived]:
    derived: Any = msgspec.defstruct(name, fields, bases=(base,), frozen=True, kw_only=True, **how)
    return cast(type[_Derived], derived)


def load_config(path: str) -> RefreshConfig:
    """Reads the file. Raises ValueError, one line that names the file and the key."""
    try:
        content = pathlib.Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    try:
        config = msgspec.toml.decode(content, type=_type_of_file())
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ValueError(f"{path}: {_explain(str(error))}") from None
    try:
        return _resolved(config, pathlib.Path(path).absolute().parent)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def in_order(tables: Sequence[CorpusTable]) -> list[CorpusTable]:
    """As they are refreshed: what others need comes first."""
    needed = {table.joins for table in tables}
    return sorted(tables, key=lambda table: table.kind not in needed)


def _explain(message: str) -> str:
    """The key as the file has it: `$.corpus[0].kind` → [[corpus]] 1: kind."""
    what, _, place = message.partition(" - at `$.")
    place = place.rstrip("`")
    if place.endswith(".kind"):
        what += f"; known are {', '.join(tables())}"
    place = re.sub(r"^corpus\[(\d+)\]\.?", lambda m: f"[[corpus]] {int(m[1]) + 1}: ", place)
    place = re.sub(r"^refresh\.?", "[refresh]: ", place)
    return f"{place.removesuffix(': ')}: {what}" if place else what.removesuffix(" - at `$`")


def _resolved(config: RefreshConfig, folder: pathlib.Path) -> RefreshConfig:
    """With absolute paths, and the defaults that depend on others."""
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
    """Raises ValueError for names that are none, and that two have."""
    if not tables:
        raise ValueError("there is no [[corpus]]")
    labels = [table.label for table in tables]
    for label in labels:
        if not _NAME.fullmatch(label):
            raise ValueError(f"{label!r} is not a name: use letters, digits, ., - and _")
        if labels.count(label) > 1:
            raise ValueError(
                f"two [[corpus]] are called {label}; give one a name, and settings of its own"
            )
