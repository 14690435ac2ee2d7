"""The findings of a build → stats.json, manifest.json, README.md and the metadata for TFDS."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsDict, AsList, AsSingleton

from transforms.files.write_files import write_texts
from transforms.files.write_rejected import CountReasons
from transforms.records import CorpusStats, InputFile, OutputFile
from transforms.text.builds import build_manifest
from transforms.text.builds.build_manifest import Description, Findings, Provenance
from transforms.text.builds.build_texts import make_texts
from transforms.text.builds.dataset_card import make_card
from transforms.text.vocabularies.subwords import SubwordStats, TrainedSubwords


class BuildOutcome(NamedTuple):
    """The collections that a manifest sums up."""

    inputs: beam.PCollection  # of InputFile
    outputs: beam.PCollection  # of OutputFile
    pages: beam.PCollection  # of int: well-formed pages that were read, in one number or in several
    rejected: beam.PCollection  # of Rejected
    lost: beam.PCollection  # of NamedTuples
    stats: beam.PCollection  # of (split, CorpusStats)
    class_unknown: beam.PCollection  # one element for each article of unknown class
    pinned: beam.PCollection  # of bool, for each article whose split was pinned: whether it moved
    subwords: beam.PCollection  # of at most one TrainedSubwords
    subword_stats: beam.PCollection  # of (split, SubwordStats)


class WriteManifest(beam.PTransform):
    """BuildOutcome → PCollection[OutputFile]. Raises AccountingError where kept + rejected ≠ read."""

    def __init__(self, folder: str, provenance: Provenance, description: Description):
        super().__init__()
        self.folder = folder
        self.provenance = provenance
        self.description = description

    def expand(self, outcome: BuildOutcome) -> beam.PCollection:
        root = outcome.pages.pipeline
        rejections = outcome.rejected | "CountReasons" >> CountReasons()
        return (
            root
            | "Once" >> beam.Create([self.folder])
            | "WriteManifest"
            >> beam.FlatMap(
                write_manifest,
                self.provenance,
                self.description,
                inputs=AsList(outcome.inputs),
                outputs=AsList(outcome.outputs),
                pages=AsSingleton(outcome.pages | "AddPages" >> beam.CombineGlobally(sum)),
                rejections=AsList(rejections),
                lost=AsList(outcome.lost),
                stats=AsList(outcome.stats),
                class_unknown=AsSingleton(
                    outcome.class_unknown | "CountUnknown" >> beam.combiners.Count.Globally()
                ),
                pinned=AsDict(outcome.pinned | "CountPinned" >> beam.combiners.Count.PerElement()),
                subwords=AsSingleton(outcome.subwords, default_value=None),
                subword_stats=AsDict(outcome.subword_stats),
            )
        )


def write_manifest(
    folder: str,
    provenance: Provenance,
    description: Description,
    *,
    inputs: Sequence[InputFile],
    outputs: Sequence[OutputFile],
    pages: int,
    rejections: Sequence[tuple[tuple[str, str], int]],
    lost: Sequence[Any],
    stats: Sequence[tuple[str, CorpusStats]],
    class_unknown: int,
    pinned: Mapping[bool, int],
    subwords: TrainedSubwords | None,
    subword_stats: Mapping[str, SubwordStats],
) -> Iterable[OutputFile]:
    """Checks the accounts and writes what a build says of itself."""
    malformed = sum(count for (stage, _), count in rejections if stage == "read-dump")
    findings = Findings(
        inputs=inputs,
        outputs=outputs,
        pages_read=pages + malformed,
        rejections=dict(rejections),
        class_unknown=class_unknown,
        pinned=sum(pinned.values()),
        pinned_elsewhere=pinned.get(True, 0),
        lost=[one._asdict() for one in lost],
        stats=dict(stats),
        subwords=subwords,
        subword_stats=dict(subword_stats),
    )
    build_manifest.check_accounts(findings)
    counts = build_manifest.make_stats(findings)
    manifest = build_manifest.make_manifest(provenance, findings)
    card = make_card(description.title, description.about, description.license_id, manifest, counts)
    texts = make_texts(provenance, description, manifest, counts, card, outputs)
    yield from write_texts(folder, texts)
