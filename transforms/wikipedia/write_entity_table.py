"""Writes items to the entity table, in Parquet files sorted by id.

The bytes of the files do not depend on the order of items in the dump.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsSingleton

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.files.scratch import Scratch, fetch
from corpusmill.transforms.files.shards import parquet_name
from corpusmill.transforms.files.write_files import ParquetFile, write_parquet
from corpusmill.transforms.wikipedia import entity_table
from corpusmill.transforms.wikipedia.entity_table import ROWS_PER_FILE, TableCounts
from corpusmill.transforms.wikipedia.pack_items import PackedItems

STAGE = "write-entity-table"

ROWS_PER_GROUP = 1 << 16

FileKey = tuple[int, int]  # (number of the file, number of files)


class WrittenTable(NamedTuple):
    """The outputs of WriteEntityTable: the files and their counts."""

    files: beam.PCollection  # of OutputFile
    counts: beam.PCollection  # of TableCounts, one for each file


class WriteEntityTable(beam.PTransform):
    """Writes entities-*.parquet, the files of the entity table. PackedItems → WrittenTable.

    A worker holds one file in memory, about `rows_per_file` rows. If there are no items, one empty file is
    written.

    Args:
      folder: output folder of the build.
      scratch: folder for temporary parts of blocks; see files/scratch.py.
      wikis: database names, such as "dewiki". Each wiki has one column of titles, in the given order.
    """

    def __init__(
        self, folder: str, scratch: str, wikis: Sequence[str], rows_per_file: int = ROWS_PER_FILE
    ):
        super().__init__()
        if rows_per_file < 1:
            raise ValueError(f"rows_per_file must be positive, not {rows_per_file}")
        self.folder = folder
        self.scratch = Scratch(scratch)
        self.wikis = list(wikis)
        self.rows_per_file = rows_per_file

    def expand(self, items: PackedItems) -> WrittenTable:
        starts = items.ranges | "PlanFiles" >> beam.Map(entity_table.plan_files, self.rows_per_file)
        filled = items.blocks | "CutBlocks" >> beam.FlatMap(
            cut_block, AsSingleton(starts), self.scratch
        )
        empty = starts | "EveryFile" >> beam.FlatMap(every_file)
        written = (
            (filled, empty)
            | beam.Flatten()
            | "GroupFiles" >> beam.GroupByKey()
            | "WriteFiles" >> beam.Map(write_file, self.folder, self.wikis)
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
    name = parquet_name("entities", file, files)
    counts = TableCounts(0, merged.num_rows - rows.num_rows, 0, (0,) * len(wikis))
    schema = entity_table.table_schema(wikis)
    with ParquetFile(folder, name, schema, **_encoding(wikis)) as output:
        for start in range(0, rows.num_rows, ROWS_PER_GROUP):
            group = entity_table.widen_block(rows.slice(start, ROWS_PER_GROUP), wikis)
            output.write(group)
            counts = entity_table.add_counts([counts, entity_table.count_rows(group)])
    counters.count(STAGE, "rows", counts.rows)
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
    table = entity_table.class_table(kinds)
    return write_parquet(folder, "internal-classes.parquet", "", table)
