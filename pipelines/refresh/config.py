"""Reads refresh.toml: which corpora are refreshed, their sources and the output folder."""

import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, Union, cast

import msgspec

from corpusmill.pipelines.refresh.sources import GUTENBERG, NEWS_CRAWL, WIKIMEDIA, Source
from corpusmill.pipelines.run.corpora import load, rows
from corpusmill.transforms.files.builds.manifest_schema import is_name
from corpusmill.transforms.files.builds.plausibility import DOUBTS, Usual
from corpusmill.transforms.files.runners import runner_named

CURRENT_TABLE = "current"  # value that means: the current edition of a [[corpus]] in this file
NO_TABLE = "none"

_Derived = TypeVar("_Derived", bound=msgspec.Struct)

Count = Annotated[int, msgspec.Meta(ge=1)]
Bytes = Annotated[int, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Doubted: Any = Literal[tuple(DOUBTS)]


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of refresh.toml. Unknown keys are errors."""


class Settings(_Table, frozen=True, kw_only=True):
    """The table [refresh] of refresh.toml. Relative paths are relative to the folder of this file."""

    output: str  # parent folder of the editions, on any file system that Beam supports
    contact: str  # e-mail address or web page of the operator, sent to the servers
    downloads: str = (
        ""  # folder used by this configuration only; "" is .downloads in an output on a store
    )
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
    layout: Literal["any", "dumps", "exports"] = "any"  # for wikis; "any" takes the newer
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
        flags = self.beam_flags
        return {
            "runner": runner_named(self.runner),
            "workers": self.workers or None,
            "beam_flags": flags,
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

    joins: ClassVar[str] = (
        ""  # corpus whose current edition is an input of the builds; also the name of the setting
    )

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


def _type_of_file() -> type[RefreshConfig]:
    kinds: Any = Union[tuple(tables().values())]  # noqa: UP007
    return _derive("RefreshConfig", RefreshConfig, ("corpus", tuple[kinds, ...]))


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
        config = msgspec.toml.decode(content, type=_type_of_file())
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
