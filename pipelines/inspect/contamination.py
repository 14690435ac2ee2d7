"""Finds the items of evaluation sets that occur in training data, with the passages.

The report, found.jsonl, has a line for each item with at least one match in the training data:

    set, split, id, text    the item
    words                   number of words of the item
    ngrams, ngrams_found    number of n-grams in the item, and how many of them occur in the training data
    longest                 number of words in the longest sequence that the item shares with a document
    too_short               whether the item has so few words that a match says nothing
    documents               number of documents that contain a part of the item
    long                    number of documents with 13 words of the item in a row
    whole                   number of documents that contain all words of the item in a row
    passages                the passages that share most with the item

A passage has these fields:

    file, document          file and id of the document
    words                   number of words in the longest match
    ngrams                  number of n-grams that the document shares with the item
    start, text             position of the passage in the document, and the text of the passage
    matches                 lists of four positions: start and end of a match in the text of the item, and
                            start and end in the text of the passage

Positions are counted in characters, after the text is normalised to NFC.
"""

import functools
import heapq
import json
import os
import posixpath
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import msgspec
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import AsDict, AsSingleton
from rich.console import Console

from corpusmill.transforms.duplicates import evaluation_index
from corpusmill.transforms.duplicates.contamination_evidence import Found, count, count_ngrams
from corpusmill.transforms.duplicates.evaluation_index import LONG_WORDS, EvaluationIndex
from corpusmill.transforms.duplicates.find_contamination import (
    HITS,
    EvaluationItems,
    FindContamination,
    Item,
    load_index,
    read_evaluation_sets,
    save_index,
)
from corpusmill.transforms.duplicates.folded_words import fold_text
from corpusmill.transforms.duplicates.read_texts import TextFile, check_most
from corpusmill.transforms.files.builds.finished_builds import read_json
from corpusmill.transforms.files.builds.ledger import Accounts, Ledger
from corpusmill.transforms.files.builds.manifest import Provenance, Release
from corpusmill.transforms.files.errors import IN_PROCESS
from corpusmill.transforms.files.markup import make_table
from corpusmill.transforms.files.read_files import InputError, open_raw, read_raw
from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.files.scratch import SCRATCH
from corpusmill.transforms.files.terminal import draw, escape_line, new_console
from corpusmill.transforms.files.write_files import write_file
from corpusmill.transforms.files.write_rows import WriteRecords

from ..run.engines.engine import Engine
from ..run.engines.run_pipeline import find_engine, run_pipeline
from .contamination_page import make_page
from .findings import FoundFolder, new_folder
from .inspect_commands import Search
from .text_sources import find_evaluation_sets, find_training_files

RELEASE = Release(
    "contamination",
    "1.1.0",
    {
        "1.0.0": "First.",
        "1.1.0": "Items with fewer than 8 words of two letters are counted as too short to tell, and are"
        " never hits. Matches of 13 words and of whole items are found for any --ngram-words. Rows that are"
        " not Unicode are rejected.",
    },
)
REPORT, PAGE, HIT_FILES, STATS = "found.jsonl", "found.html", "hits", "stats.json"
MOST = 0.7
"""Items are counted in `most` if at least this share of their n-grams occurs in the training data.

The value is that of PaLM (Chowdhery et al. 2022, section 8).
"""

_COLUMNS = 80
_SHOWN = 5
_SHOWN_WORDS = 12
_MB = 1e6
_ITEMS = "items.json"


class SplitCounts(NamedTuple):
    """The numbers of items in a split of an evaluation set: all items, and items found in training data."""

    items: int = 0
    # of the items that are not too short: those that share an n-gram with training data, or are a part of it
    touched: int = 0
    long: int = 0  # items that share LONG_WORDS words in a row with training data
    most: int = 0  # items that share at least MOST of their n-grams with training data
    whole: int = 0  # items whose words are all in one document, in a row
    too_short: int = 0  # items with so few words that a match says nothing, see EVIDENCE_WORDS


class Contamination(NamedTuple):
    """The results of a search for the items of evaluation sets in training data."""

    splits: Mapping[tuple[str, str], SplitCounts]  # (set, split), in the order of the sets
    train: Mapping[str, int]  # counts of documents, words and bytes, and "rejected/reason"
    rejected: Mapping[str, int]  # "set/reason" → items
    first: Sequence[Mapping[str, Any]]  # rows of the report with the longest matches

    @property
    def total(self) -> SplitCounts:
        """The sums of the counts over all evaluation sets."""
        return SplitCounts(*map(sum, zip(SplitCounts(), *self.splits.values(), strict=True)))

    @property
    def is_clean(self) -> bool:
        """True if no item is in the training data as a whole, or with LONG_WORDS consecutive words.

        It says nothing about the items that are too short.
        """
        return not (self.total.long or self.total.whole)


def find_contamination(
    search: Search,
    output: str = "",
    *,
    runner: str = IN_PROCESS,
    workers: int | None = None,
    beam_flags: Sequence[str] = (),
) -> Contamination:
    """Searches training data for the items of evaluation sets.

    Args:
      search: The data sets and the settings of the search.
      output: A folder for the findings, on a disk that all workers share. It must be new, or contain the
        finished results of the same search. If "", no files are kept.
      runner, workers, beam_flags: As in `launch`.

    Raises InputError for missing or damaged inputs, or if all items of an evaluation set are too short;
    TargetError if `output` contains other files; ValueError if a column is missing, if two evaluation sets
    have the same name, or if `output` is "" and `runner` is not the in-process runner.
    """
    workers = workers or os.cpu_count() or 1
    engine = find_engine(runner, workers, beam_flags)
    if not output and runner != IN_PROCESS:
        raise ValueError(
            f"--runner {runner} needs --output, on a file system that its workers share"
        )
    files = find_training_files(search.train, search.train_id, search.whole_files)
    sets = find_evaluation_sets(search.eval, search.eval_id)
    settings = {"ngram_words": search.ngram_words, "passages": search.passages}
    named = [("training data", files), *((one.name, one.files) for one in sets)]
    build = FoundFolder(RELEASE, "Evaluation items in training data", settings, named)
    if output and build.is_finished(output):
        return _read_found(output)
    known = read_evaluation_sets(sets, search.ngram_words)
    check_items(known)
    find = functools.partial(_search, search, files, known, build, engine, workers)
    if not output:
        with tempfile.TemporaryDirectory(prefix="corpusmill-contamination-") as folder:
            find(folder)
            return _read_found(folder)
    with new_folder(output) as folder:
        find(folder)
    return _read_found(output)


def check_items(known: EvaluationItems) -> None:
    """Raises InputError if an evaluation set has only items that are too short to be searched."""
    items = Counter(item.set for item in known.items)
    short = Counter(item.set for item in known.items if known.known.is_too_short(item.number))
    for name, number in short.items():
        if number == items[name]:
            raise InputError(
                name,
                f"all {number:,} items are too short to tell if they are in the training data: none has"
                f" {evaluation_index.EVIDENCE_WORDS} words of two letters",
            )


def _search(
    search: Search,
    files: Sequence[TextFile],
    known: EvaluationItems,
    build: FoundFolder,
    engine: Engine,
    workers: int,
    folder: str,
) -> None:
    index = FileSystems.join(folder, SCRATCH, "index")
    # The first item with each text. Items are in the order of the numbers of their texts.
    first: dict[int, tuple[str, str, str]] = {}
    for item in known.items:
        first.setdefault(item.number, (item.set, item.split, item.id))
    save_index(known.known, list(first.values()), index)
    with FileSystems.create(FileSystems.join(index, _ITEMS)) as stream:
        stream.write(msgspec.json.encode(known.items))

    def add(root: beam.Pipeline) -> None:
        find = FindContamination(files, index, search.passages, workers)
        found, counts, hits = root | "FindContamination" >> find
        written = (
            root
            | "Once" >> beam.Create([folder])
            | "WriteFound"
            >> beam.FlatMap(
                write_found, index, known.rejected, AsDict(found), AsSingleton(counts)
            ).with_outputs("summary", main="files")
        )
        write = WriteRecords(folder, HIT_FILES, HITS, lambda row: f"{row[0]} {row[1]}", tuple)
        build.close_ledger(
            folder,
            build.open_ledger(root),
            account_for_contamination,
            outputs=[written.files, hits | "WriteHits" >> write],
            summary=written.summary,
        )

    run_pipeline(add, engine)


def write_found(
    folder: str,
    index: str,
    rejected: Mapping[str, int],
    found: Mapping[int, Found],
    counts: Mapping[str, int],
) -> Iterator[OutputFile | beam.pvalue.TaggedOutput]:
    """Writes the report and the HTML page to `folder`.

    Yields an OutputFile for the report and one for the page. The last element has the tag "summary" and
    contains the counts of the search, see `summarise`.

    Args:
      index: The folder in which the evaluation texts were saved.
      rejected: "set/reason" → number of rejected items.
      found: `Item.number` → where the text of the item occurs in the training data.
      counts: "documents", "words", "bytes" or "rejected/reason" → its number in the training data.
    """
    items = msgspec.json.decode(read_raw(posixpath.join(index, _ITEMS)), type=list[Item])
    rows = list(make_rows(items, load_index(index), found))
    splits = count_items(items, rows, load_index(index))
    summary = summarise(Contamination(splits, counts, rejected, ()))
    parts = {
        REPORT: (json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
        PAGE: make_page(summary, rows),
    }
    for name, texts in parts.items():
        kind = posixpath.splitext(name)[1].lstrip(".")
        content = (text.encode("utf-8") for text in texts)
        yield write_file(folder, name, content, kind, len(rows) if name == REPORT else 0)
    yield beam.pvalue.TaggedOutput("summary", summary)


def account_for_contamination(ledger: Ledger, _: Provenance) -> Accounts:
    """Returns the counts for the manifest, the contents of stats.json and the table of the card.

    Args:
      ledger: The results of all steps of the search. Its entry "summary" is made by `summarise`.
    """
    summary = ledger.one("summary")
    rejected = {name: number for name, number in summary["train"].items() if "/" in name}
    check_most("training data", summary["train"].get("documents", 0), rejected)
    train = {name: number for name, number in summary["train"].items() if name != "bytes"}
    counts = {"items": summary["total"]["items"], "training": train}
    rows = [list(one.values()) for one in summary["sets"]]
    heads = [
        "set",
        "split",
        "items",
        "touched",
        f"{LONG_WORDS} words",
        f"{MOST:.0%} found",
        "whole",
    ]
    return Accounts(counts, summary, make_table([*heads, "too short"], rows))


def _read_found(folder: str) -> Contamination:
    stats = read_json(folder, STATS)
    splits = {
        (one["set"], one["split"]): SplitCounts(*(one[name] for name in SplitCounts._fields))
        for one in stats["sets"]
    }
    with open_raw(FileSystems.join(folder, REPORT)) as lines:
        rows = (row for row in map(json.loads, lines) if not row["too_short"])
        first = heapq.nsmallest(_SHOWN, rows, key=lambda row: (-row["longest"], -row["documents"]))
    return Contamination(splits, stats["train"], stats["rejected"], first)


def make_rows(
    items: Iterable[Item], index: EvaluationIndex, found: Mapping[int, Found]
) -> Iterator[dict[str, Any]]:
    """Yields a row of the report for each item that was found, in the order of `items`.

    Args:
      items: All items of the evaluation sets.
      index: The n-grams of these items.
      found: `Item.number` → where the text of the item occurs in the training data.
    """
    for item in items:
        if item.number in found:
            yield _make_row(item, found[item.number], index)


def _make_row(item: Item, found: Found, index: EvaluationIndex) -> dict[str, Any]:
    words = index.count_words(item.number)
    folded = fold_text(item.text)
    spans = folded.spans()
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
        "text": folded.text,
        "words": words,
        "too_short": index.is_too_short(item.number),
        "ngrams": count_ngrams(words, index.n),
        "ngrams_found": count(found.ngrams),
        "longest": found.words,
        "documents": found.documents,
        "whole": found.whole,
        "long": found.long,
        "passages": passages,
    }


def count_items(
    items: Sequence[Item], rows: Iterable[Mapping[str, Any]], index: EvaluationIndex
) -> dict[tuple[str, str], SplitCounts]:
    """Returns the counts of items; the keys are pairs (set, split). `rows` are the rows of the report."""
    counts = {
        key: [number, 0, 0, 0, 0, 0]
        for key, number in Counter((i.set, i.split) for i in items).items()
    }
    for item in items:
        counts[item.set, item.split][-1] += index.is_too_short(item.number)
    for row in rows:
        facts = (
            row["ngrams_found"] > 0,
            row["long"] > 0,
            row["ngrams_found"] >= MOST * row["ngrams"],
            row["whole"] > 0,
        )
        of_split = counts[row["set"], row["split"]]
        for place, is_so in enumerate(facts, 1):
            of_split[place] += is_so and not row["too_short"]
    return {key: SplitCounts(*numbers) for key, numbers in counts.items()}


def summarise(found: Contamination) -> dict[str, Any]:
    """Returns the counts in `found`, for each split and in total, as a dictionary for JSON."""
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


def print_contamination(found: Contamination, ngram_words: int, output: str = "") -> None:
    """Prints the counts of items in each split, and the items with the longest matches.

    Args:
      found: The results of the search.
      ngram_words: The number of words in an n-gram; it is displayed in a column heading.
      output: The output folder of the search; "" if the results are not kept.
    """
    console = new_console(width=_COLUMNS)
    train = found.train
    rejected = {name: number for name, number in train.items() if name.startswith("rejected/")}
    console.print(
        f"training data: {train.get('documents', 0):,} documents, {train.get('words', 0):,} words,"
        f" {train.get('bytes', 0) / _MB:,.1f} MB"
        + "".join(f"; {number:,} {name}" for name, number in rejected.items())
    )
    for name, number in found.rejected.items():
        console.print(f"items left out: {number:,} {name}")
    names = ("items", f"{ngram_words} words", f"{LONG_WORDS} words", f"{MOST:.0%} found", "whole")
    rows = [
        (escape_line(" ".join(filter(None, key))), *(f"{one:,}" for one in counts))
        for key, counts in found.splits.items()
    ]
    table = draw(
        ("set, split", *names, "too short"),
        rows,
        numbers=len(SplitCounts._fields),
        total=("total", *(f"{one:,}" for one in found.total)) if len(rows) > 1 else (),
        width=_COLUMNS,
    )
    console.print(table, end="", soft_wrap=True)
    for row in found.first:
        _print_row(console, row)
    if found.total.touched > len(found.first):
        rest = f"all are in {output}/{PAGE}" if output else "--output DIR lists all"
        console.print(f"… and {found.total.touched - len(found.first):,} more; {rest}")


def _print_row(console: Console, row: Mapping[str, Any]) -> None:
    passage = row["passages"][0]
    words = row["text"].split()
    text = " ".join(words[:_SHOWN_WORDS]) + (" …" if len(words) > _SHOWN_WORDS else "")
    where = f"{posixpath.basename(passage['file'])} {passage['document']}".strip()
    of_set = row["split"] or row["set"]
    item = escape_line(f"{of_set} {row['id']}")
    console.print(f"{row['longest']} of {row['words']} words in a row: {item}")
    console.print(f"  {text}\n  documents: {row['documents']:,}; {escape_line(where)}")
