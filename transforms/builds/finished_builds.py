"""Finished builds → their rows, a row group at a time.

A finished build is a folder with a file COMPLETED, which holds the SHA-256 of manifest.json; the
manifest lists every file. What is not in the manifest is not read.
"""

import collections
import contextlib
import fnmatch
import glob
import hashlib
import logging
import pathlib
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.io.filesystem import BeamIOError
from apache_beam.io.filesystems import FileSystems

from transforms.files.open_input import InputError, is_there, open_raw, parse_json
from transforms.files.spread import Spread, SpreadAll
from transforms.files.stores import is_local, refusal_of
from transforms.text.fingerprint import SPLITS

COMPLETED = "COMPLETED"
MANIFEST = "manifest.json"
_UNDER_CONSTRUCTION = re.compile(r"((?:[^/]+/)*?\.[^/]*\.building-[^/]*)(?:/|$)")
"""A folder that a running or killed build writes in, and what is below."""


class _Output(msgspec.Struct):
    """The entry of a file in a manifest, as `OutputFile`."""

    name: str
    split: str
    format: str
    records: int
    bytes: int
    sha256: str


class _Counts(msgspec.Struct):
    kept: dict[str, int] = {}


class _Manifest(msgspec.Struct):
    """The fields of every manifest, and the types of those that only some have."""

    signature: str
    corpus: str
    edition: str
    dump_date: str
    version: str
    outputs: list[_Output]
    counts: _Counts = msgspec.field(default_factory=_Counts)
    settings: dict[str, Any] = {}


class Build(NamedTuple):
    """A finished build."""

    folder: str
    corpus: str  # "wiki40b"
    edition: str  # "uk"
    dump_date: str  # "20230501"
    signature: str
    manifest: Mapping[str, Any]
    files: Mapping[str, Sequence[str]]  # split → paths of its Parquet files, in order
    sha256: str  # of manifest.json: it stands for every byte of the build

    @property
    def name(self) -> str:
        """The name of the build among the builds of a corpus: "uk/20230501-1.1.0"."""
        return f"{self.edition}/{self.dump_date}-{self.manifest['version']}"

    @property
    def language(self) -> str:
        """That of its settings, or "uk" of "wiki40b|lang:uk|dump:…"; an edition has more in its name."""
        if language := self.manifest.get("settings", {}).get("language"):
            return str(language)
        parts = (part.partition(":") for part in self.signature.split("|"))
        return next((value for name, _, value in parts if name == "lang"), self.edition)


def age_of(build: Build) -> tuple[bool, str, tuple[int, ...], str]:
    """Returns the key that sorts builds by age, the newest last. One without a date ("latest") is older
    than any.
    """
    version = tuple(map(int, build.manifest["version"].split(".")))
    return build.dump_date.isdigit(), build.dump_date, version, build.sha256


class FoundFolders(NamedTuple):
    """The builds below some folders. Sorted."""

    finished: list[str]  # folders with a file COMPLETED
    unfinished: list[str]  # a build has not ended there, or was killed


class CorpusFile(NamedTuple):
    """A Parquet file of a build."""

    path: str
    split: str
    edition: str
    build: str  # Build.name
    corpus: str  # "wiki40b"


class RowGroup(NamedTuple):
    """A part of a Parquet file that is read in one piece."""

    file: CorpusFile
    number: int  # in the file
    rows: int


class CorpusRows(NamedTuple):
    """The rows of one row group, in the order of the file."""

    file: CorpusFile
    table: pa.Table  # the columns that were asked for


class ReadCorpus(beam.PTransform):
    """Pipeline → PCollection[CorpusRows].

    Args:
      builds: to read; a build given twice is read twice.
      columns: of the Parquet files.
      splits: which to read.
    """

    def __init__(
        self, builds: Iterable[Build], columns: Sequence[str], splits: Sequence[str] = SPLITS
    ):
        super().__init__()
        self.files = [file for build in builds for file in files_of(build, splits)]
        self.columns = tuple(columns)

    def expand(self, root: beam.Pipeline) -> beam.PCollection:
        return (
            root
            | "SpreadFiles" >> SpreadAll(self.files, of=CorpusFile)
            | "SpreadRowGroups" >> Spread(row_groups_of, of=RowGroup)
            | "ReadRowGroups"
            >> beam.Map(read_row_group, self.columns).with_output_types(CorpusRows)
        )


def mark_of(manifest: bytes) -> bytes:
    """Returns the content of COMPLETED for a manifest: its SHA-256."""
    return f"{hashlib.sha256(manifest).hexdigest()}  {MANIFEST}\n".encode()


def open_build(folder: str) -> Build:
    """Reads what a build says of itself.

    Raises InputError where the folder holds no finished build, or one whose manifest was changed.
    """
    mark = FileSystems.join(folder, COMPLETED)
    path = FileSystems.join(folder, MANIFEST)
    if not is_there(mark):
        raise InputError(folder, f"no finished build: there is no file {COMPLETED}")
    if not is_there(path):
        raise InputError(folder, f"no build: there is no file {MANIFEST}")
    content = _read_bytes(path)
    if _read_bytes(mark) != mark_of(content):
        raise InputError(mark, f"does not fit {MANIFEST}: one of them was changed or is damaged")
    manifest = _parse_manifest(path, content)
    return Build(
        folder=folder,
        **{name: manifest[name] for name in ("corpus", "edition", "dump_date", "signature")},
        manifest=manifest,
        files={split: _paths(folder, manifest, split) for split in SPLITS},
        sha256=hashlib.sha256(content).hexdigest(),
    )


def read_json(folder: str, name: str) -> Any:
    """A JSON file of a build. Raises InputError where it is missing or damaged."""
    path = FileSystems.join(folder, name)
    try:
        return parse_json(path, _read_bytes(path))
    except FileNotFoundError as error:
        raise InputError(path, f"the build is damaged: {error}") from None


def _parse_manifest(path: str, content: bytes) -> Mapping[str, Any]:
    manifest: Mapping[str, Any] = parse_json(path, content)
    try:
        msgspec.convert(manifest, _Manifest)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:  # half a surrogate pair
        raise InputError(path, f"not the manifest of a build: {error}") from None
    return manifest


def _paths(folder: str, manifest: Mapping[str, Any], split: str) -> list[str]:
    return [
        path_below(folder, name)
        for name in sorted(
            file["name"]
            for file in manifest["outputs"]
            if (file["split"], file["format"]) == (split, "parquet")
        )
    ]


def path_below(folder: str, name: str) -> str:
    """The path of a file of a build, whose name may have folders; "" is the folder itself."""
    return str(FileSystems.join(folder, *name.split("/"))) if name else folder


def _read_bytes(path: str) -> bytes:
    with open_raw(path) as stream:
        return stream.read()


def find_builds(folders: Iterable[str], corpus: str) -> list[Build]:
    """The finished builds of a corpus that hold text, sorted by edition, date and version.

    A folder is a build itself or lies above some, at any depth; unfinished builds are passed over with a
    warning. Raises InputError where a folder has no finished build below it, or a damaged one.
    """
    found = find_folders(folders)
    for folder in found.unfinished:
        logging.getLogger(__name__).warning("passed over, not finished: %s", folder)
    # A build of models over other builds has no rows.
    builds = [
        build
        for build in map(open_build, found.finished)
        if build.corpus == corpus and any(build.files.values())
    ]
    return sorted(
        builds, key=lambda one: (one.edition, one.dump_date, one.manifest["version"], one.folder)
    )


def find_folders(folders: Iterable[str]) -> FoundFolders:
    """Looks for builds at and below folders, each of which must have a finished one."""
    finished: set[str] = set()
    unfinished: set[str] = set()
    for folder in map(normalise, folders):
        names_in: dict[str, set[str]] = collections.defaultdict(set)
        for path in files_below(folder):
            place, name = posixpath.split(path.removeprefix(folder).lstrip("/"))
            names_in[place].add(name)
        has_finished = False
        for place, names in names_in.items():
            if building := _UNDER_CONSTRUCTION.match(place):
                unfinished.add(path_below(folder, building[1]))
            elif COMPLETED in names:
                finished.add(path_below(folder, place))
                has_finished = True
            elif MANIFEST in names or fnmatch.filter(names, "train-*-of-*.parquet"):
                unfinished.add(path_below(folder, place))
        if not has_finished:
            raise InputError(folder, "no finished build here or below")
    return FoundFolders(sorted(finished), sorted(unfinished - finished))


def normalise(folder: str) -> str:
    """The folder as paths below it begin: absolute on a disk, without a slash at its end."""
    return folder.rstrip("/") if "://" in folder else str(pathlib.Path(folder).resolve())


def is_under_construction(folder: str) -> bool:
    """Returns True for a folder in which a build writes before it has its final name."""
    return bool(_UNDER_CONSTRUCTION.match(f"{posixpath.basename(folder)}/"))


def files_below(folder: str) -> list[str]:
    """The paths of all files below a folder, hidden ones included. Raises InputError, BeamIOError."""
    try:
        (match,) = FileSystems.match([f"{glob.escape(folder)}/**"])
    except BeamIOError as error:
        if is_local(folder):
            raise
        raise InputError(folder, refusal_of(error)) from error
    return [metadata.path for metadata in match.metadata_list]


def files_of(build: Build, splits: Sequence[str] = SPLITS) -> list[CorpusFile]:
    """The Parquet files of a build, in order. Raises ValueError for a split that does not exist."""
    unknown = set(splits) - set(SPLITS)
    if unknown:
        raise ValueError(f"no such split: {', '.join(sorted(unknown))}; there are {SPLITS}")
    return [
        CorpusFile(path, split, build.edition, build.name, build.corpus)
        for split in splits
        for path in build.files[split]
    ]


def row_groups_of(file: CorpusFile) -> list[RowGroup]:
    """The row groups of a file, from its footer."""
    with _opened(file.path) as parquet:
        footer = parquet.metadata
        numbers = range(footer.num_row_groups)
        return [RowGroup(file, number, footer.row_group(number).num_rows) for number in numbers]


def columns_of(path: str) -> list[str]:
    """The columns of a Parquet file. Raises InputError where it is damaged."""
    return list(schema_of(path).names)


def schema_of(path: str) -> pa.Schema:
    """The columns of a Parquet file, and their types. Raises InputError where it is damaged."""
    with _opened(path) as parquet:
        return parquet.schema_arrow


def count_rows(path: str) -> int:
    """The rows of a Parquet file, from its footer. Raises InputError where it is damaged."""
    with _opened(path) as parquet:
        return int(parquet.metadata.num_rows)


def read_row_group(group: RowGroup, columns: Sequence[str]) -> CorpusRows:
    """Reads a row group. Raises InputError where the file is damaged or lacks a column."""
    with _opened(group.file.path) as parquet:
        return _read(parquet, group.file, group.number, columns)


def read_file(file: CorpusFile, columns: Sequence[str]) -> Iterator[CorpusRows]:
    """Reads all row groups of a file, one after the other."""
    with _opened(file.path) as parquet:
        for number in range(parquet.num_row_groups):
            yield _read(parquet, file, number, columns)


def _read(
    parquet: pq.ParquetFile, file: CorpusFile, number: int, columns: Sequence[str]
) -> CorpusRows:
    names = parquet.schema_arrow.names
    missing = [name for name in columns if name not in names]
    if missing:
        raise InputError(
            file.path, f"lacks the column {', '.join(missing)}; it has {', '.join(names)}"
        )
    table = parquet.read_row_group(number, columns=list(columns)).select(list(columns))
    table.validate(full=True)  # that texts are UTF-8 above all
    return CorpusRows(file, table)


@contextlib.contextmanager
def _opened(path: str) -> Iterator[pq.ParquetFile]:
    """An open Parquet file whose errors name it."""
    if not FileSystems.exists(path):
        raise InputError(path, "no such file")
    with open_raw(path) as stream:
        try:
            yield pq.ParquetFile(stream)
        except (pa.ArrowException, OSError) as error:
            # Arrow's own errors have no number, those of the system do.
            if isinstance(error, OSError) and error.errno:
                raise InputError(path, f"cannot be read: {error}", is_unread=True) from None
            raise InputError(path, f"not a valid Parquet file: {error}") from None
