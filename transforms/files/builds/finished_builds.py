"""Reads the rows of finished builds, one row group at a time.

A build is finished if its folder has a file COMPLETED with the SHA-256 of manifest.json. The manifest lists
every file. Files that are not in the manifest are not read.
"""

import collections
import contextlib
import fnmatch
import glob
import hashlib
import logging
import os
import pathlib
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.io.filesystems import FileSystems

from ..distribution import Spread, SpreadAll, transform
from ..formats import FORMATS, PARQUET, READABLE, readable_format
from ..read_files import InputError, file_bytes_of, is_there, open_raw, parse_json, read_raw
from ..stores import is_local, match_files
from ..text import SPLITS
from .manifest import (
    CARD,
    COMPLETED,
    MANIFEST,
    check_manifest,
    check_values,
    find_link,
    language_of,
    mark_of,
)

_LENGTH_BYTES = 4  # length prefix before each text of a Parquet file
_ROWS = [f"train-*-of-*{FORMATS[one].suffix}" for one in READABLE]
_UNDER_CONSTRUCTION = re.compile(r"((?:[^/]+/)*?\.[^/]*\.building-[^/]*)(?:/|$)")
"""Matches the name of the folder of a running or killed build, and all paths below it."""


class CorpusFile(NamedTuple):
    """A file of a build with rows, in the format that is read: Parquet, or else JSON lines."""

    path: str
    split: str
    edition: str
    build: str  # Build.name
    corpus: str  # "wiki40b"


class Build(NamedTuple):
    """A finished build: its manifest, the facts that identify it, and the paths of its files with rows."""

    folder: str
    corpus: str  # "wiki40b"
    edition: str  # "uk"
    dump_date: str  # "20230501"
    signature: str
    manifest: Mapping[str, Any]
    files: Mapping[str, Sequence[str]]  # split → paths of its files in the format that is read
    sha256: str  # of manifest.json, which has the SHA-256 of every file
    readable: str = PARQUET  # the format of `files`; "" if commands can read none of its formats

    @property
    def name(self) -> str:
        """The name of the build, which is unique among the builds of a corpus: "uk/20230501-1.1.0"."""
        return f"{self.edition}/{self.label}"

    @property
    def label(self) -> str:
        """The dump date and version of the build: "20230501-1.1.0", or "1.0.0" for a build without a dump
        date.
        """
        return "-".join(filter(None, (self.dump_date, self.manifest["version"])))

    @property
    def format(self) -> str:
        """The format of the files from which commands read the rows, such as "parquet".

        Raises InputError if commands can read none of the formats of the build.
        """
        if self.readable:
            return self.readable
        found = {file["format"] for file in self.manifest["outputs"] if file["split"]}
        raise InputError(
            self.folder,
            f"the rows are there only as {', '.join(sorted(found))}; this command reads"
            f" {', '.join(READABLE)}: build the corpus with one of these in --formats",
        )

    @property
    def language(self) -> str:
        """The language of the build (see `language_of`)."""
        return language_of(self.manifest)

    def file(self, name: str, split: str = "") -> CorpusFile:
        """Returns the file with this name in the manifest. A name may contain folders."""
        path = path_below(self.folder, name)
        return CorpusFile(path, split, self.edition, self.name, self.corpus)


def age_of(build: Build) -> tuple[bool, str, tuple[int, ...], str]:
    """Returns a key that sorts builds by age, the oldest first.

    The key is (has a dump date, dump date, version, SHA-256 of the manifest). Builds without a date
    ("latest") are sorted before all others.
    """
    version = tuple(map(int, re.findall(r"\d+", build.manifest["version"])))
    return build.dump_date.isdigit(), build.dump_date, version, build.sha256


class FoundFolders(NamedTuple):
    """The folders of finished and of unfinished builds, sorted."""

    finished: list[str]  # folders with a file COMPLETED
    unfinished: list[str]  # a build is running there, or was killed


class RowGroup(NamedTuple):
    """A row group of a file. A row group is the part of a file that is read at once."""

    file: CorpusFile
    number: int  # in the file
    rows: int


class CorpusRows(NamedTuple):
    """The rows of one row group, in the order of the file."""

    file: CorpusFile
    table: pa.Table  # the requested columns


@transform
def ReadCorpus(
    root: beam.Pipeline,
    builds: Iterable[Build],
    columns: Sequence[str],
    splits: Sequence[str] = SPLITS,
) -> beam.PCollection:
    """Reads the rows of finished builds. Pipeline → PCollection[CorpusRows].

    Args:
      builds: builds to read; a build given twice is read twice.
      columns: names of the columns to read.
      splits: names of the splits to read.
    """
    files = [file for build in builds for file in files_of(build, splits)]
    columns = tuple(columns)
    return (
        root
        | "SpreadFiles" >> SpreadAll(files, of=CorpusFile)
        | "SpreadRowGroups" >> Spread(row_groups_of, of=RowGroup)
        | "ReadRowGroups" >> beam.Map(read_row_group, columns).with_output_types(CorpusRows)
    )


def open_build(folder: str) -> Build:
    """Reads the manifest of a finished build.

    Raises InputError if the folder has no finished build, the manifest was changed, or the build has values
    or files that no build of corpusmill has. They could direct a command to files outside the build.
    """
    mark = FileSystems.join(folder, COMPLETED)
    path = FileSystems.join(folder, MANIFEST)
    if not is_there(mark):
        raise InputError(folder, f"no finished build: there is no file {COMPLETED}")
    if not is_there(path):
        raise InputError(folder, f"no build: there is no file {MANIFEST}")
    content = read_raw(path)
    if read_raw(mark) != mark_of(content):
        raise InputError(mark, f"does not match {MANIFEST}: one of them was changed or is damaged")
    manifest = parse_manifest(path, content)
    if is_local(folder):
        _check_links(folder)
    readable = readable_format(manifest)
    return Build(
        folder=folder,
        **{name: manifest[name] for name in ("corpus", "edition", "dump_date", "signature")},
        manifest=manifest,
        files={split: _paths(folder, manifest, split, readable) for split in SPLITS},
        sha256=hashlib.sha256(content).hexdigest(),
        readable=readable,
    )


def _check_links(folder: str) -> None:
    try:
        link = find_link(folder)
    except OSError as error:
        raise InputError(
            os.fsdecode(error.filename), f"cannot be listed: {error.strerror}"
        ) from None
    if link:
        raise InputError(
            link,
            "a link, which could lead to any file: put the file itself in its place, or remove it",
        )


def read_manifest(folder: str) -> dict[str, Any]:
    """Reads manifest.json of a build, which may be unfinished.

    Raises InputError if it is missing or damaged.
    """
    path = FileSystems.join(folder, MANIFEST)
    return parse_manifest(path, _read_file_of(path))


def read_json(folder: str, name: str) -> Any:
    """Reads a JSON file of a build. Raises InputError if it is missing or damaged."""
    path = FileSystems.join(folder, name)
    value = parse_json(path, _read_file_of(path))
    with _as_input_error(path, "not a file of a build"):
        check_values(value)
    return value


def read_card(build: Build) -> str:
    """Returns the dataset card of a build; "" if it has none."""
    path = path_below(build.folder, CARD)
    return read_raw(path).decode("utf-8") if is_there(path) else ""


def parse_manifest(path: str, content: bytes) -> dict[str, Any]:
    """Returns the manifest of a build. Raises InputError if it has values that no build has."""
    manifest: dict[str, Any] = parse_json(path, content)
    with _as_input_error(path, "not the manifest of a build"):
        check_manifest(manifest)
    return manifest


@contextlib.contextmanager
def _as_input_error(path: str, what: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise InputError(path, f"{what}: {error}") from None


def _read_file_of(path: str) -> bytes:
    try:
        return read_raw(path)
    except FileNotFoundError as error:
        raise InputError(path, f"the build is damaged: {error}") from None


def _paths(folder: str, manifest: Mapping[str, Any], split: str, kind: str) -> list[str]:
    return [
        path_below(folder, name)
        for name in sorted(
            file["name"]
            for file in manifest["outputs"]
            if (file["split"], file["format"]) == (split, kind)
        )
    ]


def path_below(folder: str, name: str) -> str:
    """Returns the path of a file of a build.

    `name` may contain folders. If it is "", the folder itself is returned.
    """
    return str(FileSystems.join(folder, *name.split("/"))) if name else folder


def find_builds(folders: Iterable[str], corpus: str = "") -> list[Build]:
    """Returns the finished builds of a corpus, or of all, sorted by edition, dump date and version.

    Each folder may be a build, or contain builds at any depth. Builds without texts, such as vocabularies,
    are left out. Unfinished builds are skipped with a warning. Raises InputError for a folder without a
    finished build, and for a damaged build.
    """
    # Builds that only contain models trained on other builds have no rows.
    builds = [
        build
        for build in map(open_build, find_finished(folders))
        if corpus in ("", build.corpus) and build.format and any(build.files.values())
    ]
    return sorted(
        builds, key=lambda one: (one.edition, one.dump_date, one.manifest["version"], one.folder)
    )


def find_finished(folders: Iterable[str]) -> list[str]:
    """Returns the folders of all finished builds, as `find_folders` does. Warns of unfinished ones."""
    found = find_folders(folders)
    for folder in found.unfinished:
        logging.getLogger(__name__).warning("skipped a build that is not finished: %s", folder)
    return found.finished


def find_folders(folders: Iterable[str]) -> FoundFolders:
    """Finds all builds in the given folders. A folder may be a build itself, or contain builds at any depth.

    Raises InputError if one of the folders contains no finished build.
    """
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
            elif MANIFEST in names or any(fnmatch.filter(names, one) for one in _ROWS):
                unfinished.add(path_below(folder, place))
        if not has_finished:
            raise InputError(folder, "no finished build in this folder or below")
    return FoundFolders(sorted(finished), sorted(unfinished - finished))


def normalise(folder: str) -> str:
    """Returns a folder without a trailing slash. A local folder is returned as an absolute path."""
    return folder.rstrip("/") if "://" in folder else str(pathlib.Path(folder).resolve())


def is_under_construction(folder: str) -> bool:
    """Returns True if a folder is the temporary folder of a running build."""
    return bool(_UNDER_CONSTRUCTION.match(f"{posixpath.basename(folder)}/"))


def files_below(folder: str) -> list[str]:
    """Returns the paths of all files below a folder, including hidden files.

    Raises InputError or BeamIOError if the folder cannot be listed.
    """
    found = match_files(f"{glob.escape(folder)}/**", folder, InputError)
    return [metadata.path for metadata in found]


def files_of(build: Build, splits: Sequence[str] = SPLITS) -> list[CorpusFile]:
    """Returns the files with the rows of the given splits of a build.

    Raises ValueError for an unknown split, and InputError if commands can read no format of the build.
    """
    unknown = set(splits) - set(SPLITS)
    if unknown:
        raise ValueError(
            f"no such split: {', '.join(sorted(unknown))}; expected one of {', '.join(SPLITS)}"
        )
    return [
        CorpusFile(path, split, build.edition, build.name, build.corpus)
        for split in splits
        if build.format
        for path in build.files[split]
    ]


def row_groups_of(file: CorpusFile) -> list[RowGroup]:
    """Returns the row groups of a file. Of a Parquet file, only the footer is read."""
    with opened(file.path) as parquet:
        footer = parquet.metadata
        numbers = range(footer.num_row_groups)
        return [RowGroup(file, number, footer.row_group(number).num_rows) for number in numbers]


def sized_row_groups_of(file: CorpusFile) -> list[tuple[RowGroup, int]]:
    """Returns (row group, its approximate bytes in the file) for each row group of a file."""
    groups = row_groups_of(file)
    group_bytes = file_bytes_of(file.path) // max(len(groups), 1)
    return [(group, group_bytes) for group in groups]


def columns_of(path: str) -> list[str]:
    """Returns the column names of a file. Raises InputError if the file is damaged."""
    return list(schema_of(path).names)


def schema_of(path: str) -> pa.Schema:
    """Returns the schema of a file. Raises InputError if the file is damaged."""
    with opened(path) as parquet:
        return parquet.schema_arrow


def schema_of_files(paths: Sequence[str]) -> pa.Schema:
    """Returns the schema of files that have the same columns. An empty file of JSON lines has none."""
    return next(filter(len, map(schema_of, paths)), pa.schema([]))


def count_rows(path: str) -> int:
    """Returns the number of rows of a file. Of a Parquet file, only the footer is read.

    Raises InputError if the file is damaged.
    """
    with opened(path) as parquet:
        return int(parquet.metadata.num_rows)


def text_bytes_of(path: str, column: str) -> int:
    """Returns the size of all texts in a column of a Parquet file, in bytes.

    Only the footer of the file is read, so the size includes a few bytes of overhead for each Parquet page.
    Raises InputError if the file is damaged.
    """
    with opened(path) as parquet:
        footer = parquet.metadata
        if not footer.num_row_groups:  # an empty file of JSON lines has no columns
            return 0
        at = parquet.schema_arrow.names.index(column)
        chunks = (footer.row_group(number).column(at) for number in range(footer.num_row_groups))
        return sum(one.total_uncompressed_size - _LENGTH_BYTES * one.num_values for one in chunks)


def read_row_group(group: RowGroup, columns: Sequence[str]) -> CorpusRows:
    """Reads a row group. Raises InputError if the file is damaged or lacks a column."""
    with opened(group.file.path) as parquet:
        return _read(parquet, group.file, group.number, columns)


def read_file(file: CorpusFile, columns: Sequence[str]) -> Iterator[CorpusRows]:
    """Yields the rows of all row groups of a file, in order."""
    with opened(file.path) as parquet:
        for number in range(parquet.num_row_groups):
            yield _read(parquet, file, number, columns)


def _read(
    parquet: pq.ParquetFile, file: CorpusFile, number: int, columns: Sequence[str]
) -> CorpusRows:
    check_columns(file.path, parquet, columns)
    table = parquet.read_row_group(number, columns=list(columns)).select(list(columns))
    table.validate(full=True)  # mainly checks that texts are UTF-8
    return CorpusRows(file, table)


@contextlib.contextmanager
def opened(path: str, kind: str = "") -> Iterator[pq.ParquetFile]:
    """Opens a file with rows for a `with` block. Errors of the block become InputErrors with the path.

    JSON lines are read as a whole, and become a temporary Parquet file.

    Args:
      path: path of the file.
      kind: its format, one of READABLE; "" to choose it by the name of the file.
    """
    if not is_there(path):
        raise InputError(path, "no such file")
    by_name = (one for one in READABLE if path.endswith(FORMATS[one].suffix))
    kind = kind or next(by_name, PARQUET)
    read = FORMATS[kind].read
    assert read
    with open_raw(path) as stream:
        try:
            yield read(stream)
        except (pa.ArrowException, OSError) as error:
            # Errors of Arrow itself have no errno, errors of the system have one.
            if isinstance(error, OSError) and error.errno:
                raise InputError(path, f"cannot be read: {error}", is_unread=True) from None
            what = "Parquet file" if kind == PARQUET else "file of JSON lines"
            raise InputError(path, f"not a valid {what}: {error}") from None


def check_columns(path: str, parquet: pq.ParquetFile, columns: Sequence[str]) -> None:
    """Raises InputError if a file does not have all of the given columns."""
    names = parquet.schema_arrow.names
    if missing := [name for name in columns if name not in names]:
        raise InputError(
            path, f"missing columns: {', '.join(missing)}; the file has {', '.join(names)}"
        )
