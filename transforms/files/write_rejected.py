"""Writes rejected records to `rejected/`, in sorted Parquet files with a limited number of records."""

import apache_beam as beam
import pyarrow as pa

from corpusmill.transforms.files.records import Rejected
from corpusmill.transforms.files.write_rows import RECORDS_PER_FILE, WriteRecords

SCHEMA = pa.schema([pa.field(name, pa.string(), nullable=False) for name in Rejected._fields])


class CountReasons(beam.PTransform):
    """Counts rejected records by reason. PCollection[Rejected] → PCollection[((stage, reason), count)]."""

    def expand(self, rejected: beam.PCollection) -> beam.PCollection:
        return (
            rejected
            | "KeyByReason" >> beam.Map(reason_of).with_output_types(tuple[str, str])
            | "CountReasons" >> beam.combiners.Count.PerElement()
        )


def reason_of(rejected: Rejected) -> tuple[str, str]:
    """Returns (stage, reason) of a rejected record."""
    return rejected.stage, rejected.reason


class WriteRejected(WriteRecords):
    """Writes rejected records to files. PCollection[Rejected] → PCollection[OutputFile].

    If there are none, one empty file is written.

    Args:
      folder: output folder of the build.
      records_per_file: approximate number of records in a file.
    """

    def __init__(self, folder: str, records_per_file: int = RECORDS_PER_FILE):
        super().__init__(
            folder,
            "rejected/rejected",
            SCHEMA,
            identity_of,
            order,
            records_per_file=records_per_file,
        )


def identity_of(rejected: Rejected) -> str:
    """Returns a string that identifies a rejected record. Its hash determines the file of the record."""
    return f"{rejected.stage} {rejected.id}"


def order(row: tuple[str, ...]) -> tuple[object, ...]:
    """Returns the sort key of a row: stage, reason, then id. Numeric ids are sorted by number."""
    rejected = Rejected._make(row)
    return rejected.stage, rejected.reason, len(rejected.id), rejected
