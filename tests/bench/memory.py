"""Measures the memory of builds on the in-process runner by input size.

    python -m tests.bench.memory wiki40b|entities|pg19 SIZE … [--limit MB] [--workers N] [--flags "FLAG …"]

Makes an input of each size (MB of XML, thousands of items, books) and builds it with the command line.
Prints time, core-seconds, and the peak memory of all processes: the sum of their proportional set sizes
(PSS), without the file cache. With --limit, which needs root, the processes run in a control group (version
1) with this memory limit, which includes the file cache.
"""

import argparse
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import NamedTuple

import psutil

from tests.bench.engines import adopt_orphans, bury_orphans, core_seconds
from tests.makers.large_dumps import write_large_dumps
from tests.makers.large_inputs import write_books, write_items
from tests.tools.real_data import DATA

REAL_DUMP = DATA / "wikipedia" / "elwiki-20230501-pages-articles-multistream.xml.bz2"
SAMPLE_BOOKS = pathlib.Path(__file__).parents[2] / "pipelines" / "samples" / "gutenberg" / "texts"
BOOK_WORDS = 20_000
GROUPS = pathlib.Path("/sys/fs/cgroup/memory")
WATCH_SECONDS = 1.0  # looking more often would take time from the build
_SHARE = re.compile(r"^Pss: +(\d+) kB", re.MULTILINE)


class Run(NamedTuple):
    """The cost of one build."""

    seconds: float
    core_seconds: float
    peak_bytes: int  # of all processes together


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", choices=("wiki40b", "entities", "pg19"))
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--limit", type=int, default=0, help="MB that the processes may take")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--flags", default="", help="more flags of the build, in one argument")
    settings = parser.parse_args()
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="corpusmill-bench-") as folder:
        for size in settings.sizes:
            place = pathlib.Path(folder, str(size))
            place.mkdir()
            command = [*make_input(settings.corpus, place, size), *settings.flags.split()]
            command += ["--workers", str(settings.workers), "--output", str(place / "built")]
            run = build(
                [sys.executable, "-m", "corpusmill", *command], place / "log", settings.limit
            )
            print(
                f"{settings.corpus} {size:7,}: {run.seconds:7.1f} s, {run.core_seconds:7.1f} core-s,"
                f" {run.peak_bytes / 1e6:6.0f} MB",
                flush=True,
            )


def make_input(corpus: str, folder: pathlib.Path, size: int) -> list[str]:
    """Makes the input of one size; gives the command that builds it."""
    if corpus == "wiki40b":
        dump = folder / "elwiki-20261101-pages-articles-multistream.xml.bz2"
        write_large_dumps(REAL_DUMP, {dump: size * 10**6})
        return ["wiki40b", "--language", "el", "--vocabulary-size", "0", "--dump", str(dump)]
    if corpus == "entities":
        items = folder / "wikidata-20261101-all.json"
        write_items(items, size * 1000)
        return ["entities", "--dump", str(items)]
    books = folder / "books"
    books.mkdir()
    texts = [path.read_text("utf-8") for path in sorted(SAMPLE_BOOKS.glob("900[0-1]*.txt"))]
    write_books(books, texts, size, BOOK_WORDS)
    return ["pg19", "--members", "hash", "--dump-date", "20261101", "--books", str(books)]


def build(command: list[str], log: pathlib.Path, limit: int = 0, status: int = 0) -> Run:
    """Runs a build, and waits for the end of all processes.

    Raises RuntimeError if it ends with a greater exit status.
    """
    start, cpu_start, peak = time.perf_counter(), core_seconds(), 0
    with control_group(limit) as group, log.open("wb") as stream:
        enter = f"echo $$ > {group}/cgroup.procs && " if group else ""
        run = ["sh", "-c", f'{enter}exec "$@"', "sh", *command]
        with subprocess.Popen(
            run, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream
        ) as process:
            while process.poll() is None:
                peak = max(peak, shares_of(process.pid))
                time.sleep(WATCH_SECONDS)
        seconds = time.perf_counter() - start
        bury_orphans()
    if not 0 <= process.returncode <= status:
        raise RuntimeError(f"{command} ended with {process.returncode}: {log.read_text()[-2000:]}")
    return Run(seconds, core_seconds() - cpu_start, peak)


@contextlib.contextmanager
def control_group(limit: int) -> Iterator[pathlib.Path | None]:
    """A group that may take so many MB; none for 0."""
    if not limit:
        yield None
        return
    group = GROUPS / f"corpusmill-bench-{os.getpid()}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(limit * 10**6))
        yield group
    finally:
        group.rmdir()


def shares_of(pid: int) -> int:
    """Bytes of a process and of all below it; what several of them share counts once."""
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
            with contextlib.suppress(OSError):
                rollup = pathlib.Path("/proc", str(process.pid), "smaps_rollup").read_text()
                total += sum(map(int, _SHARE.findall(rollup))) * 1024
    return total


if __name__ == "__main__":
    main()
