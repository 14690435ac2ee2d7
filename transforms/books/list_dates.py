"""What the sources say of the dates of books → a list for people to look into, and counts."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsList

from transforms.files.write_rows import WriteRecords
from transforms.text.books.book_stats import identity_of
from transforms.text.books.dating.date_table import (
    DateLine,
    Outcome,
    make_line,
    outcomes_of,
    sum_up,
)

NAME = "dates"
SCHEMA = pa.schema([pa.field(name, pa.string()) for name in DateLine._fields])


class ListedDates(NamedTuple):
    """What ListDates gives."""

    files: beam.PCollection  # of OutputFile: dates-00000-of-00001.tsv
    facts: beam.PCollection  # of one (name, counts) for stats.json


class ListDates(beam.PTransform):
    """PCollection[BookEvidence] → ListedDates.

    Args:
      folder: of the build.
    """

    def __init__(self, folder: str):
        super().__init__()
        self.folder = folder

    def expand(self, evidence: beam.PCollection) -> ListedDates:
        lines = evidence | "MakeLine" >> beam.Map(make_line).with_output_types(DateLine)
        files = lines | "WriteDates" >> WriteRecords(
            self.folder, NAME, SCHEMA, identity, order, "tsv"
        )
        counts = (
            evidence
            | "Outcomes" >> beam.FlatMap(outcomes_of).with_output_types(Outcome)
            | "CountOutcomes" >> beam.combiners.Count.PerElement()
        )
        facts = (
            evidence.pipeline
            | "Once" >> beam.Create([NAME])
            | "SumUp" >> beam.Map(_fact, AsList(counts))
        )
        return ListedDates(files, facts)


def identity(line: DateLine) -> str:
    """What decides about the file."""
    return identity_of(line.book_id)


def order(line: tuple[Any, ...]) -> Any:
    """By book."""
    return line[0]


def _fact(name: str, counts: Iterable[tuple[Outcome, int]]) -> tuple[str, Any]:
    return name, sum_up(counts)
