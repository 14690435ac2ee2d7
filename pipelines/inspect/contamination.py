"""Evaluation sets and training data: which items are in it, how much of each, and where.

The report has a line of JSON for each item that training data has something of:

    set, split, id, text    the item
    words                   of it
    ngrams, ngrams_found    how many n-grams it has, and how many of these occur in training documents
    longest                 words of the longest stretch that a document has in common with it
    documents, whole        how many documents have some of it, and all of it in one stretch
    passages                of the documents that have most: file, document, words, ngrams, start, text and
                            matches: [start, end in the item's text, start, end in the passage]

Places are characters of the texts in NFC.
"""

import contextlib
import json
import posixpath
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import AsDict, AsSingleton
from rich.console import Console
from rich.table import Table

from pipelines.builds.editions import SUMMARY
from pipelines.engines.run_pipeline import run_pipeline
from pipelines.inspect.contamination_page import make_page
from pipelines.inspect.findings import Means, add_report, reporting, write_lines
from pipelines.inspect.text_sources import find_evaluation_sets, find_training_files
from pipelines.settings.contamination_settings import Search
from transforms.duplicates.find_contamination import (
    FOUND,
    FindContamination,
    read_found,
    save_index,
    write_found,
)
from transforms.duplicates.read_evaluation_sets import (
    EvaluationItems,
    Item,
    read_evaluation_sets,
)
from transforms.files.open_input import InputError, open_raw
from transforms.text.builds.build_manifest import to_json
from transforms.text.duplicates.contamination_evidence import Found, count, count_ngrams
from transforms.text.duplicates.folded_words import fold_text, normalize

LONG_WORDS = 13
"""Of the rule of GPT-3 (Brown et al. 2020, appendix C)."""
MOST = 0.7
"""Of the n-grams of an item: the rule of PaLM (Chowdhery et al. 2022, section 8)."""

_COLUMNS = 80
_SHOWN = 5
_SHOWN_WORDS = 12
_MB = 1e6


class SplitCounts(NamedTuple):
    """Items of a split of an evaluation set."""

    items: int = 0
    touched: int = 0  # the training data has an n-gram of it; or all of a short one, as a line
    long: int = 0  # LONG_WORDS words in a row
    most: int = 0  # MOST of the n-grams
    whole: int = 0  # all words in a row in one document


class Contamination(NamedTuple):
    """The parts of evaluation sets that occur in training data."""

    splits: Mapping[tuple[str, str], SplitCounts]  # (set, split), in the order of the sets
    train: Mapping[str, int]  # documents, words and bytes that were read, and "rejected/reason"
    rejected: Mapping[str, int]  # "set/reason" → items
    first: Sequence[Mapping[str, Any]]  # rows of the report with the longest stretches

    @property
    def total(self) -> SplitCounts:
        """All sets together."""
        return SplitCounts(*map(sum, zip(SplitCounts(), *self.splits.values(), strict=True)))

    @property
    def is_clean(self) -> bool:
        """True if no item is whole in the training data, or in a stretch of LONG_WORDS words."""
        return not (self.total.long or self.total.whole)


def find_contamination(search: Search, **means: Unpack[Means]) -> Contamination:
    """Looks for the items of evaluation sets in training data.

    Args:
      means: the report takes a line for each item of which something was found, and beside it
        `<report>.json` the counts.

    Raises InputError for inputs that are not there or damaged, ValueError for columns that are not there and
    for sets without items.
    """
    files = find_training_files(search.train, search.train_id, search.whole_files)
    sets = find_evaluation_sets(search.evaluation, search.evaluation_id)
    with reporting(**means) as (engine, report), _work_folder(report, means) as folder:
        known = read_evaluation_sets(sets, search.ngram_words)
        if not known.items:
            raise InputError(", ".join(search.evaluation), "there are no items with words")
        save_index(known.known, folder)
        path = posixpath.join(folder, FOUND)
        workers = means.get("workers") or 1

        def build(root: beam.Pipeline) -> None:
            search_all = FindContamination(files, folder, search.passages, workers)
            searched = root | "FindContamination" >> search_all
            outputs = AsDict(searched.found), AsSingleton(searched.counts)
            add_report(root, path, _write_found, *outputs)

        run_pipeline(build, engine)
        counts, found = read_found(path)
        contamination = _write_report(report, known, found, counts)
        if search.page:
            with open_raw(report) as stream:
                lines = stream.read().decode("utf-8").split("\n")[:-1]
            write_lines(search.page, make_page(summarise(contamination), lines))
        return contamination


@contextlib.contextmanager
def _work_folder(report: str, means: Means) -> Iterator[str]:
    """A folder that all workers reach, for as long as they work."""
    if not means.get("report"):
        with tempfile.TemporaryDirectory(prefix="corpusmill-contamination-") as folder:
            yield folder
        return
    folder = f"{report}.working"
    _remove(folder)  # that of a run that was killed
    try:
        yield folder
    finally:
        _remove(folder)


def _remove(folder: str) -> None:
    if FileSystems.exists(folder):
        FileSystems.delete([folder])


def _write_found(path: str, found: Mapping[int, Found], counts: dict[str, int]) -> None:
    write_found(path, found.items(), counts)


def _write_report(
    report: str, known: EvaluationItems, found: Mapping[int, Found], counts: Mapping[str, int]
) -> Contamination:
    rows = list(make_rows(known, found))
    write_lines(report, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    contamination = Contamination(
        count_items(known.items, rows),
        counts,
        known.rejected,
        sorted(rows, key=lambda row: (-row["longest"], -row["documents"]))[:_SHOWN],
    )
    write_lines(report + SUMMARY, [to_json(summarise(contamination))])
    return contamination


def make_rows(known: EvaluationItems, found: Mapping[int, Found]) -> Iterator[dict[str, Any]]:
    """The rows of the report, in the order of the items."""
    for item in known.items:
        if item.number in found:
            yield _make_row(item, found[item.number], known)


def _make_row(item: Item, found: Found, known: EvaluationItems) -> dict[str, Any]:
    words = known.known.count_words(item.number)
    text = normalize(item.text)
    spans = fold_text(text).spans()
    passages = [
        {
            "file": passage.place.file,
            "document": passage.place.id,
            "words": passage.words,
            "ngrams": passage.ngrams,
            "start": passage.start,
            "text": passage.text,
            "matches": [
                [spans[one.word][0], spans[one.word + one.words - 1][1], one.start, one.end]
                for one in passage.matches
            ],
        }
        for passage in found.passages
    ]
    return {
        "set": item.set,
        "split": item.split,
        "id": item.id,
        "text": text,
        "words": words,
        "ngrams": count_ngrams(words, known.known.n),
        "ngrams_found": count(found.ngrams),
        "longest": found.words,
        "documents": found.documents,
        "whole": found.whole,
        "passages": passages,
    }


def count_items(
    items: Sequence[Item], rows: Iterable[Mapping[str, Any]]
) -> dict[tuple[str, str], SplitCounts]:
    """(set, split) → its counts."""
    counts = {
        key: [number, 0, 0, 0, 0]
        for key, number in Counter((i.set, i.split) for i in items).items()
    }
    for row in rows:
        facts = (
            True,
            row["longest"] >= LONG_WORDS,
            row["ngrams_found"] >= MOST * row["ngrams"],
            row["whole"] > 0,
        )
        of_split = counts[row["set"], row["split"]]
        for place, is_so in enumerate(facts, 1):
            of_split[place] += is_so
    return {key: SplitCounts(*numbers) for key, numbers in counts.items()}


def summarise(found: Contamination) -> dict[str, Any]:
    """The counts, as JSON has them."""
    return {
        "sets": [
            {"set": name, "split": split, **counts._asdict()}
            for (name, split), counts in found.splits.items()
        ],
        "total": found.total._asdict(),
        "train": dict(found.train),
        "rejected": dict(found.rejected),
        "is_clean": found.is_clean,
    }


def print_contamination(found: Contamination, ngram_words: int, report: str = "") -> None:
    """The tables, for a person."""
    console = Console(width=_COLUMNS, highlight=False, markup=False)
    train = found.train
    rejected = {name: number for name, number in train.items() if name.startswith("rejected/")}
    console.print(
        f"training data: {train.get('documents', 0):,} documents, {train.get('words', 0):,} words,"
        f" {train.get('bytes', 0) / _MB:,.1f} MB"
        + "".join(f"; {number:,} {name}" for name, number in rejected.items())
    )
    for name, number in found.rejected.items():
        console.print(f"items left out: {number:,} {name}")
    table = Table()
    table.add_column("set, split", overflow="fold")
    for name in (
        "items",
        f"{ngram_words} words",
        f"{LONG_WORDS} words",
        f"{MOST:.0%} found",
        "whole",
    ):
        table.add_column(name, justify="right", no_wrap=True)
    shown = [*found.splits.items()]
    for (name, split), counts in shown:
        table.add_row(" ".join(filter(None, (name, split))), *(f"{one:,}" for one in counts))
    if len(shown) > 1:
        table.add_row("total", *(f"{one:,}" for one in found.total))
    console.print(table)
    for row in found.first:
        _print_row(console, row)
    if found.total.touched > len(found.first):
        rest = f"all are in {report}" if report else "--report FILE lists all"
        console.print(f"… and {found.total.touched - len(found.first):,} more; {rest}")


def _print_row(console: Console, row: Mapping[str, Any]) -> None:
    passage = row["passages"][0]
    words = row["text"].split()
    text = " ".join(words[:_SHOWN_WORDS]) + (" …" if len(words) > _SHOWN_WORDS else "")
    where = f"{posixpath.basename(passage['file'])} {passage['document']}".strip()
    of_set = row["split"] or row["set"]
    console.print(f"{row['longest']} of {row['words']} words in a row: {of_set} {row['id']}")
    console.print(f"  {text}\n  documents: {row['documents']:,}; {where}")
