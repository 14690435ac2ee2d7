"""The sentences of a translation benchmark → source.tsv, Parquet, and what the build says of itself."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsDict, AsList

from transforms.files.open_input import InputError
from transforms.files.write_files import table_of, write_parquet, write_text, write_texts
from transforms.files.write_rejected import CountReasons
from transforms.records import InputFile, OutputFile
from transforms.text.builds import build_manifest
from transforms.text.builds.build_manifest import Provenance, to_json
from transforms.text.files.shards import parquet_name
from transforms.text.translation.records import SPLITS, SourceSentence
from transforms.text.translation.source_table import NAME, write_source
from transforms.text.translation.sourcing.accounts import FoundPages, make_counts, make_stats
from transforms.text.translation.sourcing.card import make_source_card
from transforms.text.translation.sourcing.selection import Selection

SCHEMA = pa.schema(
    [
        (name, pa.bool_() if name.startswith("has_") else pa.string())
        for name in SourceSentence._fields
    ]
)


class SourceOutcome(NamedTuple):
    """The collections that a build of source sentences sums up."""

    inputs: beam.PCollection  # of InputFile
    rejected_files: beam.PCollection  # of OutputFile
    pages: beam.PCollection  # of (domain, pages read)
    rejected: beam.PCollection  # of Rejected, their stages with the domain in front
    lost: beam.PCollection  # of LostBytes
    candidates: beam.PCollection  # of (domain, pages with a passage)
    selection: beam.PCollection  # of one Selection


class WriteSource(beam.PTransform):
    """SourceOutcome → PCollection[OutputFile].

    Raises AccountingError where a page is unaccounted for, and InputError where there is no sentence.

    Args:
      folder: of the build.
    """

    def __init__(self, folder: str, provenance: Provenance):
        super().__init__()
        self.folder = folder
        self.provenance = provenance

    def expand(self, outcome: SourceOutcome) -> beam.PCollection:
        return (
            outcome.selection
            | "SumUp"
            >> beam.Map(
                sum_up,
                pages=AsDict(outcome.pages),
                rejections=AsDict(outcome.rejected | "CountReasons" >> CountReasons()),
                candidates=AsDict(outcome.candidates),
            )
            | "Write"
            >> beam.FlatMap(
                write_build,
                self.folder,
                self.provenance,
                inputs=AsList(outcome.inputs),
                rejected_files=AsList(outcome.rejected_files),
                lost=AsList(outcome.lost),
            )
        )


def sum_up(selection: Selection, **counts: Any) -> FoundPages:
    """Takes the fields of FoundPages."""
    return FoundPages(selection=selection, **counts)


def write_build(
    found: FoundPages,
    folder: str,
    provenance: Provenance,
    *,
    inputs: Sequence[InputFile],
    rejected_files: Sequence[OutputFile],
    lost: Sequence[Any],
) -> Iterator[OutputFile]:
    """Checks the accounts and writes all files, the manifest last."""
    sentences = found.selection.sentences
    stats = make_stats(found)
    if not sentences:
        raise InputError(_names(inputs), f"no passage in {sum(found.pages.values()):,} pages")
    outputs = [*rejected_files, *write_sentences(sentences, folder)]
    shortages = [f"Fewer than asked for: {shortage}." for shortage in stats["shortages"]]
    told = provenance._replace(caveats=(*provenance.caveats, *shortages))
    manifest = build_manifest.assemble(
        told, inputs, make_counts(found), [one._asdict() for one in lost], outputs
    ) | {"stats": stats}
    yield from outputs
    yield from write_texts(
        folder,
        {
            "stats.json": to_json(stats),
            "README.md": make_source_card(manifest),
            "manifest.json": to_json(manifest),
        },
    )


def write_sentences(sentences: Sequence[SourceSentence], folder: str) -> Iterator[OutputFile]:
    """source.tsv for people, and a Parquet file for each split."""
    table = write_source(sentences)
    yield write_text(folder, NAME, table, "table")
    for split in SPLITS:
        rows = [one for one in sentences if one.split == split]
        yield write_parquet(folder, parquet_name(split, 0, 1), split, table_of(rows, SCHEMA))


def _names(inputs: Sequence[InputFile]) -> str:
    return ", ".join(sorted(file.name for file in inputs if file.role != "topics"))
