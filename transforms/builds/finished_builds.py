"""Finished builds → their rows, a row group at a time.

A finished build is a folder with a file COMPLETED, which holds the SHA-256 of manifest.json; the
manifest lists every file. What is not in the manifest is not read.
"""

import fnmatch
import glob
import hashlib
import json
import logging
import pathlib
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.io.filesystem import BeamIOError
from apache_beam.io.filesystems import FileSystems

from transforms.files.open_input import InputError, is_there, open_raw
from transforms.files.spread import Spread, SpreadAll
from transforms.files.stores import is_local, refusal_of
from transforms.text.fingerprint import SPLITS

COMPLETED = "COMPLETED"
MANIFEST = "manifest.json"
_NEEDED = ("signature", "corpus", "edition", "dump_date", "version", "outputs")
_UNDER_CONSTRUCTION = ".*.building-*"  # a folder that a running or killed build writes in


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
        """What to call it among the builds of a corpus: "uk/20230501-1.1.0"."""
        return f"{self.edition}/{self.dump_date}-{self.manifest['version']}"

    @property
    def language(self) -> str:
        """That of its settings, or "uk" of "wiki40b|lang:uk|dump:…"; an edition has more in its name."""
        if language := self.manifest.get("settings", {}).get("language"):
            return str(language)
        parts = (part.partition(":") for part in self.signature.split("|"))
        return next((value for name, _, value in parts if name == "lang"), self.edition)


def age_of(build: Build) -> tuple[bool, str, tuple[int, ...], str]:
    """What builds are sorted by, the newest last. One without a date ("latest") is older than any."""
    version = tuple(map(int, build.manifest["version"].split(".")))
    return build.dump_date.isdigit(), build.dump_date, version, build.sha256


class FoundFolders(NamedTuple):
    """What lies below some folders. Sorted."""

    finished: list[str]
    unfinished: list[str]  # a build has not ended there, or was killed


class RowGroup(NamedTuple):
    """A part of a Parquet file that is read in one piece."""

    path: str
    split: str
    number: int  # in the file
    rows: int
    edition: str  # "uk"
    build: str  # Build.name


class CorpusRows(NamedTuple):
    """The rows of one row group, in the order of the file."""

    edition: str  # "uk"
    split: str
    path: str
    table: pa.Table  # the columns that were asked for
    build: str  # Build.name


class ReadCorpus(beam.PTransform):
    """Pipeline → PCollection[CorpusRows].

    Args:
      builds: to read; a build given twice is read twice.
      columns: of the Parquet files.
      splits: which to read.
      whole_files: one worker reads all row groups of a file, opening it once: for columns so small
        that opening files is most of the work.
    """

    def __init__(
        self,
        builds: Iterable[Build],
        columns: Sequence[str],
        splits: Sequence[str] = SPLITS,
        whole_files: bool = False,
    ):
        super().__init__()
        self.files = [file for build in builds for file in files_of(build, splits)]
        self.columns = tuple(columns)
        self.whole_files = whole_files

    def expand(self, root: beam.Pipeline) -> beam.PCollection:
        files = root | "SpreadFiles" >> SpreadAll(self.files, of=CorpusFile)
        if self.whole_files:
            return files | "ReadFiles" >> beam.FlatMap(read_file, self.columns).with_output_types(
                CorpusRows
            )
        return (
            files
            | "SpreadRowGroups" >> Spread(row_groups_of, of=RowGroup)
            | "ReadRowGroups"
            >> beam.Map(read_row_group, self.columns).with_output_types(CorpusRows)
        )


class CorpusFile(NamedTuple):
    """A Parquet file of a build."""

    path: str
    split: str
    edition: str
    build: str  # Build.name
    corpus: str  # "wiki40b"


def mark_of(manifest: bytes) -> bytes:
    """What COMPLETED says of a manifest: its SHA-256."""
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
        corpus=manifest["corpus"],
        edition=manifest["edition"],
        dump_date=manifest["dump_date"],
        signature=manifest["signature"],
        manifest=manifest,
        files={split: _paths(folder, manifest, split) for split in SPLITS},
        sha256=hashlib.sha256(content).hexdigest(),
    )


def read_json(folder: str, name: str) -> Any:
    """A JSON file of a build. Raises InputError where it is missing or damaged."""
    path = FileSystems.join(folder, name)
    try:
        with open_raw(path) as file:
            return json.loads(file.read())
    except (FileNotFoundError, ValueError) as error:
        raise InputError(path, f"the build is damaged: {error}") from None


def _parse_manifest(path: str, content: bytes) -> Mapping[str, Any]:
    try:
        manifest = json.loads(content)
    except ValueError as error:
        raise InputError(path, f"no JSON: {error}") from None
    missing = [name for name in _NEEDED if not isinstance(manifest, dict) or name not in manifest]
    if missing:
        raise InputError(path, f"no manifest of a build: it lacks {', '.join(missing)}")
    parsed: Mapping[str, Any] = manifest
    return parsed


def _paths(folder: str, manifest: Mapping[str, Any], split: str) -> list[str]:
    names = sorted(
        file["name"]
        for file in manifest["outputs"]
        if file["split"] == split and file["format"] == "parquet"
    )
    return [FileSystems.join(folder, *name.split("/")) for name in names]


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
    builds = [build for build in map(open_build, found.finished) if build.corpus == corpus]
    return sorted(filter(_holds_text, builds), key=_order)


def _holds_text(build: Build) -> bool:
    """A build of models over other builds has no rows."""
    return any(build.files.values())


def _order(build: Build) -> tuple[str, str, str, str]:
    return build.edition, build.dump_date, build.manifest["version"], build.folder


def find_folders(folders: Iterable[str]) -> FoundFolders:
    """Looks for builds at and below folders, each of which must have a finished one."""
    finished: set[str] = set()
    unfinished: set[str] = set()
    for folder in map(_normalised, folders):
        names = {_below(folder, path) for path in _files_below(folder)}
        here = set(_finished(names))
        unfinished.update(_joined(folder, relative) for relative in _unfinished(names))
        finished.update(_joined(folder, relative) for relative in here)
        if not here:
            raise InputError(folder, "no finished build here or below")
    return FoundFolders(sorted(finished), sorted(unfinished - finished))


def _normalised(folder: str) -> str:
    return folder.rstrip("/") if "://" in folder else str(pathlib.Path(folder).resolve())


def _files_below(folder: str) -> list[str]:
    try:
        (match,) = FileSystems.match([f"{glob.escape(folder)}/**"])
    except BeamIOError as error:
        if is_local(folder):
            raise
        raise InputError(folder, refusal_of(error)) from error
    return [metadata.path for metadata in match.metadata_list]


def _below(folder: str, path: str) -> str:
    return path.removeprefix(folder).lstrip("/")


def _joined(folder: str, relative: str) -> str:
    return FileSystems.join(folder, *relative.split("/")) if relative else folder


def _finished(names: set[str]) -> Iterator[str]:
    for folder in map(posixpath.dirname, names):
        if not _is_under_construction(folder) and _has(names, folder, COMPLETED, MANIFEST):
            yield folder


def _unfinished(names: set[str]) -> Iterator[str]:
    for name in names:
        folder, base = posixpath.split(name)
        if _is_under_construction(folder):
            yield _up_to_construction(folder)
        elif _is_of_build(base) and not _has(names, folder, COMPLETED, MANIFEST):
            yield folder


def _is_of_build(name: str) -> bool:
    return name == MANIFEST or fnmatch.fnmatch(name, "train-*-of-*.parquet")


def _has(names: set[str], folder: str, *wanted: str) -> bool:
    return all(posixpath.join(folder, name) in names for name in wanted)


def _is_under_construction(folder: str) -> bool:
    return any(fnmatch.fnmatch(part, _UNDER_CONSTRUCTION) for part in folder.split("/"))


def _up_to_construction(folder: str) -> str:
    parts = folder.split("/")
    last = next(i for i, part in enumerate(parts) if fnmatch.fnmatch(part, _UNDER_CONSTRUCTION))
    return "/".join(parts[: last + 1])


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


def plan_row_groups(build: Build, splits: Sequence[str] = SPLITS) -> list[RowGroup]:
    """The row groups of a build in the order of its files, from their footers."""
    return [group for file in files_of(build, splits) for group in row_groups_of(file)]


def row_groups_of(file: CorpusFile) -> list[RowGroup]:
    """The row groups of a file, from its footer."""
    with _Rows(file.path) as rows:
        return [
            RowGroup(file.path, file.split, number, count, file.edition, file.build)
            for number, count in enumerate(rows.counts())
        ]


def count_rows(path: str) -> int:
    """The rows of a Parquet file, from its footer. Raises InputError where it is damaged."""
    with _Rows(path) as rows:
        return sum(rows.counts())


def read_row_group(group: RowGroup, columns: Sequence[str]) -> CorpusRows:
    """Reads a row group. Raises InputError where the file is damaged or lacks a column."""
    with _Rows(group.path) as rows:
        table = rows.read(group.number, columns)
        return CorpusRows(group.edition, group.split, group.path, table, group.build)


def read_file(file: CorpusFile, columns: Sequence[str]) -> Iterator[CorpusRows]:
    """Reads all row groups of a file, one after the other."""
    with _Rows(file.path) as rows:
        for index in range(len(rows.counts())):
            table = rows.read(index, columns)
            yield CorpusRows(file.edition, file.split, file.path, table, file.build)


class _Rows:
    """An open Parquet file whose errors name it."""

    def __init__(self, path: str):
        self.path = path

    def __enter__(self) -> "_Rows":
        if not FileSystems.exists(self.path):
            raise InputError(self.path, "no such file")
        self._stream = open_raw(self.path)
        try:
            self._file = pq.ParquetFile(self._stream)
        except (pa.ArrowException, OSError) as error:
            self._stream.close()
            raise self._damaged(error) from None
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def counts(self) -> list[int]:
        """Rows of every row group."""
        metadata = self._file.metadata
        return [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)]

    def read(self, index: int, columns: Sequence[str]) -> pa.Table:
        """One row group."""
        names = self._file.schema_arrow.names
        missing = [name for name in columns if name not in names]
        if missing:
            raise InputError(
                self.path, f"lacks the column {', '.join(missing)}; it has {', '.join(names)}"
            )
        try:
            return self._file.read_row_group(index, columns=list(columns)).select(list(columns))
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from None

    def _damaged(self, error: BaseException) -> InputError:
        if isinstance(error, OSError) and error.errno:  # of the system; Arrow's own have no number
            return InputError(self.path, f"cannot be read: {error}", is_unread=True)
        return InputError(self.path, f"no sound Parquet file: {error}")
