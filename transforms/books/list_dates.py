"""Writes a table of the evidence for the dates of books, and counts the books by the source of their date."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsList

from corpusmill.transforms.books.book_rows import WriteBookTable
from corpusmill.transforms.books.date_table import DateLine, Outcome, make_line, outcomes_of, sum_up

NAME = "dates"


class ListedDates(NamedTuple):
    """The outputs of ListDates: the table of the evidence, and counts of books for stats.json."""

    files: beam.PCollection  # of OutputFile: dates-00000-of-00001.tsv
    facts: beam.PCollection  # of one (name, counts) for stats.json


class ListDates(beam.PTransform):
    """Writes a table of the evidence for the dates of books. PCollection[BookEvidence] → ListedDates.

    Args:
      folder: output folder of the build.
    """

    def __init__(self, folder: str):
        super().__init__()
        self.folder = folder

    def expand(self, evidence: beam.PCollection) -> ListedDates:
        lines = evidence | "MakeLine" >> beam.Map(make_line).with_output_types(DateLine)
        files = lines | "WriteDates" >> WriteBookTable(self.folder, NAME, DateLine)
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


def _fact(name: str, counts: Iterable[tuple[Outcome, int]]) -> tuple[str, Any]:
    return name, sum_up(counts)
