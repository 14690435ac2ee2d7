"""Searches data sets for near-duplicate documents, and prints how many there are."""

import os
from collections.abc import Sequence
from typing import NamedTuple

import apache_beam as beam

from corpusmill.transforms.duplicates.find_overlap import (
    PAIRS,
    FindOverlap,
    SetFile,
    account_for_overlap,
)
from corpusmill.transforms.duplicates.minhash import NGRAM_WORDS, PERMUTATIONS
from corpusmill.transforms.files.builds.finished_builds import read_json
from corpusmill.transforms.files.builds.manifest import Release
from corpusmill.transforms.files.terminal import draw, escape_line, screen_columns

from ..run.engines.run_pipeline import find_engine, run_pipeline
from .findings import FoundFolder, new_folder
from .text_sources import find_data_sets

RELEASE = Release(
    "overlap",
    "1.2.0",
    {
        "1.0.0": "First.",
        "1.1.0": "Texts that are empty, too long or not Unicode are counted as rejected.",
        "1.2.0": "Texts of rows that lack the field are counted apart, as no-field.",
    },
)


class Comparison(NamedTuple):
    """The settings of a search for near-duplicates."""

    data_sets: Sequence[str]  # command-line arguments, see text_sources.py
    others: Sequence[str]  # data sets to compare `data_sets` with; () searches within `data_sets`
    similarity: str
    id_column: str = ""
    with_id: str = ""  # column of ids of `others`; "" if it is the same


def find_overlap(
    comparison: Comparison, output: str, runner: str, workers: int | None, beam_flags: Sequence[str]
) -> None:
    """Writes all pairs of near-duplicate documents to a new folder.

    If the folder already has the results of the same comparison, does nothing.

    Args:
      comparison: What to compare.
      output: The new folder, on a disk that all workers share.
      runner: The name of a Beam runner.
      workers: The number of worker processes; None for one per core.
      beam_flags: Flags for Beam.

    Raises InputError for missing inputs, ValueError for wrong settings, TargetError if the folder contains
    other files, BuildError for damaged inputs.
    """
    workers = workers or os.cpu_count() or 1
    engine = find_engine(runner, workers, beam_flags)
    ids = comparison.id_column, comparison.with_id or comparison.id_column
    sets = [
        (side, one)
        for side, arguments in enumerate((comparison.data_sets, comparison.others))
        for one in find_data_sets(arguments, ids[side])
    ]
    texts = [{file[:3] for at, one in sets if at == side for file in one.files} for side in (0, 1)]
    if twice := sorted(set.intersection(*texts)):
        raise ValueError(
            f"{twice[0][0]} is on both sides, so each of its documents would be a near-duplicate of itself:"
            " leave out --with to search within a data set"
        )
    files = [SetFile(one.name, side, file) for side, one in sets for file in one.files]
    named = [(one.name, one.files) for _, one in sets]
    settings = {
        "first": [one.name for side, one in sets if not side],
        "second": [one.name for side, one in sets if side],
        "similarity": comparison.similarity,
        "minhash": {"permutations": PERMUTATIONS, "ngram_words": NGRAM_WORDS},
    }
    found = FoundFolder(RELEASE, "Near-duplicate documents", settings, named)
    if found.is_finished(output):
        return
    with new_folder(output) as folder:
        across = bool(comparison.others)
        find = FindOverlap(files, folder, comparison.similarity, across=across, workers=workers)
        run_pipeline(lambda root: _add(root, find, found, folder), engine)


def _add(root: beam.Pipeline, find: FindOverlap, found: FoundFolder, folder: str) -> None:
    files, accounts = root | find
    ledger = found.open_ledger(root)
    found.close_ledger(folder, ledger, account_for_overlap, outputs=[files], **accounts)


def print_overlap(output: str, similarity: str) -> None:
    """Prints how many documents of each data set and split are near-duplicates, and how many were left out.

    Args:
      output: The output folder of a finished search.
      similarity: The least similarity of near-duplicates, as given on the command line.
    """
    stats = read_json(output, "stats.json")
    print(f"near-duplicates: 8-grams of words with a similarity of at least {similarity}")
    rows = [
        (
            escape_line(f"{row['data_set']} {row['split']}".rstrip()),
            f"{row['documents']:,}",
            f"{row['near']:,}",
            f"{sum(row['left_out'].values()):,}",
        )
        for row in stats["data_sets"]
    ]
    columns = "data set, split", "documents", "alike", "left out"
    print(draw(columns, rows, numbers=3, width=screen_columns()), end="")
    for reason, number in stats["rejected"].items():
        if reason != "total":
            print(f"documents left out: {number:,} {reason}")
    print(f"{stats['pairs']:,} pairs in {stats['clusters']:,} clusters: {output}/{PAIRS}-*.parquet")
