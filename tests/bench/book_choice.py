"""Compares two ways to choose books by overlap, exact and with MinHash candidates: time, memory, results.

    python -m tests.bench.book_choice [--made N]

Uses the real books of CORPUSMILL_DATA, or N artificial ones of 300 to 20,000 words. A third of these are
derived from others: copies with changed words, parts, and collections. Each choice runs in a separate process
with one worker.
"""

import argparse
import json
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from corpusmill.transforms.books.select_books import SelectBooks
from corpusmill.transforms.books.select_by_minhash import SelectByMinHash
from corpusmill.transforms.files.records import Book, MeasuredBook, OverlapVerdict
from corpusmill.transforms.files.scratch import Scratch
from tests.tools.real_gutenberg import read_bodies

CHOICES = {"exact": SelectBooks, "minhash": SelectByMinHash}
VOCABULARY = 20_000


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--made", type=int, default=0, help="made books, in place of real ones")
    parser.add_argument("--choice", choices=CHOICES, help=argparse.SUPPRESS)
    parser.add_argument("--verdicts", type=pathlib.Path, help=argparse.SUPPRESS)
    settings = parser.parse_args()
    if settings.choice:
        choose(settings.choice, settings.made, settings.verdicts)
        return
    kept: dict[str, dict[str, list[int]]] = {}
    with tempfile.TemporaryDirectory(prefix="corpusmill-bench-") as folder:
        for choice in CHOICES:
            path = pathlib.Path(folder, choice)
            flags = ["--made", str(settings.made), "--choice", choice, "--verdicts", str(path)]
            subprocess.run([sys.executable, "-m", "tests.bench.book_choice", *flags], check=True)
            lines = map(json.loads, path.read_text().splitlines())
            kept[choice] = {str(number): [is_kept, ngrams] for number, is_kept, ngrams in lines}
    different = [one for one, verdict in kept["exact"].items() if kept["minhash"][one] != verdict]
    print(
        f"other verdicts: {len(different)} of {len(kept['exact'])}; of books with so many 8-grams:"
    )
    print(sorted(kept["exact"][one][1] for one in different))


def choose(choice: str, made: int, path: pathlib.Path) -> None:
    """Runs one choice and prints what it took."""
    with tempfile.TemporaryDirectory(prefix="corpusmill-bench-") as folder:
        scratch = Scratch(folder)
        texts = made_books(made) if made else real_books()
        books = [measured(number, text, scratch) for number, text in enumerate(texts, 1)]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.perf_counter()
        flags = ["--direct_num_workers=1", "--direct_running_mode=multi_threading"]
        with beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions(flags)) as root:
            chosen = root | beam.Create(books) | CHOICES[choice](folder)
            _ = chosen.verdicts | beam.Map(write_verdict, str(path))
        seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    characters = sum(book.book.characters for book in books) / 1e6
    print(
        f"{choice}: {len(books)} books, {characters:.0f} M characters: {seconds:.1f} s,"
        f" {peak / 1e3:.0f} MB at its peak ({before / 1e3:.0f} before it)"
    )


def write_verdict(verdict: OverlapVerdict, path: str) -> None:
    """Adds a line."""
    with pathlib.Path(path).open("a") as file:
        file.write(json.dumps([verdict.book_id, verdict.is_kept, verdict.ngrams]) + "\n")


def measured(number: int, text: str, scratch: Scratch) -> MeasuredBook:
    """The book as SelectBooks takes it."""
    name = f"{number}.txt"
    packed = scratch.put_text(text)
    book = Book(number, name, "utf-8", name, (), (), (), (), "", 0, False, len(text), packed)
    return MeasuredBook(book, len(text.split()), 0)


def real_books() -> Iterator[str]:
    """Those with words, between their START and END lines."""
    return (body for body in read_bodies().values() if body.split())


def made_books(count: int) -> Iterator[str]:
    """Two of three of words by chance; others made of up to 200 of these."""
    chance = random.Random(1)
    vocabulary = [f"w{number}" for number in range(VOCABULARY)]
    own: list[list[str]] = []
    for number in range(1, count + 1):
        if number % 3 or not own:
            words = chance.choices(vocabulary, k=int(300 * (20_000 / 300) ** chance.random()))
            own = [*own[-199:], words]
        else:
            words = made_of(own, chance)
        yield " ".join(words)


def made_of(others: list[list[str]], chance: random.Random) -> list[str]:
    """A copy with up to a tenth of the words changed, a part, or a collection."""
    words = list(chance.choice(others))
    kind = chance.randrange(3)
    if kind == 0:
        for place in chance.sample(range(len(words)), int(len(words) * chance.random() / 10)):
            words[place] = "changed"
        return words
    if kind == 1:
        start = chance.randrange(len(words) // 2)
        return words[start : start + len(words) // chance.randrange(2, 10)]
    return [word for part in chance.sample(others, min(3, len(others))) for word in part]


if __name__ == "__main__":
    main()
