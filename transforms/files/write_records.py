"""Records → sorted tables, one file for every so many: what a person looks into, and no split."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsSingleton

from transforms.files.write_files import HashedFile, write_parquet
from transforms.records import OutputFile
from transforms.text.fingerprint import shard_of

RECORDS_PER_FILE = 1_000_000
SUFFIXES = ("parquet", "tsv")

Row = tuple[Any, ...]


class WriteRecords(beam.PTransform):
    """PCollection[tuple] → PCollection[OutputFile]. Without records there is a file without rows.

    Args:
      folder: of the build.
      name: of the files, up to their numbers: "rejected/rejected".
      schema: of a record; as TSV, which has a header line, it gives the names.
      identity: record → the text that decides about its file.
      order: record → what the records of a file are sorted by.
      suffix: of SUFFIXES.
    """

    def __init__(
        self,
        folder: str,
        name: str,
        schema: pa.Schema,
        identity: Callable[[Any], str],
        order: Callable[[Any], Any],
        suffix: str = "parquet",
        records_per_file: int = RECORDS_PER_FILE,
    ):
        super().__init__()
        if suffix not in SUFFIXES:
            raise ValueError(f"suffix is one of {SUFFIXES}, not {suffix!r}")
        self.folder = folder
        self.name = name
        self.schema = schema
        self.identity = identity
        self.order = order
        self.suffix = suffix
        self.records_per_file = records_per_file

    def expand(self, records: beam.PCollection) -> beam.PCollection:
        files = (
            records
            | "CountRecords" >> beam.combiners.Count.Globally()
            | "CountFiles" >> beam.Map(count_files, self.records_per_file)
        )
        filled = records | "KeyByFile" >> beam.Map(
            key_by_file, self.identity, AsSingleton(files)
        ).with_output_types(tuple[tuple[int, int], Row])
        empty = files | "EveryFile" >> beam.FlatMap(every_file).with_output_types(
            tuple[tuple[int, int], Row]
        )
        return (
            (filled, empty)
            | beam.Flatten()
            | "GroupFiles" >> beam.GroupByKey()
            | "WriteFiles"
            >> beam.Map(write_file, self.folder, self.name, self.schema, self.order, self.suffix)
        )


def count_files(records: int, records_per_file: int) -> int:
    """One at least."""
    return -(-records // records_per_file) or 1


def key_by_file(
    record: Any, identity: Callable[[Any], str], files: int
) -> tuple[tuple[int, int], Row]:
    """((file, files), fields)."""
    return (shard_of(identity(record), files), files), tuple(record)


def every_file(files: int) -> Iterator[tuple[tuple[int, int], Row]]:
    """The key of each file, with no record."""
    for file in range(files):
        yield (file, files), ()


def write_file(
    grouped: tuple[tuple[int, int], Iterable[Row]],
    folder: str,
    name: str,
    schema: pa.Schema,
    order: Callable[[Any], Any],
    suffix: str,
) -> OutputFile:
    """Writes one file, sorted."""
    (file, files), rows = grouped
    records = sorted(filter(None, rows), key=order)
    numbered = f"{name}-{file:05d}-of-{files:05d}.{suffix}"
    if suffix == "tsv":
        return _write_tsv(folder, numbered, schema.names, records)
    columns = list(zip(*records, strict=True)) or [()] * len(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return write_parquet(folder, numbered, "", pa.table(arrays, schema=schema))


def _write_tsv(folder: str, name: str, columns: list[str], records: Iterable[Row]) -> OutputFile:
    """Its records are its lines, the header too. White space in a field is one blank: a record is a line."""
    lines = 0
    with HashedFile.in_folder(folder, name) as file:
        for row in (columns, *records):
            fields = (" ".join(str(field).split()) for field in row)
            file.write(("\t".join(fields) + "\n").encode("utf-8"))
            lines += 1
        return file.output_file(name, "", "text", lines)
