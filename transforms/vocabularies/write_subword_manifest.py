"""The findings of vocabularies over finished builds → stats.json, manifest.json and README.md."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsDict, AsList

from transforms.files.write_files import write_text
from transforms.records import InputFile, OutputFile
from transforms.text.builds import build_manifest
from transforms.text.builds.build_manifest import AccountingError, Provenance
from transforms.text.fingerprint import SPLITS
from transforms.text.vocabularies.subword_card import MEASURED, make_subword_card
from transforms.text.vocabularies.subwords import SubwordStats, TrainedSubwords
from transforms.vocabularies.count_subwords import RowsKey

BuildStats = Mapping[str, Mapping[str, int]]  # split → counts: stats.json of a build


class SubwordOutcome(NamedTuple):
    """The collections that the manifest sums up."""

    inputs: beam.PCollection  # of InputFile
    outputs: beam.PCollection  # of OutputFile
    trained: beam.PCollection  # of (name, TrainedSubwords)
    stats: beam.PCollection  # of ((name, edition, split), SubwordStats)


class WriteSubwordManifest(beam.PTransform):
    """SubwordOutcome → PCollection[OutputFile].

    Raises AccountingError where the characters counted are not those that the builds have.

    Args:
      folder: of the vocabularies.
      builds: edition → stats of the build.
      sampled: edition → articles of it that were learned from.
      paper: edition → characters per piece that the paper has.
    """

    def __init__(
        self,
        folder: str,
        provenance: Provenance,
        builds: Mapping[str, BuildStats],
        sampled: Mapping[str, int],
        paper: Mapping[str, Sequence[float]],
    ):
        super().__init__()
        self.folder = folder
        self.provenance = provenance
        self.builds = dict(builds)
        self.sampled = dict(sampled)
        self.paper = dict(paper)

    def expand(self, outcome: SubwordOutcome) -> beam.PCollection:
        return (
            outcome.trained.pipeline
            | "Once" >> beam.Create([self.folder])
            | "WriteManifest"
            >> beam.FlatMap(
                write_manifest,
                self.provenance,
                self.builds,
                self.sampled,
                self.paper,
                inputs=AsList(outcome.inputs),
                outputs=AsList(outcome.outputs),
                trained=AsDict(outcome.trained),
                stats=AsDict(outcome.stats),
            )
        )


def write_manifest(
    folder: str,
    provenance: Provenance,
    builds: Mapping[str, BuildStats],
    sampled: Mapping[str, int],
    paper: Mapping[str, Sequence[float]],
    *,
    inputs: Sequence[InputFile],
    outputs: Sequence[OutputFile],
    trained: Mapping[str, TrainedSubwords],
    stats: Mapping[RowsKey, SubwordStats],
) -> Iterable[OutputFile]:
    """Checks the accounts and writes what the vocabularies say of themselves."""
    by_size = sorted(trained, key=lambda name: provenance.settings["vocabularies"][name])
    check_counts(stats, builds, [name for name in by_size if trained[name].model])
    counts = {name: _counts_of(name, stats, builds) for name in by_size if trained[name].model}
    manifest = build_manifest.assemble(
        provenance, inputs, {"sampled": dict(sorted(sampled.items()))}, [], outputs
    ) | {"sentencepiece": {name: trained[name].summary() for name in by_size}}
    card = make_subword_card(manifest, counts, own_characters_per_piece(builds), paper)
    yield write_text(folder, "stats.json", build_manifest.to_json(counts))
    yield write_text(folder, "README.md", card)
    yield write_text(folder, "manifest.json", build_manifest.to_json(manifest))


def check_counts(
    stats: Mapping[RowsKey, SubwordStats], builds: Mapping[str, BuildStats], names: Iterable[str]
) -> None:
    """Raises AccountingError."""
    for name in names:
        for edition, per_split in builds.items():
            for split in SPLITS:
                counted = stats.get((name, edition, split), SubwordStats()).characters
                expected = per_split[split]["characters"]
                if counted != expected:
                    raise AccountingError(
                        f"{counted} of {expected} characters of {split} of {edition} are counted in {name}"
                    )


def own_characters_per_piece(builds: Mapping[str, BuildStats]) -> dict[str, float]:
    """Edition → characters per piece of validation and test, where the build has a vocabulary."""
    own = {}
    for edition, stats in builds.items():
        pieces = sum(stats[split].get("pieces", 0) for split in MEASURED)
        if pieces:
            own[edition] = sum(stats[split]["characters"] for split in MEASURED) / pieces
    return own


def _counts_of(
    name: str, stats: Mapping[RowsKey, SubwordStats], builds: Mapping[str, BuildStats]
) -> dict[str, dict[str, dict[str, Any]]]:
    """Edition → split → counts."""
    return {
        edition: {
            split: stats.get((name, edition, split), SubwordStats())._asdict() for split in SPLITS
        }
        for edition in sorted(builds)
    }
