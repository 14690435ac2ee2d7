"""Compares two editions of a corpus: which documents were added, removed, changed, or moved to another split.

A document that moves to another split leaks: a model trained on one edition may be tested on a document that
it has seen. In corpora whose splits depend only on the id, no document may move.
"""

import heapq
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import apache_beam as beam
import zstandard
from apache_beam.pvalue import AsList, AsSingleton

from corpusmill.pipelines.inspect.build_differences import find_differences
from corpusmill.pipelines.inspect.compare_editions import (
    CompareEditions,
    columns_to_compare,
    count_documents,
)
from corpusmill.pipelines.inspect.edition_changes import (
    MOVED,
    REPEATED,
    Change,
    SplitChanges,
    Tally,
    moves,
    order,
    parse_line,
    split_changes,
    to_line,
)
from corpusmill.pipelines.inspect.findings import (
    SHOWN,
    Means,
    add_report,
    print_count,
    print_first,
    reporting,
    write_lines,
)
from corpusmill.pipelines.run.corpora import shapes
from corpusmill.pipelines.run.editions import SUMMARY
from corpusmill.pipelines.run.engines.run_pipeline import run_pipeline
from corpusmill.transforms.files.builds.build_manifest import to_json
from corpusmill.transforms.files.builds.corpus_shapes import CorpusShape
from corpusmill.transforms.files.builds.finished_builds import Build, open_build
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.open_input import open_raw
from corpusmill.transforms.files.terminal import escape_line


class EditionChanges(NamedTuple):
    """The differences between the documents of two editions."""

    old: str  # signature of the older build
    new: str
    unit: str  # of documents, such as "articles"
    splits: Mapping[str, SplitChanges] = {}
    moved: Mapping[tuple[str, str], int] = {}  # (old split, new split) → documents
    first_moved: tuple[Change, ...] = ()  # the first SHOWN moved documents
    repeated: int = 0  # ids in several rows of an edition, if ids are unique in the corpus
    why_moves: str = ""  # why documents may move in this corpus; "" if none may
    differences: tuple[
        str, ...
    ] = ()  # differences in versions, settings and kinds of input: "version: 1.2.0 → 1.3.0"

    @property
    def total(self) -> SplitChanges:
        """The sums of the counts over all splits.

        `moved_out` and `moved_in` are equal, because each document that leaves a split enters another one.
        """
        return SplitChanges(*map(sum, zip(SplitChanges(), *self.splits.values(), strict=True)))

    @property
    def share(self) -> float:
        """The share (0 to 1) of documents that were added, removed, changed or moved.

        It is a share of all documents of the two editions. A document in both editions is counted once.
        """
        total = self.total
        everything = total.old + total.added
        return (everything - total.unchanged) / everything if everything else 0.0

    @property
    def is_sound(self) -> bool:
        """True if no document moved to another split, or if the corpus allows such moves."""
        return bool(self.why_moves) or not self.moved


def compare_builds(old: str, new: str, **means: Unpack[Means]) -> EditionChanges:
    """Compares two finished builds of the same corpus and language.

    Args:
      old, new: The folders of the builds.
      means: How to run the comparison and where to write the report, see Means. The report lists each
        document that differs between the builds; the file `<report>.json` contains the counts.

    Raises InputError if a folder does not contain a finished build; ValueError if the builds are of different
    corpora or languages; BuildError if rows are damaged, have no id, or do not match the manifest.
    """
    with reporting(**means) as (engine, path):
        builds = open_build(old), open_build(new)
        shape = check_comparable(*builds)
        columns = columns_to_compare(*builds, shape)
        run_pipeline(lambda root: add_comparison(root, builds, shape, columns, path), engine)
        changes = _read_summary(path + SUMMARY)
    _check_counts(changes, builds, shape)
    return changes


def check_comparable(old: Build, new: Build) -> CorpusShape:
    """Returns the CorpusShape of two builds of the same corpus: its columns, splits and unit.

    Raises ValueError if the builds cannot be compared.
    """
    for what, of_old, of_new in (
        ("corpora", old.corpus, new.corpus),
        ("languages", old.language, new.language),
    ):
        if of_old != of_new:
            raise ValueError(
                f"cannot compare builds of different {what}: {of_old} in {old.folder}, {of_new} in"
                f" {new.folder}"
            )
    known = shapes()
    if old.corpus not in known:
        raise ValueError(
            f"builds of {old.corpus} contain no documents to compare; builds of {', '.join(known)} do"
        )
    return known[old.corpus]


def add_comparison(
    root: beam.Pipeline,
    builds: tuple[Build, Build],
    shape: CorpusShape,
    columns: Sequence[str],
    report: str,
) -> None:
    """Adds all steps of the comparison to a pipeline. The last step writes the report and its summary.

    Args:
      root: The pipeline.
      builds: The old and the new build.
      shape: The columns, the splits and the unit of the corpus.
      columns: The columns to compare.
      report: The path of the report.
    """
    old, new = builds
    found = root | "CompareEditions" >> CompareEditions(old, new, shape, columns)
    differences = find_differences(old.manifest, new.manifest)
    nothing = EditionChanges(old.signature, new.signature, shape.unit, differences=differences)
    changes = AsSingleton(found.tally), AsList(found.changes)
    add_report(root, report, write_report, nothing, shape, *changes)


def write_report(
    path: str, nothing: EditionChanges, shape: CorpusShape, tally: Tally, blocks: Sequence[bytes]
) -> None:
    """Writes a report of all changes, sorted by id, and then its summary in a JSON file.

    Args:
      path: The path of the report.
      nothing: A result without changes, to which the changes are added. It has the signatures of the two
        builds, and the differences between their manifests.
      shape: The columns, the splits and the unit of the corpus.
      tally: The counts of the changes.
      blocks: The changes, compressed. Each block is sorted by id; the blocks may be in any order.
    """
    first_moved: list[Change] = []

    def lines() -> Iterator[str]:
        yield "\t".join(Change._fields) + "\n"
        for change in heapq.merge(*map(read_changes, blocks), key=order):
            yield to_line(change)
            if change.fate == MOVED and len(first_moved) < SHOWN:
                first_moved.append(change)

    write_lines(path, lines())
    found = nothing._replace(
        splits=split_changes(tally, shape.splits),
        moved=moves(tally),
        first_moved=tuple(first_moved),
        why_moves=shape.why_moves,
        repeated=0 if shape.repeats else tally.get((REPEATED, "", ""), 0),
    )
    write_lines(path + SUMMARY, [to_json(summarise(found))])


def read_changes(block: bytes) -> Iterator[Change]:
    """Yields the changes in a block of lines that is compressed with Zstandard."""
    stream = zstandard.ZstdDecompressor().stream_reader(block)
    return map(parse_line, io.TextIOWrapper(stream, "utf-8", newline="\n"))


def summarise(changes: EditionChanges) -> dict[str, Any]:
    """Returns the changes as an object that can be written as JSON."""
    return {
        **changes._asdict(),
        "total": changes.total._asdict(),
        "share": changes.share,
        "splits": {split: counts._asdict() for split, counts in changes.splits.items()},
        "moved": [
            {"old_split": old, "new_split": new, changes.unit: count}
            for (old, new), count in changes.moved.items()
        ],
        "first_moved": [change._asdict() for change in changes.first_moved],
    }


def _read_summary(path: str) -> EditionChanges:
    """Reads the changes from JSON as written by `summarise`."""
    with open_raw(path) as file:
        summary = json.loads(file.read())
    found = EditionChanges(**{name: summary[name] for name in EditionChanges._fields})
    return found._replace(
        splits={split: SplitChanges(**counts) for split, counts in summary["splits"].items()},
        moved={(of["old_split"], of["new_split"]): of[found.unit] for of in summary["moved"]},
        first_moved=tuple(Change(**change) for change in summary["first_moved"]),
        differences=tuple(found.differences),
    )


def _check_counts(changes: EditionChanges, builds: tuple[Build, Build], shape: CorpusShape) -> None:
    """Raises BuildError if a build does not have the number of documents that its manifest states."""
    for build, rows in zip(builds, changes.total[:2], strict=True):
        built = count_documents(build, shape)
        if rows != built:
            raise BuildError(
                f"{build.folder}: has {rows:,} {shape.unit}, but {built:,} in the manifest;"
                " corpusmill verify shows the details"
            )


def print_changes(changes: EditionChanges, report: str = "") -> None:
    """Prints a summary of the changes. `report` is the path of the file that lists all changes."""
    print(f"old: {changes.old}\nnew: {changes.new}")
    for difference in changes.differences:
        print(f"  differs: {escape_line(difference)}")
    rows = [*changes.splits.items()] if len(changes.splits) > 1 else []
    _print_table(
        (changes.unit, *(name.replace("_", " ") for name in SplitChanges._fields)),
        *(
            (split, *(f"{count:,}" for count in counts))
            for split, counts in [*rows, ("total", changes.total)]
        ),
    )
    print(f"not the same in both: {changes.share:.2%}")
    if changes.repeated:
        print(f"ids in several rows of an edition: {changes.repeated:,}")
    _print_moved(changes, report)


def _print_table(*rows: Sequence[str]) -> None:
    first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
    for name, *cells in rows:
        numbers = (f"  {cell:>{width}}" for cell, width in zip(cells, others, strict=True))
        print(f"{name:<{first}}" + "".join(numbers))


def _print_moved(changes: EditionChanges, report: str) -> None:
    count = sum(changes.moved.values())
    if len(changes.splits) < 2:
        return
    print_count("moved between splits", count)
    for (old, new), of_pair in changes.moved.items():
        print(f"  {old} → {new}: {of_pair:,}")
    if changes.why_moves and count:
        print(f"  moves are allowed: {changes.why_moves}")
        return
    first = [
        f"{one.id} {one.title}: {one.old_split} → {one.new_split}" for one in changes.first_moved
    ]
    print_first(first, count, report)
