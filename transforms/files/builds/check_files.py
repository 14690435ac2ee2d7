"""Checks the files of finished builds against their manifests."""

import functools
import glob
import itertools
import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.builds.build_manifest import CARD
from corpusmill.transforms.files.builds.finished_builds import (
    COMPLETED,
    MANIFEST,
    Build,
    CorpusFile,
    count_rows,
    files_below,
    path_below,
)
from corpusmill.transforms.files.fingerprint import SPLITS
from corpusmill.transforms.files.hash_inputs import READ_BYTES, hash_input
from corpusmill.transforms.files.open_input import InputError, is_there, open_raw
from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.files.spread import SpreadAll

_READ = re.compile(r".+\.parquet|.+\.tfrecord-.*|.+-\d{5}-of-\d{5}")  # names of parts of a corpus

UNLISTED = frozenset(
    {COMPLETED, MANIFEST, CARD, "dataset_info.json", "features.json", "stats.json"}
)
"""Names of files that a manifest need not list. Only earlier versions did not list the last four."""


class ListedFile(NamedTuple):
    """A file that is listed in the manifest of its build."""

    file: CorpusFile
    listed: OutputFile


class Fault(NamedTuple):
    """A fault of a file or build: the path of the file or build, and a message."""

    path: str
    message: str


class CheckedFiles(NamedTuple):
    """The outputs of CheckFiles: the undamaged Parquet files, and the faults of files."""

    whole: beam.PCollection  # of CorpusFile: undamaged Parquet files of a split
    faults: beam.PCollection  # of Fault


class CheckFiles(beam.PTransform):
    """Checks every output file of finished builds. Pipeline → CheckedFiles.

    The size, the SHA-256 and the number of rows must be those in the manifest.
    """

    def __init__(self, builds: Iterable[Build]):
        super().__init__()
        self.files = [file for build in builds for file in list_files(build)]

    def expand(self, root: beam.Pipeline) -> CheckedFiles:
        checked = (
            root
            | "SpreadFiles" >> SpreadAll(self.files, of=ListedFile)
            | "CheckFile"
            >> beam.ParDo(_CheckFile())
            .with_output_types(CorpusFile)
            .with_outputs("faults", main="whole")
        )
        return CheckedFiles(checked.whole, checked.faults)


def list_files(build: Build) -> list[ListedFile]:
    """Returns every file that the manifest of a build lists."""
    listed = [
        OutputFile(*(file[field] for field in OutputFile._fields))
        for file in build.manifest["outputs"]
    ]
    of_build = build.edition, build.name, build.corpus
    return [
        ListedFile(CorpusFile(path_below(build.folder, file.name), file.split, *of_build), file)
        for file in listed
    ]


class _CheckFile(beam.DoFn):
    def process(self, file: ListedFile) -> Iterable[CorpusFile | beam.pvalue.TaggedOutput]:
        fault = find_fault(file)
        if fault:
            yield beam.pvalue.TaggedOutput("faults", Fault(file.file.path, fault))
        elif file.listed.format == "parquet" and file.listed.split in SPLITS:
            yield file.file


def find_fault(file: ListedFile) -> str:
    """Returns a message that says what is wrong with a file; "" if nothing is.

    Raises InputError or OSError if the disk or object store fails to return the file.
    """
    path, listed = file.file.path, file.listed
    if not is_there(path):
        return "is missing"
    found = hash_input("", path)
    if found.bytes != listed.bytes:
        return f"has {found.bytes:,} bytes, but {listed.bytes:,} in the manifest"
    if found.sha256 != listed.sha256:
        return f"has the SHA-256 {found.sha256}, but {listed.sha256} in the manifest"
    try:
        records, what = _count_records(path, listed.format)
    except InputError as error:
        if error.is_unread:
            raise
        return error.message
    if records not in (None, listed.records):
        return f"has {records:,} {what}, but {listed.records:,} in the manifest"
    return ""


def _count_records(path: str, kind: str) -> tuple[int | None, str]:
    """Returns (number of records in a file, what its records are called, such as "rows").

    `kind` is the format of the file. The number is None if records of this format cannot be counted.
    """
    if kind == "parquet":
        return count_rows(path), "rows"
    if kind not in ("text", "jsonl"):
        return None, ""
    with open_raw(path) as stream:
        pieces = iter(functools.partial(stream.read, READ_BYTES), b"")
        return sum(piece.count(b"\n") for piece in pieces), "lines"


def check_counts(build: Build) -> Iterator[Fault]:
    """Checks the number of rows for each format and split. Yields faults.

    The rows of all files of a format and split must add up to the number of records that the build has kept
    in this split. Only the numbers in the manifest are compared. The files are not read.
    """
    kept = _kept(build)
    for kind, split in itertools.product(("parquet", "tfrecord", "text"), kept):
        records = [
            file["records"]
            for file in build.manifest["outputs"]
            if (file["format"], file["split"]) == (kind, split)
        ]
        if (records or kind == "parquet") and sum(records) != kept[split]:
            message = (
                f"the {kind} files of {split} have {sum(records):,} rows,"
                f" but {kept[split]:,} records were kept"
            )
            yield Fault(build.folder, message)


def _kept(build: Build) -> Mapping[str, int]:
    """Returns split → number of articles or sentences that the build has kept."""
    kept: Mapping[str, int] = build.manifest.get("counts", {}).get("kept", {})
    return {split: count for split, count in kept.items() if split != "total"}


def lists_all_files(build: Build) -> bool:
    """Returns True if the manifest also lists the small files, such as the dataset card (README.md).

    Manifests written by earlier versions do not list them.
    """
    return any(file["name"] == CARD for file in build.manifest["outputs"])


def find_unlisted(build: Build) -> list[str]:
    """Returns the paths of all files in the folder of a build that no build has written, sorted."""
    names = {COMPLETED, MANIFEST} if lists_all_files(build) else UNLISTED
    listed = {path_below(build.folder, name) for name in names}
    listed |= {file.file.path for file in list_files(build)}
    return sorted(set(files_below(build.folder)) - listed)


def find_strangers(build: Build) -> Iterator[Fault]:
    """Yields a fault for each file in the folder of a build that the manifest does not list.

    If the manifest does not list all files (see `lists_all_files`), only files named like parts of the corpus
    are faults.
    """
    if lists_all_files(build):
        for path in find_unlisted(build):
            yield Fault(path, "is not in the manifest")
        return
    files = list_files(build)
    listed = {file.file.path for file in files}
    texts = {posixpath.dirname(file.file.path) for file in files if file.listed.format == "text"}
    for folder in sorted({build.folder, *texts}):
        match = FileSystems.match([f"{glob.escape(folder)}/*"])[0]
        for path in sorted(metadata.path for metadata in match.metadata_list):
            name = posixpath.basename(path)
            if _READ.fullmatch(name) and path not in listed:
                yield Fault(
                    path, "is not in the manifest, but readers would read it as a part of the build"
                )


def check_stats(build: Build, unit: str) -> Iterator[Fault]:
    """Yields the faults of stats.json.

    Its counts must be equal to the numbers of kept records in the manifest.

    Args:
      build: the build to check.
      unit: what the records of the corpus are called, in the plural, such as "articles".
    """
    path = FileSystems.join(build.folder, "stats.json")
    kept = _kept(build)
    if not is_there(path):
        if build.files["train"]:
            yield Fault(path, "is missing")
        return
    try:
        with open_raw(path) as stream:
            stats = json.loads(stream.read())
        counts = {split: stats[split][unit] for split in kept}
        is_same = stats == build.manifest.get("stats", stats)
    except (ValueError, KeyError, TypeError, RecursionError):
        yield Fault(path, "has no counts of the splits")
        return
    if not is_same:
        yield Fault(path, "has counts that differ from those in the manifest")
    for split, count in counts.items():
        if count != kept[split]:
            yield Fault(path, f"has {count} {unit} of {split}, but {kept[split]} were kept")
