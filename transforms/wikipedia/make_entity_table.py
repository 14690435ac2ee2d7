"""Reads items from Wikidata JSON dumps.

Finds the Wikidata classes of Wikimedia-internal items (lists, categories, templates).

All their direct and indirect subclasses (P279) are included.

Packs Wikidata items into blocks, and counts the items to plan the files of the entity table.

Writes items to the entity table, in Parquet files sorted by id.

The bytes of the files do not depend on the order of items in the dump.
"""

import collections
import functools
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import numpy
import numpy.typing
from apache_beam.pvalue import AsSingleton

from ..files import counters
from ..files.compression import check_on_corrupt, codec_of
from ..files.counters import LostBytes, damage_error, tell_lost
from ..files.distribution import Gather, Spread, transform
from ..files.formats import PARQUET, file_name
from ..files.line_blocks import lines_of
from ..files.read_files import InputError, file_bytes_of, open_raw
from ..files.read_lines import check_end, read_head
from ..files.records import OutputFile, Rejected
from ..files.scratch import Scratch, fetch
from ..files.text import Shard
from ..files.work_units import Damage, FileUnit, LineBlock, place_of, read_blocks
from ..files.write_files import RowFile, write_parquet
from . import entity_table
from .entity_table import ROWS_PER_FILE, TableCounts
from .read_dumps import plan_units
from .wikidata import Entity, MalformedEntityError, begins_entities, parse_entity

READ_ENTITIES = "read-entities"
BATCH_ENTITIES = 1000
BLOCK_BYTES = 1 << 18  # bytes of lines processed at once, to fit in the processor's cache
_END_BYTES = 1 << 12
_DETAIL_BYTES = 100


class EntityBatches(NamedTuple):
    """The outputs of ReadEntities: items, rejected lines, damaged parts of files, and counts.

    Each line is read as an item, rejected, or skipped.
    """

    batches: beam.PCollection  # of list[Entity], at most BATCH_ENTITIES each
    rejected: beam.PCollection  # of Rejected: lines that are not entities
    lost: beam.PCollection  # of LostBytes
    skipped: beam.PCollection  # of int, one for each unit: number of lines without an item


@transform
def ReadEntities(
    root: beam.Pipeline, paths: Sequence[str], stripes: int = 1, on_corrupt: str = "fail"
) -> EntityBatches:
    """Reads the items of entity dumps. PBegin → EntityBatches.

    Files are split into work units, which are distributed over the workers. The id of a rejected line
    consists of the file name and the position (see unit_blocks.place_of):
    "wikidata-20261101-all.json.gz:4711", "wikidata-20261101-all.json.bz2:80123+4711".

    Args:
      paths: dump files on any Beam file system; .json, .json.gz, .json.xz, .json.bz2 (one stream or many).
      stripes: number of workers that divide the work on a file which cannot be split (.gz, .xz). Each of them
        decompresses the whole file, but processes only its share of the items.
      on_corrupt: "fail" raises InputError with the file and byte at the first damage; "keep-good" skips and
        reports damaged parts.
    """
    check_on_corrupt(on_corrupt)
    read = (
        root
        | "Paths" >> beam.Create(paths, reshuffle=False)
        | "SpreadUnits" >> Spread(plan_units, stripes, of=FileUnit)
        | "ReadUnits"
        >> beam.FlatMap(_read_unit, on_corrupt)
        .with_output_types(list[Entity])
        .with_outputs("rejected", "lost", "skipped", main="batches")
    )
    return EntityBatches(read.batches, read.rejected, read.lost, read.skipped)


def check_entity_dump(path: str, *, whole: bool = True) -> None:
    """Raises InputError if a file is empty or does not begin like an entity dump.

    If `whole` is True, also raises it if the file is visibly truncated. Only the beginning and the end are
    read, before the build starts. A truncated .gz is not detected, because its end does not show it.
    """
    if not (file_bytes := file_bytes_of(path)):
        raise InputError(path, "the file is empty", 0)
    with open_raw(path) as stream:
        codec = codec_of(stream)
        head = read_head(path, stream)
        if not begins_entities(head):
            beginning = repr(head[:_DETAIL_BYTES].decode("utf-8", "replace"))
            raise InputError(path, f"not a Wikidata JSON dump: it begins with {beginning}", 0)
        if whole:
            check_end(path, stream, codec, file_bytes)
        if whole and not codec:
            stream.seek(max(file_bytes - _END_BYTES, 0))
            if not stream.read(_END_BYTES).rstrip().endswith((b"]", b"}", b",")):
                problem = "the file ends inside a line: it is truncated or still being written"
                raise InputError(path, problem, file_bytes)


def _read_unit(
    unit: FileUnit, on_corrupt: str
) -> Iterator[list[Entity] | beam.pvalue.TaggedOutput]:
    batch: list[Entity] = []
    skipped = 0
    for item in read_items(unit):
        if isinstance(item, Entity):
            batch.append(item)
            if len(batch) == BATCH_ENTITIES:
                yield batch
                batch = []
        elif item is None:
            skipped += 1
        elif isinstance(item, Rejected):
            yield beam.pvalue.TaggedOutput("rejected", item)
        elif on_corrupt == "fail":
            counted = " (bytes of the uncompressed text)" if unit.kind == "whole" else ""
            raise damage_error(unit.path, *item, counted)
        else:
            yield tell_lost(READ_ENTITIES, LostBytes(posixpath.basename(unit.path), *item))
    if batch:
        yield batch
    yield beam.pvalue.TaggedOutput("skipped", skipped)


def read_items(unit: FileUnit) -> Iterator[Entity | Rejected | Damage | None]:
    """Yields the items in the lines of a work unit, and counts the progress.

    Also yields a Rejected for an invalid line, None for a line without an item, and a Damage for a damaged
    part of the file.
    """
    stored_bytes = 0
    with open_raw(unit.path) as stream:
        for event in read_blocks(stream, unit, block_bytes=BLOCK_BYTES):
            if isinstance(event, Damage):
                yield event
            elif isinstance(event, LineBlock):
                yield from _read_block(unit, event)
                stored_bytes += event.stored_bytes
    counters.count(READ_ENTITIES, "dump_bytes", unit.end - unit.start - stored_bytes)
    counters.flush()


def _read_block(unit: FileUnit, block: LineBlock) -> Iterator[Entity | Rejected | None]:
    counts = collections.Counter(dump_bytes=block.stored_bytes, json_bytes=len(block.data))
    at = 0
    for line in [block.data] if block.is_overlong else lines_of(block.data):
        try:
            if block.is_overlong:
                beginning = line[:_DETAIL_BYTES].decode("utf-8", "replace")
                raise MalformedEntityError("line-too-long", beginning)
            item: Entity | Rejected | None = parse_entity(line)
            counts["entities"] += item is not None
        except MalformedEntityError as error:
            place = f"{posixpath.basename(unit.path)}:{place_of(block, at)[1]}"
            item = Rejected(place, "", READ_ENTITIES, error.reason, error.detail)
            counts[error.reason] += 1
        yield item
        at += len(line) + 1
    counters.count_all(READ_ENTITIES, counts)  # once per block: a call costs more than a line


Edges = numpy.typing.NDArray[numpy.int64]
"""Rows (class, superclass), one for each subclass-of statement."""


@transform
def CloseOverSubclasses(batches: beam.PCollection) -> beam.PCollection:
    """Finds all Wikimedia-internal classes.

    PCollection[list[Entity]] → PCollection of one dict {id of an internal class: its kind, such as "list"},
    with some ten thousand classes. One worker holds the class graph in 80 MB: two numbers for each of
    Wikidata's 5 million subclass-of statements.
    """
    return (
        batches
        | "SubclassEdges" >> beam.FlatMap(subclass_edges)
        | "StackEdges" >> beam.CombineGlobally(stack_edges)
        | "CloseClasses" >> beam.Map(lambda edges: entity_table.kinds_of(*edges.T))
    )


def subclass_edges(batch: Iterable[Entity]) -> Iterator[Edges]:
    """Yields an array with a row (class, superclass) for each subclass-of statement in a batch of items.

    Yields nothing if the batch has no such statement.
    """
    edges = [(entity.numeric_id, above) for entity in batch for above in entity.subclass_of]
    if edges:
        yield numpy.array(edges, dtype=numpy.int64)


def stack_edges(arrays: Iterable[Edges]) -> Edges:
    """Joins arrays of subclass-of statements into one array, which may be empty."""
    return numpy.concatenate([numpy.empty((0, 2), dtype=numpy.int64), *arrays])


BLOCK_ROWS = 1 << 16
# not larger, because items at the start of the dump have hundreds of pages
ITEM_BLOCK_BYTES = 1 << 25


class PackedItems(NamedTuple):
    """The outputs of PackItems: blocks of items, and counts of items."""

    blocks: beam.PCollection  # of references to packed blocks in scratch: the rows of the table
    ranges: beam.PCollection  # one Counter: range of ids → number of items
    entities: beam.PCollection  # one int: total number of items


@transform
def PackItems(batches: beam.PCollection, folder: str, wikis: Sequence[str]) -> PackedItems:
    """Packs Wikidata items into blocks, and counts them. PCollection[list[Entity]] → PackedItems.

    Items are shuffled in blocks of some ten thousand rows. Shuffling single items would take longer than
    reading them. The packed blocks are stored in scratch.

    Args:
      folder: folder of the scratch; see scratch.py.
      wikis: database names, such as "dewiki", of the wikis whose titles are kept, in the order of the
        columns.
    """
    blocks = beam.ParDo(make_blocks(Scratch(folder), wikis)).with_output_types(bytes)
    ranges = (
        batches
        | "CountRanges"
        >> beam.Map(lambda batch: entity_table.count_ranges(one.numeric_id for one in batch))
        | "AddRanges" >> beam.CombineGlobally(add_counters)
    )
    return PackedItems(
        blocks=batches | "MakeBlocks" >> blocks,
        ranges=ranges,
        entities=ranges | "AddUp" >> beam.Map(lambda counts: sum(counts.values())),
    )


def add_counters(counters: Iterable[Mapping[int, int]]) -> Counter[int]:
    """Returns the sum of all counters."""
    total: Counter[int] = Counter()
    for counter in counters:
        total.update(counter)
    return total


def make_blocks(scratch: Scratch, wikis: Sequence[str]) -> Gather:
    """Returns a DoFn that collects items into blocks, stores them in scratch, and yields references to them.

    The items of an unfinished block are Arrow tables, which take a tenth of the memory of Python objects.
    """
    place_of_wiki = {wiki: place for place, wiki in enumerate(wikis)}
    return Gather(
        functools.partial(entity_table.make_block, wikis=place_of_wiki),
        lambda blocks: [scratch.put(entity_table.pack_block(entity_table.merge_blocks(blocks)))],
        ITEM_BLOCK_BYTES,  # or BLOCK_ROWS rows
        lambda block: max(block.nbytes, block.num_rows * ITEM_BLOCK_BYTES // BLOCK_ROWS),
    )


WRITE_ENTITIES = "write-entity-table"

ROWS_PER_GROUP = 1 << 16

FileKey = tuple[int, int]  # (number of the file, number of files)


class WrittenTable(NamedTuple):
    """The outputs of WriteEntityTable: the files and their counts."""

    files: beam.PCollection  # of OutputFile
    counts: beam.PCollection  # of TableCounts, one for each file


@transform
def WriteEntityTable(
    items: PackedItems,
    folder: str,
    scratch: str,
    wikis: Sequence[str],
    rows_per_file: int = ROWS_PER_FILE,
) -> WrittenTable:
    """Writes entities-*.parquet, the files of the entity table. PackedItems → WrittenTable.

    A worker holds one file in memory, about `rows_per_file` rows. If there are no items, one empty file is
    written.

    Args:
      folder: output folder of the build.
      scratch: folder for temporary parts of blocks; see scratch.py.
      wikis: database names, such as "dewiki". Each wiki has one column of titles, in the given order.
    """
    starts = items.ranges | "PlanFiles" >> beam.Map(entity_table.plan_files, rows_per_file)
    filled = items.blocks | "CutBlocks" >> beam.FlatMap(
        cut_block, AsSingleton(starts), Scratch(scratch)
    )
    empty = starts | "EveryFile" >> beam.FlatMap(every_file)
    written = (
        (filled, empty)
        | beam.Flatten()
        | "GroupFiles" >> beam.GroupByKey()
        | "WriteFiles" >> beam.Map(write_file, folder, wikis)
    )
    return WrittenTable(written | beam.Keys(), written | beam.Values())


def cut_block(
    stored: bytes, starts: Sequence[int], scratch: Scratch
) -> Iterator[tuple[FileKey, bytes]]:
    """Divides a block of items, which is stored in scratch, among the files of the table.

    Yields ((index of the file, number of files), reference to the part of the block). `starts` are the first
    ids of the files.
    """
    block = entity_table.unpack_block(fetch(stored))
    for file, part in entity_table.cut_block(block, starts):
        is_whole = part.num_rows == block.num_rows
        found = stored if is_whole else scratch.put(entity_table.pack_block(part))
        yield (file, len(starts)), found


def every_file(starts: Sequence[int]) -> Iterator[tuple[FileKey, bytes]]:
    """Yields ((index of the file, number of files), b"") for each file of the table.

    Because of these elements, files without rows are written, too. `starts` are the first ids of the files.
    """
    for file in range(len(starts)):
        yield (file, len(starts)), b""


def write_file(
    grouped: tuple[FileKey, Iterable[bytes]], folder: str, wikis: Sequence[str]
) -> tuple[OutputFile, TableCounts]:
    """Writes one file of the entity table, one row group at a time. Returns (file, counts of its items).

    Args:
      grouped: ((index of the file, number of files), references to blocks of items in scratch). Empty
        references are ignored.
      folder: output folder of the build.
      wikis: database names, such as "dewiki", of the wikis whose titles are written.
    """
    (file, files), stored = grouped
    packed = map(fetch, filter(None, stored))
    merged = entity_table.merge_blocks(map(entity_table.unpack_block, packed))
    rows = entity_table.drop_repeated(merged)
    name = file_name(PARQUET, "", Shard("entities", file, files))
    counts = TableCounts(0, merged.num_rows - rows.num_rows, 0, (0,) * len(wikis))
    schema = entity_table.table_schema(wikis)
    with RowFile(folder, name, schema, **_encoding(wikis)) as output:
        for start in range(0, rows.num_rows, ROWS_PER_GROUP):
            group = entity_table.widen_block(rows.slice(start, ROWS_PER_GROUP), wikis)
            output.write(group)
            counts = entity_table.add_counts([counts, entity_table.count_rows(group)])
    counters.count(WRITE_ENTITIES, "rows", counts.rows)
    counters.flush()
    return output.output_file(name, "", "parquet", counts.rows), counts


def _encoding(wikis: Sequence[str]) -> dict[str, Any]:
    """Returns options with which Parquet files are a third smaller than with the default options.

    Only the column of ids has statistics.
    """
    return {
        "use_dictionary": ["instance_of.list.element"],
        "column_encoding": {
            "numeric_id": "DELTA_BINARY_PACKED",
            **dict.fromkeys(wikis, "DELTA_LENGTH_BYTE_ARRAY"),
        },
        "write_statistics": ["numeric_id"],
    }


def write_internal_classes(kinds: dict[int, str], folder: str) -> OutputFile:
    """Writes internal-classes.parquet: the classes of Wikimedia's own pages, with their kinds.

    `kinds` maps the id of a class to its kind, such as "list".
    """
    return write_parquet(folder, "internal-classes.parquet", "", entity_table.class_table(kinds))
