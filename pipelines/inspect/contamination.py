"""Finds the items of evaluation sets that occur in training data, with the passages.

The report, found.jsonl, has a line for each item with at least one match in the training data:

    set, split, id, text    the item
    tier                    the first of "copied", "partly" and "common" that a passage has
    words                   number of words of the item
    words_found             number of its words that are in a match of 8 words with any document
    longest                 number of words in the longest sequence that the item shares with a document
    documents               number of documents that contain a part of the item
    copied, partly, common  number of documents for which this is the first tier of their passages
    long                    number of documents with 13 words of the item in a row
    whole                   number of documents that contain all words of the item in a row
    passages                the passages that share most with the item

A passage has these fields:

    file, document          file and id of the document
    tier                    whether the item was copied (see `rate`)
    found, share            number and share of the words of the item that the passage has
    missing                 number of words in the longest part of the item that it does not have
    documents               number of documents that have the rarest words that it has
    words                   number of words in the longest match
    answer                  "yes" or "no": whether a right answer follows; "" if it is not known
    start, text             position of the passage in the document, and the text of the passage
    matches                 lists of four positions: start and end of a match in the text of the item, and
                            start and end in the text of the passage

Positions are counted in characters, after the text is normalised to NFC.
"""

import functools
import heapq
import itertools
import json
import os
import posixpath
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import msgspec
import numpy
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import AsDict, AsSingleton
from rich.console import Console

from corpusmill.transforms.duplicates import evaluation_index
from corpusmill.transforms.duplicates.contamination_evidence import (
    COMMON,
    TIERS,
    Found,
    count_found,
    rate,
)
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
from corpusmill.transforms.duplicates.read_texts import NO_FIELD, TextFile, check_most
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
    "1.3.0",
    {
        "1.0.0": "First.",
        "1.1.0": "Items with fewer than 8 words of two letters are counted as too short to tell, and are"
        " never hits. Matches of 13 words and of whole items are found for any --ngram-words. Rows that are"
        " not Unicode are rejected.",
        "1.2.0": "Hits have a tier: copied, partly or common. Items with some words changed are hits. Items"
        " that are too short are not searched. In scripts without spaces, matches are measured in letters."
        " HTML entities, vowel signs, tatweel and the dots of i are folded.",
        "1.3.0": "x^{2} and x<sup>2</sup> are folded like x^2. Rows that lack the field of the text are"
        " counted apart, as no-field. The counts `most` and `whole` of stats.json are no more.",
    },
)
MANY_TEXTS = 0.1
REPORT, PAGE, HIT_FILES, STATS = "found.jsonl", "found.html", "hits", "stats.json"
_COLUMNS = 80
_SHOWN = 5
_SHOWN_WORDS = 12
_MB = 1e6
_ITEMS = "items.json"


class SplitCounts(NamedTuple):
    """The numbers of items in a split of an evaluation set: all items, and items found in training data."""

    items: int = 0
    copied: int = 0  # items of which a document has a copy, see `rate`
    partly: int = 0  # items of which a document has a part, and none a copy
    common: int = 0  # items of which documents have only text that is in many documents
    long: int = 0  # items that share LONG_WORDS words in a row with training data
    too_short: int = 0  # items with so few words that they cannot be searched, see EVIDENCE_WORDS


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
        """True if no item was copied, nor a part of one. It says nothing about items that are too short."""
        return not self.total.copied and not self.total.partly


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
    is_short = _find_too_short(known.items, known.known)
    short = Counter(item.set for item in itertools.compress(known.items, is_short))
    for name, number in short.items():
        if number == items[name]:
            raise InputError(
                name,
                f"all {number:,} items are too short to tell if they are in the training data: none has"
                f" {evaluation_index.EVIDENCE_WORDS} words of two letters",
            )


def _find_too_short(items: Sequence[Item], index: EvaluationIndex) -> list[bool]:
    short: list[bool] = index.are_too_short(
        numpy.array([item.number for item in items], int)
    ).tolist()
    return short


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
    first: dict[int, tuple[str, ...]] = {}
    for item in known.items:
        first.setdefault(item.number, (item.set, item.split, item.id, item.part, item.answer))
    save_index(known.known, list(first.values()), index)
    with FileSystems.create(FileSystems.join(index, _ITEMS)) as stream:
        stream.write(msgspec.json.encode(known.items))

    def add(root: beam.Pipeline) -> None:
        find = FindContamination(files, index, search.passages, workers)
        found, counts, hits, tiers = root | "FindContamination" >> find
        written = (
            root
            | "Once" >> beam.Create([folder])
            | "WriteFound"
            >> beam.FlatMap(
                write_found,
                index,
                known.rejected,
                AsDict(found),
                AsSingleton(counts),
                AsDict(tiers),
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
    tiers: Mapping[tuple[int, str], int],
) -> Iterator[OutputFile | beam.pvalue.TaggedOutput]:
    """Writes the report and the HTML page to `folder`.

    Yields an OutputFile for the report and one for the page. The last element has the tag "summary" and
    contains the counts of the search, see `summarise`.

    Args:
      index: The folder in which the evaluation texts were saved.
      rejected: "set/reason" → number of rejected items.
      found: `Item.number` → where the text of the item occurs in the training data.
      counts: "documents", "words", "bytes" or "rejected/reason" → its number in the training data.
      tiers: (`Item.number`, tier) → number of documents for which this is the first tier of their hits.
    """
    items = msgspec.json.decode(read_raw(posixpath.join(index, _ITEMS)), type=list[Item])
    rows = list(make_rows(items, load_index(index), found, counts["documents"], tiers))
    splits = count_items(items, rows, load_index(index))
    summary = summarise(Contamination(splits, counts, rejected, ()))
    parts = {
        REPORT: (json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
        PAGE: make_page(summary, rows, notes_on_fields(summary)),
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
    heads = ["set", "split", "items", *TIERS, f"{LONG_WORDS} words", "too short"]
    return Accounts(counts, summary, make_table(heads, rows), caveats=notes_on_fields(summary))


def notes_on_fields(summary: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns a sentence for the training data, and for each set, that lacks MANY_TEXTS of its texts.

    These are texts of rows without the field that should have them. `summary` is made by `summarise`.
    """
    train, rejected = summary["train"], summary["rejected"]
    counts = {"training data": (train.get(f"rejected/{NO_FIELD}", 0), train.get("documents", 0))}
    for one in summary["sets"]:
        _, items = counts.get(one["set"], (0, 0))
        counts[one["set"]] = rejected.get(f"{one['set']}/{NO_FIELD}", 0), items + one["items"]
    return tuple(
        f"{lost:,} of {lost + read:,} texts of {name} are missing, because their rows lack the field: the"
        " results say nothing about these rows; name the field that they have, as in FILE#COLUMN"
        for name, (lost, read) in counts.items()
        if lost > MANY_TEXTS * (lost + read)
    )


def _read_found(folder: str) -> Contamination:
    stats = read_json(folder, STATS)
    splits = {
        (one["set"], one["split"]): SplitCounts(*(one[name] for name in SplitCounts._fields))
        for one in stats["sets"]
    }
    with open_raw(FileSystems.join(folder, REPORT)) as lines:
        first = heapq.nsmallest(_SHOWN, map(json.loads, lines), key=order_rows)
    return Contamination(splits, stats["train"], stats["rejected"], first)


def order_rows(row: Mapping[str, Any]) -> tuple[int, int, int]:
    """Returns the sort key of a row of the report. Copied items come first."""
    return TIERS.index(row["tier"]), -row["longest"], -row["documents"]


def make_rows(
    items: Iterable[Item],
    index: EvaluationIndex,
    found: Mapping[int, Found],
    documents: int,
    tiers: Mapping[tuple[int, str], int],
) -> Iterator[dict[str, Any]]:
    """Yields a row of the report for each item that was found, in the order of `items`.

    Args:
      items: All items of the evaluation sets.
      index: The n-grams of these items.
      found: `Item.number` → where the text of the item occurs in the training data.
      documents: Number of all training documents.
      tiers: (`Item.number`, tier) → number of documents for which this is the first tier of their hits.
    """
    for item in items:
        if item.number in found:
            of_tiers = {tier: tiers.get((item.number, tier), 0) for tier in TIERS}
            # Documents without a hit share only a phrase with the item.
            of_tiers[COMMON] += found[item.number].documents - sum(of_tiers.values())
            yield _make_row(item, found[item.number], index, documents, of_tiers)


def _make_row(
    item: Item,
    found: Found,
    index: EvaluationIndex,
    documents: int,
    of_tiers: Mapping[str, int],
) -> dict[str, Any]:
    folded = fold_text(item.text)
    spans = folded.spans()
    passages = []
    for passage in found.passages:
        (file, document), stretches, *facts, matches = passage
        rating = rate(index, item.number, stretches, found.steps, documents, passage.answer)
        row = {"file": file, "document": document, **rating._asdict()}
        row |= dict(zip(("words", "answer", "start", "text"), facts, strict=True))
        row["matches"] = [
            [spans[one.word][0], spans[one.word + one.words - 1][1], one.start, one.end]
            for one in matches
        ]
        passages.append(row)
    return {
        "set": item.set,
        "split": item.split,
        "id": item.id,
        "text": folded.text,
        "tier": next(tier for tier, number in of_tiers.items() if number),
        "words": len(spans),
        "words_found": count_found(found.steps),
        "longest": found.words,
        "documents": found.documents,
        **of_tiers,
        "whole": found.whole,
        "long": found.long,
        "passages": passages,
    }


def count_items(
    items: Sequence[Item], rows: Iterable[Mapping[str, Any]], index: EvaluationIndex
) -> dict[tuple[str, str], SplitCounts]:
    """Returns the counts of items; the keys are pairs (set, split). `rows` are the rows of the report."""
    counts = {
        key: {**SplitCounts()._asdict(), "items": number}
        for key, number in Counter((i.set, i.split) for i in items).items()
    }
    for item in itertools.compress(items, _find_too_short(items, index)):
        counts[item.set, item.split]["too_short"] += 1
    for row in rows:
        of_split = counts[row["set"], row["split"]]
        of_split[row["tier"]] += 1
        of_split["long"] += row["long"] > 0
    return {key: SplitCounts(**numbers) for key, numbers in counts.items()}


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


def print_contamination(found: Contamination, output: str = "") -> None:
    """Prints the counts of items in each split, and the items with the longest matches.

    Args:
      found: The results of the search.
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
    for note in notes_on_fields(summarise(found)):
        console.print(escape_line(note))
    heads = {"items": "items", **dict(zip(TIERS, TIERS, strict=True))}
    heads |= {"long": f"{LONG_WORDS} words", "too_short": "too short"}  # more would be too wide
    counted = [("total", found.total)] if len(found.splits) > 1 else []
    counted = [(" ".join(filter(None, key)), one) for key, one in found.splits.items()] + counted
    rows = [
        (escape_line(name), *(f"{getattr(counts, head):,}" for head in heads))
        for name, counts in counted
    ]
    table = draw(
        ("set, split", *heads.values()),
        rows[: len(found.splits)],
        numbers=len(heads),
        total=rows[len(found.splits)] if len(rows) > 1 else (),
        width=_COLUMNS,
    )
    console.print(table, end="", soft_wrap=True)
    if found.total.too_short:
        console.print(
            f"items that cannot be searched (fewer than {evaluation_index.EVIDENCE_WORDS} words of two"
            f" letters): {found.total.too_short:,}"
        )
    for row in found.first:
        _print_row(console, row)
    rest = sum(found.total[1:4]) - len(found.first)
    if rest > 0:
        where = f"all are in {output}/{PAGE}" if output else "--output DIR lists all"
        console.print(f"… and {rest:,} more; {where}")


def _print_row(console: Console, row: Mapping[str, Any]) -> None:
    passage = row["passages"][0]
    words = row["text"].split()
    text = " ".join(words[:_SHOWN_WORDS]) + (" …" if len(words) > _SHOWN_WORDS else "")
    where = f"{posixpath.basename(passage['file'])} {passage['document']}".strip()
    of_set = row["split"] or row["set"]
    item = escape_line(f"{of_set} {row['id']}")
    console.print(
        f"{row['tier']}: {passage['share']:.0%} of {row['words']} words, {row['longest']} in a row: {item}"
    )
    console.print(f"  {text}\n  documents: {row['documents']:,}; {escape_line(where)}")
