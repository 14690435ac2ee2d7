"""Writes the report of an audit to a folder of the build."""

import json
from collections.abc import Iterable, Iterator

import apache_beam as beam

from corpusmill.transforms.files.cells import to_line
from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.files.write_files import write_text
from corpusmill.transforms.wikitext.audit.findings import AuditedPage
from corpusmill.transforms.wikitext.audit.report import COLUMNS, TEMPLATE_COLUMNS, AuditReport

SUMMARY = "audit/summary.json"
FINDINGS = "audit/findings.tsv"
TEMPLATES = "audit/templates.tsv"
PAGE = "audit/findings.html"


class WriteAudit(beam.PTransform):
    """Writes the report of an audit: counts, tables and a readable page.

    PCollection[AuditedPage] → PCollection[OutputFile]. One worker holds the findings of all pages, a few
    kilobytes each.
    """

    def __init__(self, folder: str, language: str):
        super().__init__()
        self.folder = folder
        self.language = language

    def expand(self, pages: beam.PCollection) -> beam.PCollection:
        return (
            pages.pipeline
            | "Once" >> beam.Create([self.folder], reshuffle=False)
            | "WriteReport"
            >> beam.FlatMap(
                write_report, self.language, beam.pvalue.AsList(pages)
            ).with_output_types(OutputFile)
        )


def write_report(folder: str, language: str, pages: Iterable[AuditedPage]) -> Iterator[OutputFile]:
    """Writes the files of the report, and yields their descriptions."""
    report = AuditReport(pages)
    summary = json.dumps(report.summary(), ensure_ascii=False, indent=2) + "\n"
    yield write_text(folder, SUMMARY, summary, "json")
    tables = (
        (FINDINGS, COLUMNS, report.rows()),
        (TEMPLATES, TEMPLATE_COLUMNS, report.template_rows()),
    )
    for name, columns, rows in tables:
        lines = [to_line(row) for row in rows]
        yield write_text(folder, name, to_line(columns) + "".join(lines), "tsv", len(lines))
    yield write_text(folder, PAGE, report.html(language), "html")
