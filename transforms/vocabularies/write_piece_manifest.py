"""The findings of a vocabulary over many languages → stats.json, manifest.json and README.md."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsDict, AsList, AsSingleton

from transforms.files.write_files import write_text
from transforms.records import InputFile, OutputFile
from transforms.text.builds import build_manifest
from transforms.text.builds.build_manifest import AccountingError, Provenance
from transforms.text.vocabularies.piece_card import make_piece_card, make_piece_stats
from transforms.text.vocabularies.piece_model import PieceStats, TrainedPieces
from transforms.text.vocabularies.sentence_choice import Choice
from transforms.vocabularies.count_pieces import EVALUATED, HELD_OUT, StatsKey


class PieceOutcome(NamedTuple):
    """The collections that the manifest sums up."""

    inputs: beam.PCollection  # of InputFile
    outputs: beam.PCollection  # of OutputFile
    trained: beam.PCollection  # one TrainedPieces
    choices: beam.PCollection  # one mapping of language → Choice
    sampled: beam.PCollection  # of (language, sentences that were learned from)
    stats: beam.PCollection  # of (StatsKey, PieceStats)
    rejected: beam.PCollection  # of ((stage, reason), lines)


class WritePieceManifest(beam.PTransform):
    """PieceOutcome → PCollection[OutputFile].

    Raises AccountingError where not as many sentences were learned from as were to be.
    """

    def __init__(self, folder: str, provenance: Provenance):
        super().__init__()
        self.folder = folder
        self.provenance = provenance

    def expand(self, outcome: PieceOutcome) -> beam.PCollection:
        return (
            outcome.trained.pipeline
            | "Once" >> beam.Create([self.folder])
            | "WriteManifest"
            >> beam.FlatMap(
                write_manifest,
                self.provenance,
                inputs=AsList(outcome.inputs),
                outputs=AsList(outcome.outputs),
                trained=AsSingleton(outcome.trained),
                choices=AsSingleton(outcome.choices),
                sampled=AsDict(outcome.sampled),
                stats=AsDict(outcome.stats),
                rejected=AsDict(outcome.rejected),
            )
        )


def write_manifest(
    folder: str,
    provenance: Provenance,
    *,
    inputs: Sequence[InputFile],
    outputs: Sequence[OutputFile],
    trained: TrainedPieces,
    choices: Mapping[str, Choice],
    sampled: Mapping[str, int],
    stats: Mapping[StatsKey, PieceStats],
    rejected: Mapping[tuple[str, str], int],
) -> Iterable[OutputFile]:
    """Checks the accounts and writes what the vocabulary says of itself."""
    check_sampled(choices, sampled)
    found = make_piece_stats(choices, _of(HELD_OUT, stats), _of(EVALUATED, stats), trained)
    counts = {
        "sentences": found["total"]["sentences"],
        "sampled": found["total"]["sampled"],
        "rejected_lines": {
            f"{stage}/{reason}": n for (stage, reason), n in sorted(rejected.items())
        },
    }
    manifest = build_manifest.assemble(provenance, inputs, counts, [], outputs) | {"stats": found}
    yield write_text(folder, "stats.json", build_manifest.to_json(found))
    yield write_text(folder, "README.md", make_piece_card(manifest, found))
    yield write_text(folder, "manifest.json", build_manifest.to_json(manifest))


def check_sampled(choices: Mapping[str, Choice], sampled: Mapping[str, int]) -> None:
    """Raises AccountingError."""
    for language, choice in sorted(choices.items()):
        if sampled.get(language, 0) != choice.share.wanted:
            raise AccountingError(
                f"{sampled.get(language, 0)} of {choice.share.wanted} sentences of {language} are sampled"
            )


def _of(what: str, stats: Mapping[StatsKey, PieceStats]) -> dict[str, PieceStats]:
    return {language: one for (kind, language), one in stats.items() if kind == what}
