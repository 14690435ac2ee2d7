"""The findings of a build of shuffled sentences → stats.json, manifest.json, README.md, metadata for TFDS."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsDict, AsList, AsSingleton

from transforms.files.open_input import InputError
from transforms.files.write_files import write_texts
from transforms.files.write_rejected import CountReasons
from transforms.records import InputFile, LineRange, LineShard, OutputFile
from transforms.text.builds import build_manifest
from transforms.text.builds.build_manifest import Description, Provenance
from transforms.text.builds.build_texts import make_texts
from transforms.text.lines.line_stats import LineStats, add_line_stats, measure_lines
from transforms.text.news.sentence_accounts import (
    Found,
    check_accounts,
    make_caveats,
    make_counts,
    make_stats,
)
from transforms.text.news.sentence_card import make_sentence_card
from transforms.text.news.shard_names import SPLITS, tables_of


class SentenceOutcome(NamedTuple):
    """The collections that the manifest of a corpus of sentences sums up."""

    inputs: beam.PCollection  # of InputFile
    outputs: beam.PCollection  # of OutputFile
    lines: beam.PCollection  # of int: lines that were read, rejected ones too
    rejected: beam.PCollection  # of Rejected: lines that are no text
    lost: beam.PCollection  # of NamedTuples: parts of the input that could not be read
    unterminated: beam.PCollection  # of str: names of files whose last line has no line feed
    read: beam.PCollection  # of LineStats: lines to sort, repeated ones too; none if not measured
    duplicates: beam.PCollection  # of int: lines left out because they stand there already
    ranges: beam.PCollection  # of LineRange: the other lines
    near_duplicates: beam.PCollection  # of int: sentences left out because one like them is there
    shards: beam.PCollection  # of LineShard
    replaced: beam.PCollection  # of (split, characters replaced in Parquet and TFRecord)
    vocabulary: beam.PCollection  # of one VocabularyStats


class WriteSentenceManifest(beam.PTransform):
    """SentenceOutcome → PCollection[OutputFile].

    Raises AccountingError where lines were lost, or invented, on the way to the files, and InputError where
    not one sentence is left.

    Args:
      folder: of the build.
    """

    def __init__(self, folder: str, provenance: Provenance, description: Description):
        super().__init__()
        self.folder = folder
        self.provenance = provenance
        self.description = description

    def expand(self, outcome: SentenceOutcome) -> beam.PCollection:
        splits = (
            outcome.shards
            | "MeasureShard" >> beam.FlatMap(measure_shard).with_output_types(tuple[str, LineStats])
            | "AddShards" >> beam.CombinePerKey(add_line_stats)
        )
        unique = outcome.ranges | "RangeLines" >> beam.Map(_lines_of_range).with_output_types(int)
        return (
            outcome.lines.pipeline
            | "Once" >> beam.Create([None])
            | "SumUp"
            >> beam.Map(
                sum_up,
                lines_read=_sum(outcome.lines, "AddLines"),
                rejections=AsDict(outcome.rejected | "CountReasons" >> CountReasons()),
                read=AsSingleton(outcome.read | "AddRead" >> beam.CombineGlobally(add_line_stats)),
                duplicates=_sum(outcome.duplicates, "AddDuplicates"),
                unique=_sum(unique, "AddUnique"),
                near_duplicates=_sum(outcome.near_duplicates, "AddNearDuplicates"),
                splits=AsDict(splits),
                replaced=AsDict(outcome.replaced | "AddReplaced" >> beam.CombinePerKey(sum)),
                vocabulary=AsSingleton(outcome.vocabulary),
            )
            | "WriteManifest"
            >> beam.FlatMap(
                write_manifest,
                self.folder,
                self.provenance,
                self.description,
                inputs=AsList(outcome.inputs),
                outputs=AsList(outcome.outputs),
                lost=AsList(outcome.lost),
                unterminated=AsList(outcome.unterminated),
            )
        )


def _sum(numbers: beam.PCollection, label: str) -> AsSingleton:
    return AsSingleton(numbers | label >> beam.CombineGlobally(sum))


def _lines_of_range(lines: LineRange) -> int:
    return lines.lines


def measure_shard(shard: LineShard) -> Iterator[tuple[str, LineStats]]:
    """(split, counts) for each split that the shard belongs to."""
    tables = tables_of(shard.series, shard.shard, shard.shards)
    if tables:
        stats = measure_lines(shard.block)
        for table in tables:
            yield table.split, stats


def sum_up(_: None, splits: Mapping[str, LineStats], **sums: Any) -> Found:
    """Takes the fields of Found; a split without a shard has no lines."""
    return Found(splits={split: splits.get(split, LineStats()) for split in SPLITS}, **sums)


def write_manifest(
    found: Found,
    folder: str,
    provenance: Provenance,
    description: Description,
    *,
    inputs: Sequence[InputFile],
    outputs: Sequence[OutputFile],
    lost: Sequence[Any],
    unterminated: Sequence[str],
) -> Iterable[OutputFile]:
    """Checks the accounts and writes what a build says of itself."""
    check_accounts(found, outputs)
    if not found.sentences:
        names = ", ".join(sorted(file.name for file in inputs))
        raise InputError(
            names,
            f"no sentence in it: of {found.lines_read:,} lines {found.rejected:,} were rejected",
        )
    known = provenance._replace(caveats=(*provenance.caveats, *make_caveats(found, unterminated)))
    manifest = build_manifest.assemble(
        known, inputs, make_counts(found), [one._asdict() for one in lost], outputs
    )
    stats = make_stats(found)
    card = make_sentence_card(
        description.title, description.about, description.license_id, manifest, stats
    )
    texts = make_texts(known, description, manifest, stats, card, outputs, SPLITS)
    yield from write_texts(folder, texts)
