"""Compares `corpusmill contamination` with datatrove, decon and 13-grams on planted leaks and stock texts.

    CORPUSMILL_DATA=… python -m tests.bench.contamination [--megabytes N] [--items N]
        [--datatrove PYTHON] [--decon PROGRAM]

The documents and items are those of tests/tools/planted_leaks.py. More documents, with the words of real
books in another order, and more items of such words, are added up to the given numbers. PYTHON is an
interpreter that has datatrove, PROGRAM the built program of allenai/decon. Each way has one worker or thread
and its own default settings. Prints how many of the documents with a leak, with a stock text, and of the
others each way finds, its core-seconds, MB/s and memory.
"""

import argparse
import gzip
import json
import pathlib
import random
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow.parquet as pq

from tests.bench import harness
from tests.tools.planted_leaks import LEAKS, Planted, plant
from tests.tools.real_gutenberg import read_bodies

Read = Callable[[pathlib.Path], Iterable[str]]
"""Reads the ids of the documents that a way has found; its argument is the path of what the way printed."""

SEED, DOCUMENTS, ITEM_WORDS = 0, 3000, 40

_THIRTEEN = """
import json, string, sys
from collections import defaultdict
table = str.maketrans("", "", string.punctuation + "“”‘’–—…")
def ngrams(text):
    words = text.lower().translate(table).split()
    return zip(*(words[at:] for at in range(13)))
items = {ngram for line in open(sys.argv[2]) for ngram in ngrams(json.loads(line)["text"])}
for line in open(sys.argv[1]):
    row = json.loads(line)
    if any(ngram in items for ngram in ngrams(row["text"])):
        print(row["id"])
"""
_DATATROVE = """
import json, sys
from datatrove.data import Document
from datatrove.pipeline.decont.n_grams import NGramsDecontFilter, NGramsDecontIndexer
find = NGramsDecontFilter("/nowhere")
compute = NGramsDecontIndexer.compute_hashes  # the class itself asks for lighteval, which is not needed
texts = [json.loads(line)["text"] for line in open(sys.argv[2])]
find._index_hashes = {one: "items" for text in texts for one in compute(find, text)}
for line in open(sys.argv[1]):
    row = json.loads(line)
    if find.filter(Document(text=row["text"], id=row["id"])) is not True:
        print(row["id"])
"""


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=0)
    parser.add_argument("--items", type=int, default=0)
    parser.add_argument("--datatrove", default="")
    parser.add_argument("--decon", default="")
    settings = parser.parse_args()
    harness.adopt_orphans()
    print(harness.describe_machine())
    made = plant(SEED, DOCUMENTS)
    with tempfile.TemporaryDirectory(prefix="corpusmill-bench-") as name:
        folder = pathlib.Path(name)
        documents, items = write_inputs(folder, made, settings.megabytes, settings.items)
        size = documents.stat().st_size / 1e6
        print(f"{size:,.0f} MB, {sum(1 for _ in items.open()):,} items")
        print("| way | leaks | stock texts | others | core-s | MB/s | MB of memory |")
        ways: list[tuple[str, Sequence[object], Read]] = [
            ("corpusmill", _corpusmill(folder, documents, items), lambda _: _copied(folder)),
            ("13-grams", [sys.executable, "-c", _THIRTEEN, documents, items], _printed),
        ]
        if settings.datatrove:
            ways.append(
                ("datatrove", [settings.datatrove, "-c", _DATATROVE, documents, items], _printed)
            )
        if settings.decon:
            report = folder / "report"
            inputs = ["--training-dir", documents.parent, "--evals-dir", folder / "evals"]
            outputs = ["--report-output-dir", report, "--worker-threads", 1]
            found = [settings.decon, "detect", *inputs, *outputs]
            ways.append(("decon", found, lambda _: _of_decon(report)))
        for way, command, read in ways:
            log = folder / f"{way}.log"
            run = harness.build(list(map(str, command)), log, status=int(way == "corpusmill"))
            print_row(way, made, {*read(log)}, run, size)


def print_row(way: str, made: Planted, found: set[str], run: harness.Run, size: float) -> None:
    """Prints the documents that a way has found, and its cost."""
    kinds = {str(number): kind for number, (_, kind) in made.truth.items()}
    leaks = {number for number, kind in kinds.items() if kind in LEAKS}
    counts = [
        f"{len(found & leaks)} of {len(leaks)}",
        f"{len(found & (kinds.keys() - leaks))} of {len(kinds) - len(leaks)}",
        f"{len(found - kinds.keys()):,}",
        f"{run.core_seconds:.1f}",
        f"{size / run.core_seconds:.1f}",
        f"{run.peak_bytes / 1e6:.0f}",
    ]
    print("|", " | ".join([way, *counts]), "|", flush=True)


def write_inputs(
    folder: pathlib.Path, made: Planted, megabytes: int, count: int
) -> tuple[pathlib.Path, pathlib.Path]:
    """Writes the documents and the items, and the items in the form of decon. Returns their paths."""
    chance = random.Random(SEED)
    words = " ".join(read_bodies(60).values()).split()
    for name in ("train", "evals"):
        (folder / name).mkdir()
    documents, items = folder / "train" / "documents.jsonl", folder / "items.jsonl"
    with documents.open("w") as file:
        for number, text in enumerate(_texts(made.documents, words, chance, megabytes)):
            file.write(json.dumps({"id": str(number), "text": text}) + "\n")
    texts = [text for _, _, text in made.items]
    texts += [" ".join(chance.choices(words, k=ITEM_WORDS)) for _ in range(count - len(texts))]
    with items.open("w") as file, gzip.open(folder / "evals" / "items.jsonl.gz", "wt") as other:
        for number, text in enumerate(texts):
            file.write(json.dumps({"id": str(number), "text": text}) + "\n")
            row = {
                "eval_key": "items",
                "eval_instance_index": number,
                "split": "test",
                "answer": "",
            }
            row |= {"doc_id": number, "is_correct": True, "fingerprint": f"{number:016x}"}
            other.write(json.dumps({**row, "question": text}) + "\n")
    return documents, items


def _texts(
    texts: Sequence[str], words: Sequence[str], chance: random.Random, megabytes: int
) -> Iterator[str]:
    yield from texts
    written = sum(len(text.encode()) for text in texts)
    while written < megabytes * 1e6:
        text = " ".join(chance.choices(words, k=700))
        written += len(text.encode())
        yield text


def _corpusmill(folder: pathlib.Path, documents: pathlib.Path, items: pathlib.Path) -> list[object]:
    given = ["--train", documents, "--eval", items, "--output", folder / "found"]
    return [*harness.COMMAND, "contamination", *given, "--workers", 1]


def _printed(log: pathlib.Path) -> Iterable[str]:
    return filter(str.isdigit, log.read_text().splitlines())


def _copied(folder: pathlib.Path) -> Iterable[str]:
    for path in folder.glob("found/hits-*"):
        table = pq.read_table(path, columns=["document", "tier"]).to_pylist()
        yield from (row["document"] for row in table if row["tier"] == "copied")


def _of_decon(report: pathlib.Path) -> Iterable[str]:
    for path in report.rglob("*.jsonl*"):
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
            yield from (str(json.loads(line)["training_line"]) for line in lines)


if __name__ == "__main__":
    main()
