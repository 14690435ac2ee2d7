"""Writes rows to files in any format of FORMATS (see formats.py).

The bytes do not depend on the runner or the order of rows. `WriteRows` groups rows by shard, sorts them and
writes the shards. `write_files` writes the files of one shard, one batch at a time; transforms whose rows are
already grouped by shard call it directly.

Writes rejected records to `rejected/`, in sorted Parquet files with a limited number of records.
"""

import contextlib
import functools
import io
import itertools
import operator
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsDict, AsSingleton

from . import counters, text
from .builds.ledger import length_class
from .distribution import Gather, MapOnce, transform
from .formats import DEFAULT, FORMATS, TABLE, Rows, file_name, parse_formats
from .line_blocks import pack_block, unpack_block
from .records import OutputFile, Rejected
from .write_files import NO_MARKS, RowFile, mark

GATHERED_BYTES = 1 << 22  # of compact rows in the memory of a worker before they are packed
RECORDS_PER_FILE = 1 << 16  # a worker sorts them in about 70 MB

ShardKey = tuple[str, int, int]  # fields of a Shard


class Target(NamedTuple):
    """A file to be written: its name, split and format."""

    name: str  # relative to the build's folder
    split: str  # "" for a file that belongs to no split
    format: str  # a key of FORMATS


class Batch(NamedTuple):
    """Rows that are in memory at the same time, encoded for each format."""

    rows: int
    pieces: Mapping[str, Iterable[Any]]  # format → the rows in this format, in pieces


def write_files(
    folder: str,
    targets: Iterable[Target],
    schema: pa.Schema,
    batches: Iterable[Batch],
    encoding: Mapping[str, Any] = NO_MARKS,
) -> list[OutputFile]:
    """Writes the same rows to all targets, each in its format.

    Args:
      folder: output folder of the build.
      targets: the files to write.
      schema: schema of the rows.
      batches: the rows in order.
      encoding: further arguments of ParquetWriter.
    """
    with contextlib.ExitStack() as stack:
        files = {
            target: stack.enter_context(
                RowFile(folder, target.name, schema, target.format, **encoding)
            )
            for target in targets
        }
        # `map` does not keep a batch while the next one is made.
        rows = sum(map(functools.partial(_write_batch, files), batches))
    return [
        file.output_file(name, split, FORMATS[kind].listed or kind, rows)
        for (name, split, kind), file in files.items()
    ]


def _write_batch(files: Mapping[Target, RowFile], batch: Batch) -> int:
    """Writes a batch to the files of its formats. Returns the number of rows."""
    for kind, pieces in batch.pieces.items():
        writes = [file.write for target, file in files.items() if target.format == kind]
        for piece in pieces if writes else ():
            for write in writes:
                write(piece)
    return batch.rows


class RowKind(NamedTuple):
    """Describes the rows of a corpus for WriteRows: their schema, order, split and values."""

    schema: pa.Schema
    identity: Callable[[Any], str]  # row → the text whose hash determines the shard
    order: Callable[[Any], Any]  # unpacked row → the key that the rows of a shard are sorted by
    split_of: Callable[[Any], str] = operator.attrgetter("split")
    values: Callable[[Any], Sequence[Any]] = tuple  # unpacked row → values of the schema
    weigh: Callable[[Sequence[Any]], int] | None = None  # values → weight in a batch
    batch: int = 0  # maximum weight of a batch; without `weigh`, a shard is one batch
    pack: Callable[[Any], Any] = tuple  # row → compact, picklable form for shuffles
    unpack: Callable[[Any], Any] = tuple
    counter: tuple[str, str] | None = None  # (stage, name) of the counter of rows
    text: str = "text"  # the column that text files have


@transform
def PlanShards(
    rows: beam.PCollection,
    splits: Sequence[str],
    shard_bytes: int,
    measure: beam.PTransform | None = None,
) -> beam.PCollection:
    """Plans the number of files of each split.

    PCollection → PCollection of one dict {split: number of files}.

    Each split has at least one file.

    Args:
      splits: names of the splits of the corpus.
      shard_bytes: approximate size of a file, in the unit of the sizes that `measure` returns.
      measure: PTransform that maps the input to PCollection[(split, size)]; None if the input already has
        this form.
    """
    sizes = rows | "Measure" >> measure if measure else rows
    plan = MapOnce(count_shards, tuple(splits), shard_bytes, AsDict(sizes))
    return rows.pipeline | "CountShards" >> plan


def count_shards(
    splits: Sequence[str], shard_size: int, sizes: Mapping[str, int]
) -> dict[str, int]:
    """Returns split → number of files, so that a file has about `shard_size` bytes.

    `sizes` is split → bytes of text. Each split has at least one file.
    """
    return {split: max(1, -(-sizes.get(split, 0) // shard_size)) for split in splits}


class MeasuredSplits(NamedTuple):
    """The outputs of MeasureSplits."""

    stats: beam.PCollection  # of (split, statistics)
    lengths: beam.PCollection  # of ((split, length class), number of elements)


@transform
def MeasureSplits(
    elements: beam.PCollection,
    measure: Callable[[Any], tuple[str, Any]],
    add: Callable[[Iterable[Any]], Any],
    length: str,
) -> MeasuredSplits:
    """Adds up the statistics of each split, and counts its elements by length.

    PCollection → MeasuredSplits. A length class is a range of lengths.

    Args:
      measure: function from an element to (split, its statistics).
      add: function that adds up statistics.
      length: name of the statistic that is the length of an element.
    """
    measured = elements | "Measure" >> beam.Map(measure).with_output_types(tuple[str, Any])
    classes = measured | "LengthOf" >> beam.MapTuple(_length_of, length)
    return MeasuredSplits(
        stats=measured | "AddUp" >> beam.CombinePerKey(add),
        lengths=classes | "CountLengths" >> beam.combiners.Count.PerElement(),
    )


def _length_of(split: str, stats: Any, length: str = "") -> tuple[str, int]:
    return split, length_class(getattr(stats, length))


@transform
def WriteRows(
    rows: beam.PCollection,
    folder: str,
    corpus: str,
    kind: RowKind,
    shards: beam.PCollection,
    marks: Mapping[str, str] = NO_MARKS,
    formats: str = DEFAULT,
) -> beam.PCollection:
    """Groups rows into shards, sorts them, and writes them to files.

    PCollection of rows → PCollection[OutputFile]. Shards without rows are written too, because readers expect
    all N files of a name like `train-00000-of-N`.

    Args:
      folder: output folder of the build.
      corpus: first part of the names of TFRecord files, such as "wiki40b".
      kind: describes the schema, order, split and values of the rows.
      shards: side input from PlanShards: one dict {split: number of files}.
      marks: key-value metadata of each Parquet file.
      formats: the formats to write, separated by commas (see formats.py).
    """
    kind = kind._replace(schema=mark(kind.schema, marks))
    name_files = functools.partial(row_files, parse_formats(formats), corpus)
    return write_shards(rows, folder, kind, shards, name_files)


def write_shards(
    rows: beam.PCollection,
    folder: str,
    kind: RowKind,
    shards: beam.PCollection,
    name_files: Callable[[text.Shard], Sequence[Target]],
) -> beam.PCollection:
    """Groups rows into shards, sorts them, and writes them (see WriteRows).

    PCollection of rows → PCollection[OutputFile]. `name_files` returns the files to write for a shard.
    """
    # The in-process runner holds the rows of all shards: packed together, they need less memory.
    gather = Gather(
        functools.partial(_key_by_shard, kind),
        pack_rows,
        GATHERED_BYTES,
        lambda keyed: len(keyed[1]),
    )
    filled = rows | "PackRows" >> beam.ParDo(gather, AsSingleton(shards)).with_output_types(
        tuple[ShardKey, bytes]
    )
    empty = shards | "EveryShard" >> beam.FlatMap(_empty_shards).with_output_types(
        tuple[ShardKey, bytes]
    )
    return (
        (filled, empty)
        | beam.Flatten()
        | "GroupShards" >> beam.GroupByKey()
        | "WriteShards" >> beam.FlatMap(write_shard, folder, kind, name_files)
    )


def row_files(formats: Iterable[str], corpus: str, shard: text.Shard) -> list[Target]:
    """Returns the files to write for a shard, one for each format."""
    return [Target(file_name(kind, corpus, shard), shard.split, kind) for kind in formats]


def record_files(formats: Iterable[str], shard: text.Shard) -> list[Target]:
    """Returns the files to write for a shard, one for each format. The files belong to no split."""
    return [target._replace(split="") for target in row_files(formats, "", shard)]


def _key_by_shard(kind: RowKind, row: Any, shards: Mapping[str, int]) -> tuple[ShardKey, bytes]:
    """Returns (key of the row's shard, pickled compact form of the row).

    The key is (split, number of the shard, number of shards). `shards` is split → number of shards.
    """
    split = kind.split_of(row)
    count = shards[split]
    key = split, text.shard_of(kind.identity(row), count), count
    return key, pickle.dumps(kind.pack(row), protocol=5)


def pack_rows(keyed: Iterable[tuple[ShardKey, bytes]]) -> Iterator[tuple[ShardKey, bytes]]:
    """Yields (key of a shard, all its rows compressed together)."""
    for key, rows in text.grouped(keyed).items():
        yield key, pack_block(b"".join(rows))


def _unpack_rows(packed: bytes) -> Iterator[Any]:
    """Yields the compact forms of the rows in a result of `pack_rows`."""
    rows = io.BytesIO(unpack_block(packed))
    while rows.tell() < len(rows.getbuffer()):
        yield pickle.load(rows)


def _empty_shards(shards: Mapping[str, int]) -> Iterator[tuple[ShardKey, bytes]]:
    """Yields (key, no rows) for each shard, so that shards without rows are written, too."""
    for split, count in shards.items():
        for shard in range(count):
            yield (split, shard, count), pack_block(b"")


def write_shard(
    grouped: tuple[ShardKey, Iterable[bytes]],
    folder: str,
    kind: RowKind,
    name_files: Callable[[text.Shard], Sequence[Target]],
) -> Iterator[OutputFile]:
    """Writes the sorted rows of one shard.

    All rows of the shard are in memory in compact form. Texts in files are read one batch at a time.

    Args:
      grouped: (key of the shard, results of `pack_rows` for it).
      folder: output folder of the build.
      kind: describes the schema, order, split and values of the rows.
      name_files: function from a shard to the files to write.
    """
    key, packed = grouped
    compact = itertools.chain.from_iterable(map(_unpack_rows, packed))
    rows = sorted(map(kind.unpack, compact), key=kind.order)
    targets = name_files(text.Shard(*key))
    formats = [target.format for target in targets]
    batches = encode_rows(rows, kind, formats)
    yield from write_files(folder, targets, kind.schema, batches)
    counters.flush()


def encode_rows(rows: Iterable[Any], kind: RowKind, formats: Sequence[str]) -> Iterator[Batch]:
    """Yields rows in batches, in each of the formats. With `weigh`, one batch is in memory at a time."""
    if TABLE in formats:
        yield Batch(1, {TABLE: FORMATS[TABLE].encode(kind.schema, [kind.schema.names], "")})
    for values in _batches(rows, kind):
        yield encode_batch(kind.schema, values, formats, kind.text)
        if kind.counter:
            counters.count(*kind.counter, len(values))


def encode_batch(
    schema: pa.Schema, rows: Rows, formats: Iterable[str], text: str = "text"
) -> Batch:
    """Returns rows, whose values are in the order of the schema, in each of the formats.

    `text` is the column that text files have.
    """
    return Batch(len(rows), {one: FORMATS[one].encode(schema, rows, text) for one in formats})


def _batches(rows: Iterable[Any], kind: RowKind) -> Iterator[list[Sequence[Any]]]:
    """Yields the values of the rows in batches up to a maximum weight.

    A single row that exceeds this weight is a batch of its own.
    """
    if kind.weigh is None:
        yield [kind.values(row) for row in rows]
        return
    batch: list[Sequence[Any]] = []
    weight = 0
    for row in rows:
        values = kind.values(row)
        more = kind.weigh(values)
        if batch and weight + more > kind.batch:
            yield batch
            batch, weight = [], 0
        batch.append(values)
        weight += more
    if batch:
        yield batch


@transform
def WriteRecords(
    records: beam.PCollection,
    folder: str,
    name: str,
    schema: pa.Schema,
    identity: Callable[[Any], str],
    order: Callable[[Any], Any],
    suffixes: str = "parquet",
    records_per_file: int = RECORDS_PER_FILE,
) -> beam.PCollection:
    """Writes records to files for inspection. These files belong to no split.

    PCollection[tuple] → PCollection[OutputFile].

    Args:
      folder: output folder of the build.
      name: file name without the numbers and the suffix, such as "rejected/rejected".
      schema: schema of a record. The names of its fields are the header line of TSV files.
      identity: function from a record to the string whose hash determines its file.
      order: function from a tuple of the fields to the sort key within a file.
      suffixes: "tsv", which has a header line, or "parquet", "jsonl" or both, separated by a space; each file
        type contains all records.
    """
    shards = (
        records
        | "CountRecords" >> beam.combiners.Count.Globally()
        | "NameFiles" >> beam.WithKeys(name).with_output_types(tuple[str, int])
        | "PlanFiles" >> PlanShards([name], records_per_file)
    )
    kind = RowKind(schema, identity, order, lambda _: name)
    name_files = functools.partial(record_files, suffixes.split())
    return write_shards(records, folder, kind, shards, name_files)


SCHEMA = pa.schema([pa.field(name, pa.string(), nullable=False) for name in Rejected._fields])


@transform
def CountReasons(rejected: beam.PCollection) -> beam.PCollection:
    """Counts rejected records by reason. PCollection[Rejected] → PCollection[((stage, reason), count)]."""
    return (
        rejected
        | "KeyByReason" >> beam.Map(reason_of).with_output_types(tuple[str, str])
        | "CountReasons" >> beam.combiners.Count.PerElement()
    )


def reason_of(rejected: Rejected) -> tuple[str, str]:
    """Returns (stage, reason) of a rejected record."""
    return rejected.stage, rejected.reason


@transform
def WriteRejected(
    rejected: beam.PCollection, folder: str, records_per_file: int = RECORDS_PER_FILE
) -> beam.PCollection:
    """Writes rejected records to files. PCollection[Rejected] → PCollection[OutputFile].

    If there are none, one empty file is written.

    Args:
      folder: output folder of the build.
      records_per_file: approximate number of records in a file.
    """
    named = folder, "rejected/rejected", SCHEMA
    return rejected | WriteRecords(*named, identity_of, order, records_per_file=records_per_file)


def identity_of(rejected: Rejected) -> str:
    """Returns a string that identifies a rejected record. Its hash determines the file of the record."""
    return f"{rejected.stage} {rejected.id}"


def order(row: tuple[str, ...]) -> tuple[object, ...]:
    """Returns the sort key of a row: stage, reason, then id. Numeric ids are sorted by number."""
    rejected = Rejected._make(row)
    return rejected.stage, rejected.reason, len(rejected.id), rejected
