"""Compares the choice of books by overlap with lazynlp's filter, and measures its time by number of books.

    python -m tests.bench.books [--lazynlp DIR] [--peer-megabytes N] [--books N ...] [--workers N]

Uses the real books of CORPUSMILL_DATA, between their START and END lines. Prints MB of text per second of one
core for the n-grams alone, for the whole choice in this process and for the pipeline, and their ratios to
the filter of lazynlp (`lazynlp.create.filter_files`), with which SimpleBooks was made. DIR is a folder with
the packages `lazynlp` and `pybloom_live` and their dependencies. The filter runs unchanged on a part of the
books, because its time is proportional to the text. Larger corpora follow, with copies of the books in which
a third of the words is replaced at random, with a seed. Run it on an idle machine.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import apache_beam as beam
import numpy
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from corpusmill.transforms.books.book_overlap import HashedBook
from corpusmill.transforms.books.select_books import SelectBooks
from corpusmill.transforms.duplicates.minhash import hash_ngrams
from corpusmill.transforms.files.records import Book, MeasuredBook
from corpusmill.transforms.files.scratch import Scratch
from tests.tools.real_gutenberg import read_bodies
from tests.transforms.books.partitioned_selection import select_hashed

PARTITIONS = 16
REPLACED_SHARE = 0.33
RUN_FILTER = """
import sys, time, pybloom_live
sys.modules["pybloom"] = pybloom_live  # its successor, by another name
from lazynlp.create import filter_files
start = time.process_time()
filter_files(sys.argv[1:])
print("seconds", time.process_time() - start)
"""


class Text(NamedTuple):
    """A book of the benchmark."""

    book_id: int
    text: str


class Took(NamedTuple):
    """The cost of something."""

    seconds: float
    cpu_seconds: float  # of this process, all threads
    kept: int


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lazynlp", type=pathlib.Path, help="folder of the peer's packages")
    parser.add_argument("--peer-megabytes", type=float, default=10, help="that the peer takes")
    parser.add_argument("--books", type=int, nargs="*", default=[250, 500, 1000], help="growth")
    parser.add_argument("--workers", type=int, default=1, help="threads of the pipeline")
    settings = parser.parse_args()
    bodies = read_bodies().values()
    texts = [Text(number, body) for number, body in enumerate(bodies, start=1) if body.split()]
    with tempfile.TemporaryDirectory(prefix="corpusmill-bench-") as folder:
        peer_speed = 0.0
        if settings.lazynlp:
            peer_speed = measure_peer(
                pathlib.Path(folder), settings.lazynlp, texts, settings.peer_megabytes
            )
        measure_choice(pathlib.Path(folder), texts, peer_speed, settings.workers)
        measure_growth(pathlib.Path(folder), texts, settings.books, settings.workers)


def measure_peer(
    folder: pathlib.Path, packages: pathlib.Path, texts: Sequence[Text], megabytes: float
) -> float:
    """Prints and gives MB/s of the peer, on one core."""
    step = max(int(size_of(texts) / megabytes), 1)
    chosen = texts[::step]
    names = []
    for text in chosen:
        names.append(f"{text.book_id}.txt")
        (folder / names[-1]).write_text(text.text, "utf-8")
    command = [sys.executable, "-c", RUN_FILTER, *names]
    output = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(packages.resolve())},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    seconds = float(output.rsplit("seconds", 1)[1])
    speed = size_of(chosen) / seconds
    print(f"lazynlp's filter:        {speed:7.1f} MB/s a core ({size_of(chosen):.1f} MB)")
    return speed


def measure_choice(
    folder: pathlib.Path, texts: Sequence[Text], peer_speed: float, workers: int
) -> None:
    """Prints the speed of the parts, and of the pipeline on all books."""
    megabytes = size_of(texts)
    print(f"{len(texts)} books, {megabytes:.1f} MB")
    start = time.process_time()
    hashed = [HashedBook(text.book_id, len(text.text), hash_ngrams(text.text, 8)) for text in texts]
    hashing = time.process_time() - start
    verdicts = select_hashed(hashed, Fraction(1, 2), PARTITIONS)
    both = time.process_time() - start
    kept = sum(verdict.is_kept for verdict in verdicts.values())
    print_speed("n-grams alone", megabytes, hashing, peer_speed)
    print_speed("n-grams and choice", megabytes, both, peer_speed, f"; {kept} kept")
    took = run_pipeline(folder / "real", texts, workers)
    print_speed("pipeline", megabytes, took.cpu_seconds, peer_speed, f"; {took.kept} kept")
    print(f"    in {took.seconds:.1f} s with {workers} worker(s)")


def print_speed(
    name: str, megabytes: float, seconds: float, peer_speed: float, more: str = ""
) -> None:
    """A line of the outcome."""
    speed = megabytes / seconds
    ratio = f", {speed / peer_speed:.1f} x lazynlp" if peer_speed else ""
    print(f"{name + ':':24} {speed:7.1f} MB/s a core{ratio}{more}")


def measure_growth(
    folder: pathlib.Path, texts: Sequence[Text], sizes: Iterable[int], workers: int
) -> None:
    """Prints what more and more books take."""
    before: tuple[float, float] | None = None
    for count in sizes:
        corpus = list(perturbed_texts(texts, count))
        took = run_pipeline(folder / str(count), corpus, workers)
        megabytes = size_of(corpus)
        line = f"{count:6} books, {megabytes:6.1f} MB: {took.seconds:6.1f} s"
        line += f", {took.cpu_seconds:6.1f} s of the processor, {took.kept} kept"
        if before:
            growth = took.cpu_seconds / before[1]
            line += f"; {megabytes / before[0]:.2f} x the text in {growth:.2f} x the time"
        before = megabytes, took.cpu_seconds
        print(line)


def perturbed_texts(texts: Sequence[Text], count: int) -> Iterator[Text]:
    """So many books: the first come as they are, others again with some words replaced."""
    vocabulary = sorted(set(" ".join(text.text for text in texts[:20]).split()))
    for number in range(count):
        source = texts[number % len(texts)].text
        if number < len(texts):
            yield Text(number + 1, source)
            continue
        chance = numpy.random.RandomState(number)
        words = source.split()
        (replaced,) = numpy.nonzero(chance.random_sample(len(words)) < REPLACED_SHARE)
        choices = chance.randint(0, len(vocabulary), len(replaced))
        for place, choice in zip(replaced.tolist(), choices.tolist(), strict=True):
            words[place] = vocabulary[choice]
        yield Text(number + 1, " ".join(words))


def run_pipeline(folder: pathlib.Path, texts: Iterable[Text], workers: int) -> Took:
    """Runs SelectBooks on books whose texts are put away before."""
    folder.mkdir()
    scratch = Scratch(str(folder))
    books = [measured(text, scratch) for text in texts]
    flags = [f"--direct_num_workers={workers}", "--direct_running_mode=multi_threading"]
    counted = folder / "kept"
    start, cpu_start = time.perf_counter(), time.process_time()
    with beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions(flags)) as root:
        selected = root | beam.Create(books) | SelectBooks(str(folder))
        _ = (
            selected.kept
            | "CountKept" >> beam.combiners.Count.Globally()
            | "WriteCount" >> beam.Map(write_number, str(counted))
        )
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    return Took(seconds, cpu_seconds, int(counted.read_text()))


def write_number(number: int, path: str) -> None:
    """Writes it to a file: a pipeline gives nothing back."""
    pathlib.Path(path).write_text(str(number))


def measured(text: Text, scratch: Scratch) -> MeasuredBook:
    """The book as SelectBooks takes it."""
    name = f"{text.book_id}.txt"
    packed = scratch.put_text(text.text)
    book = Book(
        text.book_id, name, "utf-8", name, (), (), (), (), "", 0, False, len(text.text), packed
    )
    return MeasuredBook(book, len(text.text.split()), 0)


def size_of(texts: Iterable[Text]) -> float:
    """MB of UTF-8."""
    return sum(len(text.text.encode("utf-8")) for text in texts) / 1e6


if __name__ == "__main__":
    main()
