"""Rejected records → `rejected/`, sorted, one Parquet file for every so many."""

from collections.abc import Iterable, Iterator

import apache_beam as beam
import pyarrow as pa

from transforms.records import OutputFile, Rejected
from transforms.text.fingerprint import shard_of
from transforms.write_files import write_parquet

RECORDS_PER_FILE = 1_000_000
SCHEMA = pa.schema([pa.field(name, pa.string(), nullable=False) for name in Rejected._fields])


class CountReasons(beam.PTransform):
    """PCollection[Rejected] → PCollection[((stage, reason), count)]."""

    def expand(self, rejected: beam.PCollection) -> beam.PCollection:
        return (
            rejected
            | "KeyByReason" >> beam.Map(reason_of).with_output_types(tuple[str, str])
            | "CountReasons" >> beam.combiners.Count.PerElement()
        )


def reason_of(rejected: Rejected) -> tuple[str, str]:
    """(stage, reason)."""
    return rejected.stage, rejected.reason


class WriteRejected(beam.PTransform):
    """PCollection[Rejected] → PCollection[OutputFile]. With nothing rejected there is an empty file."""

    def __init__(self, folder: str, records_per_file: int = RECORDS_PER_FILE):
        super().__init__()
        self.folder = folder
        self.records_per_file = records_per_file

    def expand(self, rejected: beam.PCollection) -> beam.PCollection:
        files = (
            rejected
            | "CountRejected" >> beam.combiners.Count.Globally()
            | "CountFiles"
            >> beam.Map(lambda count, per_file: -(-count // per_file) or 1, self.records_per_file)
        )
        filled = rejected | "KeyByFile" >> beam.Map(
            key_by_file, beam.pvalue.AsSingleton(files)
        ).with_output_types(tuple[tuple[int, int], tuple[str, ...]])
        empty = files | "EveryFile" >> beam.FlatMap(every_file).with_output_types(
            tuple[tuple[int, int], tuple[str, ...]]
        )
        return (
            (filled, empty)
            | beam.Flatten()
            | "GroupFiles" >> beam.GroupByKey()
            | "WriteFiles" >> beam.Map(write_file, self.folder)
        )


def key_by_file(rejected: Rejected, files: int) -> tuple[tuple[int, int], tuple[str, ...]]:
    """((file, files), fields)."""
    return (shard_of(f"{rejected.stage} {rejected.id}", files), files), tuple(rejected)


def every_file(files: int) -> Iterator[tuple[tuple[int, int], tuple[str, ...]]]:
    """The key of each file, with no record."""
    for file in range(files):
        yield (file, files), ()


def write_file(
    grouped: tuple[tuple[int, int], Iterable[tuple[str, ...]]], folder: str
) -> OutputFile:
    """Writes one file, sorted by stage, reason and id."""
    (file, files), rows = grouped
    records = sorted((Rejected._make(row) for row in rows if row), key=order)
    columns = list(zip(*records, strict=True)) or [()] * len(SCHEMA)
    table = pa.table([pa.array(column, pa.string()) for column in columns], schema=SCHEMA)
    return write_parquet(folder, f"rejected/rejected-{file:05d}-of-{files:05d}.parquet", "", table)


def order(rejected: Rejected) -> tuple[object, ...]:
    """Stage, reason, then page ids by number."""
    return rejected.stage, rejected.reason, len(rejected.id), rejected
