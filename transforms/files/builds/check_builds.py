"""Checks the files of finished builds against their manifests.

Groups rows of builds into buckets by a hash of their ids, so that all rows of an id are in one bucket.

Rows are shuffled in blocks. A worker collects some hundred thousand rows and makes one block for each bucket.

Finds the entities (Wikidata items) that are in more than one split, in all builds taken together.

Ids are grouped into buckets, and each bucket is searched for ids with more than one split.
The elements of the PCollections are blocks of many ids, never single ids.
"""

import collections
import functools
import itertools
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import zstandard
from apache_beam.io.filesystems import FileSystems

from ..distribution import Gather, SpreadAll, transform
from ..formats import DEFAULT, FORMATS, PARQUET, READABLE
from ..line_blocks import group_places, pack_block, unpack_block
from ..read_files import InputError, damage_in, hash_input, is_there, open_raw, read_raw
from ..records import OutputFile
from ..text import SPLITS
from .finished_builds import Build, CorpusFile, CorpusRows, count_rows, files_below, path_below
from .manifest import COMPLETED, MANIFEST


class ListedFile(NamedTuple):
    """A file that is listed in the manifest of its build."""

    file: CorpusFile
    listed: OutputFile
    read: str = PARQUET  # format from which the rows of the build are read; "" for none


class Fault(NamedTuple):
    """A fault of a file or build: the path of the file or build, and a message."""

    path: str
    message: str


class CheckedFiles(NamedTuple):
    """The outputs of CheckFiles: the undamaged files with rows, and the faults of files."""

    whole: beam.PCollection  # of CorpusFile: undamaged files of a split, in the format that is read
    faults: beam.PCollection  # of Fault


@transform
def CheckFiles(root: beam.Pipeline, builds: Iterable[Build]) -> CheckedFiles:
    """Checks every output file of finished builds. Pipeline → CheckedFiles.

    The size, the SHA-256 and the number of rows must be those in the manifest.
    """
    files = [file for build in builds for file in list_files(build)]
    checked = (
        root
        | "SpreadFiles" >> SpreadAll(files, of=ListedFile)
        | "CheckFile"
        >> beam.FlatMap(_check_file)
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
    return [ListedFile(build.file(file.name, file.split), file, build.readable) for file in listed]


def _check_file(file: ListedFile) -> Iterator[CorpusFile | beam.pvalue.TaggedOutput]:
    if fault := find_fault(file):
        yield beam.pvalue.TaggedOutput("faults", Fault(file.file.path, fault))
    elif file.listed.format == file.read and file.listed.split in SPLITS:
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
    if kind == PARQUET:
        return count_rows(path), "rows"
    if kind not in FORMATS or not (count := FORMATS[kind].count_lines):
        return None, ""
    with open_raw(path) as stream, damage_in(path):
        return count(stream), "lines"


def check_counts(build: Build) -> Iterator[Fault]:
    """Checks the number of rows for each format and split. Yields faults.

    The rows of all files of a format and split must add up to the number of records that the build has kept
    in this split. Only the numbers in the manifest are compared. The files are not read.
    """
    kept = _kept(build)
    named = str(build.manifest.get("settings", {}).get("formats", DEFAULT)).split(",")
    wanted = next((one for one in READABLE if one in named), "")  # the format that commands read
    for kind, split in itertools.product(FORMATS, kept):
        records = [
            file["records"]
            for file in build.manifest["outputs"]
            if (file["format"], file["split"]) == (kind, split)
        ]
        if (records or kind == wanted) and sum(records) != kept[split]:
            message = (
                f"the {kind} files of {split} have {sum(records):,} rows,"
                f" but {kept[split]:,} records were kept"
            )
            yield Fault(build.folder, message)


def _kept(build: Build) -> Mapping[str, int]:
    """Returns split → number of articles or sentences that the build has kept."""
    kept = build.manifest.get("counts", {}).get("kept", {})
    splits = kept if isinstance(kept, Mapping) else {}  # a search has no splits
    return {split: count for split, count in splits.items() if split != "total"}


def find_unlisted(build: Build) -> list[str]:
    """Returns the paths of all files in the folder of a build that the manifest does not list, sorted."""
    listed = {path_below(build.folder, name) for name in (COMPLETED, MANIFEST)}
    listed |= {file.file.path for file in list_files(build)}
    return sorted(set(files_below(build.folder)) - listed)


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
        stats = json.loads(read_raw(path))
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


BUFFER_ROWS = 1 << 18  # rows that a worker collects before it distributes them to buckets


@transform
def DealRows(
    elements: beam.PCollection, make: Callable[[Any], pa.Table], buckets: int
) -> beam.PCollection:
    """Groups rows into buckets by a hash of their ids.

    PCollection → PCollection[(bucket, blocks of its rows)]. Buckets without rows are left out.

    Args:
      make: function from an element to a table of its rows with a column "id". All tables have the same
        schema.
      buckets: number of buckets.
    """
    deal = Gather(make, functools.partial(deal_out, buckets=buckets), BUFFER_ROWS)
    return (
        elements
        | "DealOut" >> beam.ParDo(deal).with_output_types(tuple[int, bytes])
        | "GroupBuckets" >> beam.GroupByKey()
    )


def deal_out(tables: Iterable[pa.Table], buckets: int) -> Iterator[tuple[int, bytes]]:
    """Distributes the rows of tables to buckets. Yields (bucket, block of rows of this bucket)."""
    rows = pa.concat_tables(tables).combine_chunks()
    hashes = [zlib.crc32(identity.encode("utf-8")) for identity in rows["id"].to_pylist()]
    for bucket, places in group_places(np.array(hashes, np.int64) % buckets):
        (part,) = rows.take(pa.array(places)).to_batches()
        yield bucket, pack_block(part.serialize().to_pybytes())


def unpack_rows(blocks: Iterable[bytes], schema: pa.Schema) -> pa.Table:
    """Returns the rows of all blocks as one table."""
    buffers = map(pa.py_buffer, map(unpack_block, blocks))
    return pa.Table.from_batches(
        [pa.ipc.read_record_batch(buffer, schema) for buffer in buffers], schema
    )


def ids_of(rows: CorpusRows, column: str) -> list[str]:
    """Returns the ids in a column. Raises InputError for a row without a valid id."""
    ids: list[str] = rows.table.column(column).cast(pa.string()).to_pylist()
    if not all(ids) or not "".join(ids).isprintable():
        raise InputError(
            rows.file.path, f"a row has no {column}, or its {column} has unprintable characters"
        )
    return ids


ID = "wikidata_id"
SCHEMA = pa.schema([(name, pa.string()) for name in ("id", "split", "edition", "build")])
MIN_BUCKETS = 1024
BUCKET_IDS = 1 << 16  # approximate number of ids in a bucket


class IdCounts(NamedTuple):
    """Numbers of ids: all, distinct, in several editions, and in several splits.

    The numbers of several buckets can be added up.
    """

    ids: int = 0  # rows
    distinct: int = 0
    shared: int = 0  # distinct ids in two or more editions
    conflicts: int = 0  # distinct ids in two or more splits


class Conflict(NamedTuple):
    """An entity that is in more than one split, with the splits and builds that contain it."""

    id: str
    places: tuple[tuple[str, str], ...]  # (split, build), in the order of SPLITS and by name


class ConflictBlock(NamedTuple):
    """The conflicts of one bucket, compressed. They are compressed because most ids are conflicts if builds
    use different split rules.
    """

    bucket: int
    packed: bytes


class SplitFindings(NamedTuple):
    """The outputs of CheckSplits: the counts of ids, and the ids that are in more than one split."""

    counts: beam.PCollection  # of one IdCounts
    conflicts: beam.PCollection  # of ConflictBlock; only buckets with conflicts


@transform
def CheckSplits(rows: beam.PCollection, buckets: int = MIN_BUCKETS) -> SplitFindings:
    """Finds ids that are in more than one split. PCollection[CorpusRows] → SplitFindings.

    The ids are those of Wikidata items. They are read from the column `wikidata_id` of the rows.

    Args:
      buckets: number of buckets into which ids are grouped, see `count_buckets`.
    """
    checked = (
        rows
        | "DealRows" >> DealRows(make_rows, buckets)
        | "CheckBucket"
        >> beam.FlatMap(check_bucket)
        .with_output_types(IdCounts)
        .with_outputs("conflicts", main="counts")
    )
    counts = checked.counts | "AddUp" >> beam.CombineGlobally(add_counts)
    return SplitFindings(counts, checked.conflicts)


def count_buckets(rows: int) -> int:
    """Returns the number of buckets for `rows` rows. It is chosen so that each bucket is small."""
    return max(MIN_BUCKETS, -(-rows // BUCKET_IDS))


def make_rows(rows: CorpusRows) -> pa.Table:
    """Returns a table with the id, split, edition and build of each row.

    Raises InputError for a row without an id.
    """
    ids = ids_of(rows, ID)
    place = rows.file.split, rows.file.edition, rows.file.build
    places = (pa.repeat(name, len(ids)) for name in place)
    return pa.table([pa.array(ids, pa.string()), *places], schema=SCHEMA)


def check_bucket(
    grouped: tuple[int, Iterable[bytes]],
) -> Iterator[IdCounts | beam.pvalue.TaggedOutput]:
    """Yields the counts of the ids in a bucket.

    If some of the ids are in more than one split, yields a ConflictBlock of them on the output "conflicts".

    Args:
      grouped: (bucket, blocks of its rows from DealRows).
    """
    bucket, blocks = grouped
    counts, conflicts = check_ids(unpack_rows(blocks, SCHEMA))
    yield counts
    if conflicts:
        block = ConflictBlock(bucket, pack_conflicts(conflicts))
        yield beam.pvalue.TaggedOutput("conflicts", block)


def check_ids(rows: pa.Table) -> tuple[IdCounts, list[Conflict]]:
    """Returns the counts of ids, and a sorted list of conflicts: the ids that are in more than one split.

    Args:
      rows: table of ids from `make_rows`.
    """
    by_id = rows.group_by("id", use_threads=False).aggregate(
        [("split", "count_distinct"), ("edition", "count_distinct")]
    )
    conflicting = by_id.filter(pc.greater(by_id["split_count_distinct"], 1))["id"]
    counts = IdCounts(
        ids=rows.num_rows,
        distinct=by_id.num_rows,
        shared=pc.sum(pc.greater(by_id["edition_count_distinct"], 1)).as_py() or 0,
        conflicts=len(conflicting),
    )
    columns = rows.filter(pc.is_in(rows["id"], conflicting.combine_chunks())).to_pydict()
    places: dict[str, set[tuple[str, str]]] = collections.defaultdict(set)
    for identity, *place in zip(*map(columns.get, ("id", "split", "build")), strict=True):
        places[identity].add((place[0], place[1]))
    return counts, [Conflict(one, _sorted(places[one])) for one in sorted(places, key=order)]


def _sorted(places: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(places, key=lambda place: (SPLITS.index(place[0]), place[1])))


def order(identity: str) -> tuple[int, str]:
    """Returns the sort key of an id. Shorter ids come first, so Q9 is before Q10."""
    return len(identity), identity


def add_counts(counts: Iterable[IdCounts]) -> IdCounts:
    """Returns the sum of several counts."""
    return IdCounts(*(sum(column) for column in zip(IdCounts(), *counts, strict=True)))


def pack_conflicts(conflicts: Iterable[Conflict]) -> bytes:
    """Compresses conflicts as text, with one conflict per line.

    A line is "id <tab> train: en/2023-1.0.0, uk/2023-1.0.0; test: …".
    """
    lines = "".join(f"{one.id}\t{describe_places(one)}\n" for one in conflicts)
    return zstandard.ZstdCompressor().compress(lines.encode("utf-8"))


def unpack_lines(block: ConflictBlock) -> str:
    """Returns the decompressed text of a block, with one conflict per line."""
    return zstandard.ZstdDecompressor().decompress(block.packed).decode("utf-8")


def describe_places(conflict: Conflict) -> str:
    """Returns the splits and builds of a conflict as text: "train: en/20230501-1.1.0; test:
    el/20230501-1.1.0".
    """
    builds: dict[str, list[str]] = collections.defaultdict(list)
    for split, build in conflict.places:
        builds[split].append(build)
    return "; ".join(f"{split}: {', '.join(of_split)}" for split, of_split in builds.items())
