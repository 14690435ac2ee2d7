"""Compares whole builds of Wiki-40B with the usual method, Beam and mwparserfromhell's `strip_code`.

    python -m tests.bench.wiki40b [--dump FILE] [--copies N] [--peer-copies N]

Prints MB of XML per second, the ratio to the other method with the same number of workers, the ratio to the
speed of Python's bz2 module alone, the time with two workers as a share of the time with one, and the peak
memory of all processes for a small and a large dump. These builds have no SentencePiece vocabulary, because
the other method has none; the last line has its cost. Run it on an idle machine.
"""

import argparse
import bz2
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple
from xml.etree import ElementTree

import apache_beam as beam
import mwparserfromhell
import psutil
from apache_beam.options.pipeline_options import PipelineOptions

from tests.makers.dump_files import repeat_dump
from tests.tools.real_data import DATA

WATCH_SECONDS = 0.5  # looking more often would take time from the build
REAL_DUMP = DATA / "wikipedia" / "ukwiki-20230501-pages-articles-multistream.xml.bz2"


class Run(NamedTuple):
    """The cost of one build."""

    seconds: float
    peak_bytes: int  # resident, of all processes together


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--dump", type=pathlib.Path, default=REAL_DUMP, help="a multistream ukwiki dump"
    )
    parser.add_argument("--copies", type=int, default=100, help="how often its pages are repeated")
    parser.add_argument(
        "--rounds", type=int, default=1, help="builds of each kind; the best counts"
    )
    parser.add_argument("--peer-copies", type=int, default=1, help="the same for the slow peer")
    parser.add_argument("--no-vocabulary", action="store_true", help="skip the last line")
    settings = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="corpusmill-bench-") as folder:
        measure(pathlib.Path(folder), settings)


def measure(folder: pathlib.Path, settings: argparse.Namespace) -> None:
    """Runs the builds of one benchmark."""
    large = repeated(settings.dump, folder / "large", settings.copies)
    small = repeated(settings.dump, folder / "small", max(settings.copies // 4, 1))
    slow = repeated(settings.dump, folder / "slow", settings.peer_copies)
    megabytes = xml_megabytes(large)
    print(
        f"dump: {megabytes:.0f} MB of XML in {large.stat().st_size / 1e6:.0f} MB of bz2, multistream"
    )

    peer_megabytes = xml_megabytes(slow)
    bz2_seconds, peer_seconds, (one, two) = build_in_turns(large, slow, folder, settings.rounds)
    peers = {workers: peer_megabytes / seconds for workers, seconds in peer_seconds.items()}
    bz2_speed = megabytes / bz2_seconds
    print(f"Python's bz2 module alone:                     {bz2_speed:6.2f} MB/s")
    for workers, speed in peers.items():
        print(
            f"Beam + mwparserfromhell strip_code, {workers} worker(s):"
            f" {speed:6.2f} MB/s ({peer_megabytes:.0f} MB)"
        )
    for workers, run in ((1, one), (2, two)):
        speed = megabytes / run.seconds
        print(
            f"corpusmill, Parquet and TFRecord, {workers} worker(s): {speed:6.2f} MB/s,"
            f" {speed / peers[workers]:.1f} x, {speed / bz2_speed:.2f} of bz2"
        )
    print(f"2 workers take {two.seconds / one.seconds:.2f} of the time of 1", flush=True)
    less = build(small, folder / "less", workers=2)
    for label, run, path in (("small", less, small), ("large", two, large)):
        size = xml_megabytes(path)
        print(
            f"peak memory, 2 workers, {label} dump ({size:.0f} MB): {run.peak_bytes / 1e6:.0f} MB"
        )
    if settings.no_vocabulary:
        return
    learned = build(large, folder / "learned", 2, vocabulary_size=32_000)
    more = learned.seconds - two.seconds
    print(
        f"a vocabulary of the large dump takes {more:.0f} s more, and {learned.peak_bytes / 1e6:.0f} MB"
    )


def build_in_turns(
    dump: pathlib.Path, peer_dump: pathlib.Path, folder: pathlib.Path, rounds: int
) -> tuple[float, dict[int, float], tuple[Run, Run]]:
    """Measures everything in turns, several rounds, and returns the best of each.

    Returns the seconds of bz2 alone, the seconds of the other method by its number of workers, and the builds
    with 1 and with 2 workers. The speed of a virtual machine changes, so all methods are measured in each
    round.
    """
    alone: list[float] = []
    peers: dict[int, list[float]] = {1: [], 2: []}
    runs: dict[int, list[Run]] = {1: [], 2: []}
    for number in range(rounds):
        alone.append(seconds_of(lambda: xml_megabytes(dump)))
        for workers in (1, 2):
            seconds = seconds_of(lambda workers=workers: strip_code_pipeline(peer_dump, workers))
            peers[workers].append(seconds)
            runs[workers].append(build(dump, folder / f"{number}-{workers}", workers))
        print(f"round {number + 1}, seconds: bz2 {alone[-1]:.1f}", end="")
        for workers, run in runs.items():
            print(
                f", {workers} worker(s) {peers[workers][-1]:.1f} and {run[-1].seconds:.1f}", end=""
            )
        print(flush=True)
    best_of_peers = {workers: min(found) for workers, found in peers.items()}
    return min(alone), best_of_peers, (min(runs[1]), min(runs[2]))


def seconds_of(work: Callable[[], object]) -> float:
    """The seconds that a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def repeated(dump: pathlib.Path, folder: pathlib.Path, copies: int) -> pathlib.Path:
    """A dump with each page under `copies` ids."""
    folder.mkdir()
    path = folder / dump.name
    repeat_dump(dump, path, folder / dump.name.replace(".xml.bz2", "-index.txt.bz2"), copies=copies)
    return path


def xml_megabytes(path: pathlib.Path) -> float:
    """The size of the XML of a .bz2."""
    with bz2.open(path) as stream:
        return sum(len(data) for data in iter(lambda: stream.read(1 << 20), b"")) / 1e6


def build(dump: pathlib.Path, output: pathlib.Path, workers: int, vocabulary_size: int = 0) -> Run:
    """Runs the command line tool, as a user does."""
    command = [
        sys.executable,
        "-m",
        "corpusmill",
        "wiki40b",
        "--language",
        "uk",
        "--dump",
        str(dump),
    ]
    command += ["--output", str(output), "--workers", str(workers)]
    command += ["--vocabulary-size", str(vocabulary_size)]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        peak = [0]
        watcher = threading.Thread(target=watch_memory, args=(process.pid, peak), daemon=True)
        watcher.start()
        status = process.wait()
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with {status}")
    return Run(time.perf_counter() - start, peak[0])


def watch_memory(pid: int, peak: list[int]) -> None:
    """Keeps the peak of the resident memory of a process and its children."""
    while psutil.pid_exists(pid):
        try:
            processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
            peak[0] = max(peak[0], sum(process.memory_info().rss for process in processes))
        except psutil.NoSuchProcess:
            continue
        time.sleep(WATCH_SECONDS)


def strip_code_pipeline(dump: pathlib.Path, workers: int) -> None:
    """The usual way, on Beam's in-process runner."""
    options = PipelineOptions(
        direct_num_workers=workers,
        direct_running_mode="in_memory" if workers == 1 else "multi_processing",
    )
    with beam.Pipeline(runner="DirectRunner", options=options) as root:
        _ = (
            root
            | beam.Create([str(dump)])
            | "ReadPages" >> beam.FlatMap(read_texts)
            | "Reshuffle" >> beam.Reshuffle()
            | "StripCode" >> beam.Map(lambda text: mwparserfromhell.parse(text).strip_code())
            | "Count" >> beam.combiners.Count.Globally()
        )


def read_texts(path: str) -> Iterator[str]:
    """The wikitext of the articles of a dump."""
    namespace = number = ""
    with bz2.open(path) as stream:
        for _, element in ElementTree.iterparse(stream):
            namespace = element.tag.rpartition("}")[0]
            tag = element.tag.rpartition("}")[2]
            if tag == "ns":
                number = element.text or ""
            elif tag == "text" and number == "0" and element.text:
                yield element.text
            elif tag == "page":
                element.clear()
    assert namespace, f"{path} has no MediaWiki XML"


if __name__ == "__main__":
    main()
