"""Reads rows of a wiki's tables from SQL dumps."""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import apache_beam as beam

from ..files import counters
from ..files.compression import DECODE_ERRORS, check_on_corrupt
from ..files.distribution import Spread
from ..files.read_files import InputError, match_inputs, open_input
from ..files.records import Rejected
from .sql_dump import Row, SqlDumpError, read_rows

STAGE = "read-sql-dump"
CHUNK_BYTES = 1 << 20

_HEAD_BYTES = 4_000
_IS_TABLE = re.compile(rb"\s*(?:--|/\*|CREATE |DROP |INSERT )")
_DATABASE = re.compile(rb"^-- Host: .*\bDatabase: (\w+)", re.MULTILINE)

Parse = Callable[[Row], Iterable[Any]]


def keep_row(row: Row) -> tuple[Row]:
    """Returns the unchanged row, as the only element of a tuple."""
    return (row,)


def is_table_of(path: str, dbname: str) -> bool:
    """Returns True if a file is an SQL dump. Raises InputError if it is a dump of another wiki."""
    with open_input(path) as stream:
        try:
            head = stream.read(_HEAD_BYTES)
        except DECODE_ERRORS:
            return False  # damage is reported when the dump is read
    if not _IS_TABLE.match(head):
        return False
    if (database := _DATABASE.search(head)) and database[1] != dbname.encode():
        raise InputError(path, f"a table of {database[1].decode()}, not of {dbname}", 0)
    return True


class SqlRows(NamedTuple):
    """The outputs of ReadSqlDump: the parsed rows, and malformed rows."""

    rows: beam.PCollection  # of the results of `parse`
    tagged: beam.PCollection  # of the results of `parse` that have the tag
    rejected: beam.PCollection  # of Rejected


@dataclass(eq=False, repr=False)
class ReadSqlDump(beam.PTransform):
    """Reads columns of a table from SQL dumps. PBegin → SqlRows. Each file is read by one worker.

    A file that is damaged, or is not a dump of this table with these columns, always raises InputError with
    the file and the byte of the uncompressed dump.

    Args:
      patterns: dump files on any Beam file system, plain, .gz, .bz2 or .xz.
      table: name of the table, such as "page_props".
      columns: names of the columns, in the order of the values in a row.
      parse: function that converts a row, a tuple of the values of `columns`, to elements. It raises
        ValueError for a malformed row.
      of: type of the elements.
      tag: name of the separate output on which `parse` may yield some elements.
      on_corrupt: "fail" raises InputError at the first malformed row, "keep-good" rejects the row.
    """

    patterns: Sequence[str]
    table: str
    columns: Sequence[str]
    parse: Parse = keep_row
    of: Any = Row
    tag: str = "tagged"
    on_corrupt: str = "fail"

    def __post_init__(self) -> None:
        if not self.columns:
            raise ValueError("columns must not be empty")
        check_on_corrupt(self.on_corrupt)

    def expand(self, root: beam.Pipeline) -> SqlRows:
        read = (
            root
            | "Patterns" >> beam.Create([list(self.patterns)])
            | "SpreadFiles" >> Spread(match_inputs, of=str)
            | "ReadRows"
            >> beam.FlatMap(read_file, self.table, self.columns, self.parse, self.on_corrupt)
            .with_output_types(self.of)
            .with_outputs("rejected", self.tag, main="rows")
        )
        return SqlRows(read.rows, read[self.tag], read.rejected)


def read_file(
    path: str,
    table: str,
    columns: Sequence[str],
    parse: Parse = keep_row,
    on_corrupt: str = "fail",
) -> Iterator[Any]:
    """Yields the results of `parse` for the rows of a table in one dump file.

    Raises InputError if the file is damaged, is not a dump of the table, or has a malformed row.
    """
    rows = 0
    with open_input(path) as stream:
        try:
            for row in read_rows(_read_chunks(stream, path), table, columns):
                rows += 1
                try:
                    yield from parse(row)
                except ValueError as error:
                    yield _reject(path, f"row {rows} of {table}", error, on_corrupt)
        except SqlDumpError as error:
            raise InputError(path, error.message, error.offset) from error
    counters.count(STAGE, table, rows)


def _reject(path: str, place: str, error: ValueError, on_corrupt: str) -> beam.pvalue.TaggedOutput:
    if on_corrupt == "fail":
        raise InputError(path, f"{place}: {error}") from None
    counters.count(STAGE, "malformed-row")
    name = f"{posixpath.basename(path)}, {place}"
    return beam.pvalue.TaggedOutput(
        "rejected", Rejected(name, "", STAGE, "malformed-row", str(error))
    )


def _read_chunks(stream: BinaryIO, path: str) -> Iterator[bytes]:
    offset = 0
    while True:
        try:
            chunk = stream.read(CHUNK_BYTES)
        except DECODE_ERRORS as error:
            raise InputError(path, f"damaged or truncated: {error}", offset) from error
        if not chunk:
            return
        offset += len(chunk)
        yield chunk
