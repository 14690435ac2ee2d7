"""SQL dumps of a wiki's tables → rows."""

from collections.abc import Iterator, Sequence
from typing import BinaryIO

import apache_beam as beam

from transforms.files import counters
from transforms.files.open_input import InputError, match_inputs, open_input
from transforms.files.spread import Spread
from transforms.text.files.compression import DECODE_ERRORS
from transforms.text.wikimedia.sql_dump import Row, SqlDumpError, read_rows

STAGE = "read-sql-dump"
CHUNK_BYTES = 1 << 20


class ReadSqlDump(beam.PTransform):
    """Reads columns of a table: PCollection of tuples of bytes or None. A file is one unit of work.

    Args:
      patterns: dump files on any Beam file system, plain, .gz, .bz2 or .xz.
      table: its name, "page_props".
      columns: their names, in the order in which the values shall come.

    A file that is damaged, or no dump of that table with those columns, raises InputError, which
    names the file and the byte of the uncompressed dump.
    """

    def __init__(self, patterns: Sequence[str], table: str, columns: Sequence[str]):
        super().__init__()
        if not columns:
            raise ValueError("no columns asked")
        self.patterns = list(patterns)
        self.table = table
        self.columns = tuple(columns)

    def expand(self, root: beam.Pipeline) -> beam.PCollection:
        return (
            root
            | "Patterns" >> beam.Create([self.patterns])
            | "SpreadFiles" >> Spread(match_inputs, of=str)
            | "ReadRows" >> beam.FlatMap(read_file, self.table, self.columns)
        )


def read_file(path: str, table: str, columns: Sequence[str]) -> Iterator[Row]:
    """The rows of a table in one dump file. Raises InputError."""
    rows = 0
    with open_input(path) as stream:
        try:
            for row in read_rows(_read_chunks(stream, path), table, columns):
                rows += 1
                yield row
        except SqlDumpError as error:
            raise InputError(path, error.message, error.offset) from error
    counters.count(STAGE, table, rows)


def _read_chunks(stream: BinaryIO, path: str) -> Iterator[bytes]:
    offset = 0
    while True:
        try:
            chunk = stream.read(CHUNK_BYTES)
        except DECODE_ERRORS as error:
            raise InputError(path, f"damaged or cut: {error}", offset) from error
        if not chunk:
            return
        offset += len(chunk)
        yield chunk
