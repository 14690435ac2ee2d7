"""Measures recall and speed of `corpusmill contamination` on planted items, compared with n-grams.

    CORPUSMILL_DATA=… python -m tests.bench.contamination [--megabytes N]

Inserts 2,000 sentences of real news, in seven ways, into 100,000 passages of real books. Searches for them
and for 10,000 other sentences with `corpusmill contamination` and with the 13-grams of GPT-3 (Brown et al.
2020, appendix C; lower case, no punctuation). Prints the share found of each kind, false alarms, and
core-seconds.
With --megabytes, the passages are repeated up to this size of text, and MB/s of one worker are printed.
"""

import argparse
import gzip
import itertools
import json
import pathlib
import string
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.transforms.duplicates.folded_words import fold_words
from tests.bench import harness
from tests.makers.planted_items import KINDS, LONG_WORDS, SHORT_WORDS, Contaminated, plant_items
from tests.tools.real_data import DATA
from tests.tools.real_gutenberg import read_bodies

DOCUMENTS, PLANTED, ABSENT = 100_000, 2_000, 10_000
DOCUMENT_CHARACTERS = 900
PAPER_WORDS = 13
COMMAND = [*harness.COMMAND, "contamination"]

Pairs = set[tuple[str, int]]
"""(id of an item, number of a document in which something of it was found)."""

_PUNCTUATION = str.maketrans("", "", string.punctuation + "“”‘’–—…")


class Searched(NamedTuple):
    """The result of one way to search."""

    pairs: Pairs
    seconds: float  # of a core


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--planted", type=int, default=PLANTED)
    parser.add_argument("--absent", type=int, default=ABSENT)
    parser.add_argument("--megabytes", type=float, default=0, help="of text, to measure the speed")
    settings = parser.parse_args()
    harness.adopt_orphans()
    print(harness.describe_machine())
    made = plant_items(
        find_texts(), find_documents(settings.documents), settings.planted, settings.absent
    )
    with tempfile.TemporaryDirectory(prefix="corpusmill-bench-") as name:
        folder = pathlib.Path(name)
        write_truth(folder, made)
        ways: dict[str, Callable[[], Searched]] = {
            "corpusmill": lambda: search(folder),
            "GPT-3, 13-grams": lambda: search_as_paper(made),
        }
        print_ways(made, {name: way() for name, way in ways.items()})
        if settings.megabytes:
            print_speed(folder, made.documents, settings.megabytes)


def find_texts() -> list[str]:
    """Sentences of real news, no two of which share eight words in a row, or all words of a short one."""
    seen: set[tuple[str, ...]] = set()
    texts = []
    for path in sorted((DATA / "news").glob("*.gz")):
        for text in gzip.decompress(path.read_bytes()).decode("utf-8", "replace").splitlines():
            words = fold_words(text)
            ngrams = {
                tuple(words[at : at + SHORT_WORDS])
                for at in range(max(len(words) - SHORT_WORDS + 1, 1))
            }
            is_long = len(words) >= LONG_WORDS and len(text.split()) >= LONG_WORDS
            is_short = 2 < len(words) < SHORT_WORDS
            if (is_long or is_short) and not ngrams & seen:
                texts.append(text)
            seen |= ngrams
    return texts


def find_documents(count: int) -> list[str]:
    """Passages of real books."""
    passages = (
        body[start : start + DOCUMENT_CHARACTERS]
        for body in read_bodies().values()
        for start in range(0, len(body), DOCUMENT_CHARACTERS)
    )
    found = list(itertools.islice(filter(str.strip, passages), count))
    if len(found) < count:
        raise ValueError(f"the books have {len(found):,} passages, not {count:,}")
    return found


def write_truth(folder: pathlib.Path, made: Contaminated) -> None:
    """Writes items.jsonl and documents.jsonl."""
    items = ({"id": item.id, "text": item.text} for item in made.items)
    documents = ({"id": str(at), "text": text} for at, text in enumerate(made.documents))
    for name, rows in (("items", items), ("documents", documents)):
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def search(folder: pathlib.Path) -> Searched:
    """By the command."""
    found = folder / "found"
    given = [folder / "documents.jsonl", "--eval", folder / "items.jsonl", "--output", found]
    seconds = run_command("--train", *given, "--passages", 100)
    rows = map(json.loads, (found / "found.jsonl").read_text("utf-8").splitlines())
    return Searched(
        {(row["id"], int(one["document"])) for row in rows for one in row["passages"]}, seconds
    )


def run_command(*given: object) -> float:
    """Core-seconds of `corpusmill contamination`."""
    start = harness.core_seconds()
    command = [*COMMAND, *map(str, given), "--workers", "1"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    harness.bury_orphans()
    if ended.returncode > 1:
        raise RuntimeError(ended.stderr)
    print(ended.stdout)
    return harness.core_seconds() - start


def search_as_paper(made: Contaminated) -> Searched:
    """By 13-grams of words between blanks, in small letters and without punctuation, in plain Python."""
    start = time.process_time()
    items_of: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for item in made.items:
        for ngram in paper_ngrams(item.text):
            items_of[ngram].add(item.id)
    pairs: Pairs = set()
    for number, text in enumerate(made.documents):
        for ngram in paper_ngrams(text):
            if ngram in items_of:
                pairs |= {(item, number) for item in items_of[ngram]}
    return Searched(pairs, time.process_time() - start)


def paper_ngrams(text: str) -> Iterator[tuple[str, ...]]:
    """All n-grams of a text."""
    words = text.lower().translate(_PUNCTUATION).split()
    return zip(*(words[at:] for at in range(PAPER_WORDS)), strict=False)


def print_ways(made: Contaminated, ways: Mapping[str, Searched]) -> None:
    """A row for each way: what was found of each kind, and what was found wrongly."""
    truth = {item.id: item.document for item in made.items}
    planted = {item.document for item in made.items if item.kind}
    of_kind = Counter(item.kind for item in made.items if item.kind)
    size = sum(len(text.encode()) for text in made.documents) / 1e6
    print(f"{len(planted):,} items in {len(made.documents):,} documents, {size:.0f} MB;", end=" ")
    print(f"{len(made.items) - len(planted):,} items in none")
    print_row("", [*KINDS, "precision", "alarms", "documents", "core-s"])
    for name, (pairs, seconds) in ways.items():
        right = {item for item, document in pairs if truth[item] == document}
        kinds = Counter(item.kind for item in made.items if item.id in right)
        alarms = {item for item, _ in pairs if truth[item] < 0}
        dropped = {document for _, document in pairs}
        print_row(
            name,
            [
                *(f"{kinds[kind] / of_kind[kind]:.1%}" for kind in KINDS),
                f"{len(right) / max(len(pairs), 1):.1%}",
                len(alarms),
                len(dropped - planted),
                f"{seconds:.1f}",
            ],
        )
    ours = ways["corpusmill"].pairs
    texts = {item.id: item.text for item in made.items}
    for item, document in sorted(ours):
        if truth[item] != document:
            print(f"  {item} {texts[item][:70]!r}: document {document}")


def print_row(name: str, cells: Iterable[object]) -> None:
    """A row of a table in Markdown."""
    print("|", " | ".join([name, *map(str, cells)]), "|")


def print_speed(folder: pathlib.Path, documents: Sequence[str], megabytes: float) -> None:
    """Writes the documents into Parquet until there is so much text, and measures."""
    size = sum(len(text.encode()) for text in documents) / 1e6
    table = pa.table({"id": [str(at) for at in range(len(documents))], "text": documents})
    written = 0.0
    with pq.ParquetWriter(folder / "many.parquet", table.schema, compression="zstd") as file:
        while written < megabytes:
            file.write_table(table, row_group_size=10_000)
            written += size
    items = folder / "items.jsonl"
    command = [*COMMAND, "--train", str(folder / "many.parquet"), "--eval", str(items)]
    run = harness.build([*command, "--workers", "1"], folder / "log", status=1)
    print(
        f"{written:.0f} MB: {run.core_seconds:.1f} core-seconds, {run.seconds:.1f} s,"
        f" {written / run.core_seconds:.1f} MB/s a core; {run.peak_bytes / 1e6:.0f} MB of memory"
    )


if __name__ == "__main__":
    main()
