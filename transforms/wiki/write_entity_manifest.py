"""The findings of a build of the entity table → stats.json, manifest.json and README.md."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsList, AsSingleton

from transforms.files.open_input import InputError
from transforms.files.write_files import write_text
from transforms.files.write_rejected import CountReasons
from transforms.records import InputFile, OutputFile
from transforms.text.builds import build_manifest
from transforms.text.builds.build_manifest import AccountingError, Provenance
from transforms.text.wikimedia.class_tree import KINDS
from transforms.text.wikimedia.entity_card import make_card
from transforms.text.wikimedia.entity_table import TableCounts, add_counts

TABLE = "entities-"  # how the names of the table's files begin


class TableOutcome(NamedTuple):
    """The collections that the manifest of an entity table sums up."""

    inputs: beam.PCollection  # of InputFile
    outputs: beam.PCollection  # of OutputFile
    entities: beam.PCollection  # of int: items that were read
    skipped: beam.PCollection  # of int: lines without an item
    rejected: beam.PCollection  # of Rejected: lines that are no entity
    lost: beam.PCollection  # of NamedTuples: parts of the dump that could not be read
    counts: beam.PCollection  # of TableCounts: parts of the table
    kinds: beam.PCollection  # one {internal class: kind}


class WriteEntityManifest(beam.PTransform):
    """TableOutcome → PCollection[OutputFile].

    Raises AccountingError where rows written + repeated ≠ items read.

    Args:
      folder: of the build.
      wikis: database names, in the order of the columns.
    """

    def __init__(self, folder: str, provenance: Provenance, wikis: Sequence[str]):
        super().__init__()
        self.folder = folder
        self.provenance = provenance
        self.wikis = list(wikis)

    def expand(self, outcome: TableOutcome) -> beam.PCollection:
        root = outcome.entities.pipeline
        entities = outcome.entities | "AddRows" >> beam.CombineGlobally(sum)
        skipped = outcome.skipped | "AddSkipped" >> beam.CombineGlobally(sum)
        rejections = outcome.rejected | "CountReasons" >> CountReasons()
        return (
            root
            | "Once" >> beam.Create([self.folder])
            | "WriteManifest"
            >> beam.FlatMap(
                write_manifest,
                self.provenance,
                self.wikis,
                inputs=AsList(outcome.inputs),
                outputs=AsList(outcome.outputs),
                entities=AsSingleton(entities),
                skipped=AsSingleton(skipped),
                rejections=AsList(rejections),
                lost=AsList(outcome.lost),
                counts=AsList(outcome.counts),
                kinds=AsSingleton(outcome.kinds),
            )
        )


def write_manifest(
    folder: str,
    provenance: Provenance,
    wikis: Sequence[str],
    *,
    inputs: Sequence[InputFile],
    outputs: Sequence[OutputFile],
    entities: int,
    skipped: int,
    rejections: Sequence[tuple[tuple[str, str], int]],
    lost: Sequence[Any],
    counts: Sequence[TableCounts],
    kinds: Mapping[int, str],
) -> Iterable[OutputFile]:
    """Checks the accounts and writes what a build says of itself."""
    table = add_counts(counts)
    check_accounts(entities, table, outputs)
    if not table.rows:
        # Without an item, a build that joins the table would lose all its pages and say nothing.
        names = ", ".join(sorted(file.name for file in inputs))
        rejected_lines = sum(count for _, count in rejections)
        raise InputError(
            names,
            f"no item in it: {rejected_lines:,} lines were rejected, {skipped:,} hold something else;"
            " an entity dump has one item a line",
        )
    stats = make_stats(table, wikis, kinds)
    rejected = {f"{stage}/{reason}": count for (stage, reason), count in sorted(rejections)}
    total = sum(rejected.values())
    manifest = build_manifest.assemble(
        provenance,
        inputs,
        {
            "lines_read": entities + skipped + total,
            "rows": table.rows,
            "repeated": table.repeated,
            "without_item": skipped,
            "rejected": rejected | {"total": total},
        },
        [one._asdict() for one in lost],
        outputs,
    )
    yield write_text(folder, "stats.json", build_manifest.to_json(stats))
    yield write_text(folder, "README.md", make_card(manifest, stats))
    yield write_text(folder, "manifest.json", build_manifest.to_json(manifest))


def check_accounts(entities: int, table: TableCounts, outputs: Iterable[OutputFile]) -> None:
    """Raises AccountingError where items were lost, or invented, on the way to the files."""
    if table.rows + table.repeated != entities:
        raise AccountingError(
            f"{table.rows} rows + {table.repeated} repeated are not the {entities} items that were read"
        )
    written = sum(file.records for file in outputs if file.name.startswith(TABLE))
    if written != table.rows:
        raise AccountingError(f"the files hold {written} of {table.rows} rows")


def make_stats(
    table: TableCounts, wikis: Sequence[str], kinds: Mapping[int, str]
) -> dict[str, Any]:
    """stats.json: what the table holds."""
    classes = Counter(kinds.values())
    return {
        "total": {
            "items": table.rows,
            "items_with_class": table.with_class,
            "sitelinks": dict(zip(wikis, table.sitelinks, strict=True)),
            "internal_classes": {kind: classes[kind] for kind in KINDS},
        }
    }
