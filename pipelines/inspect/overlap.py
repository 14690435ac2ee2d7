"""Near-duplicate documents of data sets, and the report about them."""

import csv
import os
import pathlib
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pyarrow.parquet as pq

from pipelines.builds.publish import TargetError
from pipelines.engines.run_pipeline import find_engine, run_pipeline
from pipelines.inspect.text_sources import find_data_sets
from transforms.duplicates.find_overlap import (
    DOCUMENTS,
    NAMES,
    PAIRS,
    FindOverlap,
    SetFile,
    SignDocuments,
)
from transforms.files.scratch import SCRATCH

Counts = dict[tuple[str, str], tuple[int, int]]
"""(data set, split) → documents, and those of them that have a near-duplicate."""


class Comparison(NamedTuple):
    """The settings of a comparison."""

    data_sets: Sequence[str]  # arguments, see text_sources.py
    others: Sequence[str]  # what they are compared with; () for each other
    similarity: str
    id_column: str = ""
    signatures_only: bool = False


def find_overlap(
    comparison: Comparison, output: str, runner: str, workers: int | None, beam_flags: Sequence[str]
) -> None:
    """Writes pairs, or signatures, into a new folder on a disk that all workers share.

    Raises InputError for inputs that are not there, ValueError for wrong settings, TargetError for a folder
    that is not empty, BuildError for inputs that turn out to be damaged.
    """
    workers = workers or os.cpu_count() or 1
    sides = comparison.data_sets, comparison.others
    files = [
        SetFile(one.name, side, file)
        for side, arguments in enumerate(sides)
        for one in find_data_sets(arguments, comparison.id_column)
        for file in one.files
    ]
    engine = find_engine(runner, workers, beam_flags)
    folder = pathlib.Path(output).absolute()
    if folder.exists() and any(folder.iterdir()):
        raise TargetError(f"{output} is not empty: take another --output")
    find: FindOverlap | SignDocuments
    if comparison.signatures_only:
        find = SignDocuments(files, str(folder), workers)
    else:
        across = bool(comparison.others)
        find = FindOverlap(
            files, str(folder), comparison.similarity, across=across, workers=workers
        )
    folder.mkdir(parents=True, exist_ok=True)
    try:
        run_pipeline(lambda root: _add(root, find), engine)
    except BaseException:
        shutil.rmtree(folder)
        raise
    shutil.rmtree(folder / SCRATCH, ignore_errors=True)


def _add(root: object, find: FindOverlap | SignDocuments) -> None:
    _ = root | find


def print_overlap(output: str, similarity: str) -> None:
    """A table of data sets and splits."""
    counts, pairs, clusters = count_overlap(output)
    print(f"near-duplicates: 8-grams of words with a similarity of at least {similarity}")
    print(f"{'documents':>12}{'alike':>12}  data set, split")
    for (data_set, split), (documents, alike) in sorted(counts.items()):
        print(f"{documents:>12,}{alike:>12,}  {data_set} {split}".rstrip())
    print(f"{pairs:,} pairs in {clusters:,} clusters: {output}/{PAIRS}-*.parquet")


def count_overlap(output: str) -> tuple[Counts, int, int]:
    """(Counts, pairs, clusters) of what was written."""
    alike: dict[tuple[str, str], set[str]] = defaultdict(set)
    clusters: set[str] = set()
    pairs = 0
    for path in sorted(pathlib.Path(output).glob(f"{PAIRS}-*.parquet")):
        for batch in pq.ParquetFile(path).iter_batches():
            pairs += batch.num_rows
            clusters.update(batch["cluster"].to_pylist())
            for which in ("first", "second"):
                columns = (batch[f"{which}_{name}"].to_pylist() for name in NAMES)
                for data_set, identity, split in zip(*columns, strict=True):
                    alike[data_set, split].add(identity)
    documents = {(row["data_set"], row["split"]): int(row["documents"]) for row in _counts(output)}
    counts = {key: (number, len(alike[key])) for key, number in documents.items()}
    return counts, pairs, len(clusters)


def _counts(output: str) -> Iterator[dict[str, str]]:
    for path in pathlib.Path(output).glob(f"{DOCUMENTS}-*.tsv"):
        with path.open(encoding="utf-8", newline="") as lines:
            yield from csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
