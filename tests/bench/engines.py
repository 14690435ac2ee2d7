"""Measures core-seconds per GB and time of the in-process runner, local Spark and a Spark cluster.

    python -m tests.bench.engines [--news-megabytes N] [--copies N] [--corpora NAME …] [--workers N …]

Builds One Billion Word and Wiki-40B with the command line, on each engine in turn. The cluster of
deploy/spark has one node per worker, each on its own core. Its start is included in the core-seconds, but
not in the time. The job server, which controls it, may use all cores. User and system time of all Java and
Python processes are counted. Two input sizes are built, to separate the start of the engine from the cost
per GB. Run it on an idle machine.
"""

import argparse
import contextlib
import ctypes
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import NamedTuple

from tests.bench import lm1b as bench_lm1b
from tests.bench import wiki40b as bench_wiki40b
from tests.pipelines.run.engines.spark.spark_cluster import spark_cluster

CLUSTER = "cluster"
ENGINES = ("in-process", "Spark", CLUSTER)
NODE_MEMORY = "2g"
PR_SET_CHILD_SUBREAPER = 36  # sys/prctl.h


class Input(NamedTuple):
    """The input of a build."""

    command: list[str]  # of corpusmill
    megabytes: float  # of text, decompressed


class Run(NamedTuple):
    """The cost of one build."""

    seconds: float
    core_seconds: float  # user and system, of all processes


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--news-megabytes", type=int, default=1000, help="of raw lines")
    parser.add_argument(
        "--copies", type=int, default=100, help="how often a dump's pages are repeated"
    )
    parser.add_argument("--corpora", nargs="+", default=["lm1b", "wiki40b"])
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2])
    parser.add_argument(
        "--rounds", type=int, default=1, help="builds of each kind; the best counts"
    )
    settings = parser.parse_args()
    adopt_orphans()
    bench_lm1b.print_machine()
    with tempfile.TemporaryDirectory(prefix="corpusmill-bench-") as folder:
        for corpus in settings.corpora:
            measure(corpus, pathlib.Path(folder), settings)


def measure(corpus: str, folder: pathlib.Path, settings: argparse.Namespace) -> None:
    """Prints the rows of one corpus."""
    made = make_input(corpus, folder / corpus, settings)
    print(f"{corpus}, {made.megabytes:.0f} MB of text")
    print(
        f"  {'engine':12} {'workers':>7} {'seconds':>8} {'core-s':>8} {'core-s/GB':>10} {'time':>6}"
    )
    for engine in settings.engines:
        first = 0.0
        for workers in settings.workers:
            runs = [
                build(
                    made.command, folder / f"{corpus}-{engine}-{workers}-{number}", engine, workers
                )
                for number in range(settings.rounds)
            ]
            best = min(runs)
            first = first or best.seconds
            print(
                f"  {engine:12} {workers:7} {best.seconds:8.1f} {best.core_seconds:8.1f}"
                f" {best.core_seconds / made.megabytes * 1000:10.0f} {best.seconds / first:6.2f}",
                flush=True,
            )


def make_input(corpus: str, folder: pathlib.Path, settings: argparse.Namespace) -> Input:
    """Makes the files of an input."""
    if corpus == "lm1b":
        news = bench_lm1b.write_news(
            bench_lm1b.source_lines(), folder, settings.news_megabytes, "gz"
        )
        return Input(["lm1b", "--input", *map(str, news.paths)], news.megabytes)
    dump = bench_wiki40b.repeated(bench_wiki40b.REAL_DUMP, folder, settings.copies)
    command = ["wiki40b", "--language", "uk", "--dump", str(dump), "--vocabulary-size", "0"]
    return Input(command, bench_wiki40b.xml_megabytes(dump))


def build(command: Sequence[str], output: pathlib.Path, engine: str, workers: int) -> Run:
    """Builds, and waits for the end of all processes. Raises RuntimeError if it fails."""
    cpu_start = core_seconds()
    if engine == CLUSTER:
        output.mkdir()
        with spark_cluster(output, NODES=workers, MEMORY=NODE_MEMORY) as cluster:
            pin_nodes(cluster.state, workers)
            seconds = run_command(command, output, cluster.process_flags)
    else:
        runner = "SparkRunner" if engine == "Spark" else engine
        seconds = run_command(command, output, ["--workers", str(workers), "--runner", runner])
    bury_orphans()
    return Run(seconds, core_seconds() - cpu_start)


def pin_nodes(state: pathlib.Path, count: int) -> None:
    """Keeps each node, and all that it starts, to one core: as if it were a machine of that size."""
    cores = sorted(os.sched_getaffinity(0))
    for number in range(count):
        node = (state / f"node-{number + 1}.pid").read_text("ascii").strip()
        for thread in pathlib.Path("/proc", node, "task").iterdir():
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread.name), {cores[number % len(cores)]})


def run_command(command: Sequence[str], output: pathlib.Path, flags: Sequence[str]) -> float:
    """Runs the command line tool; gives its seconds. Raises RuntimeError if it fails."""
    log = output.with_suffix(".log")
    run = [sys.executable, "-m", "corpusmill", *command, "--output", str(output), *flags]
    start = time.perf_counter()
    with log.open("wb") as stream:
        status = subprocess.run(
            run, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, check=False
        ).returncode
    seconds = time.perf_counter() - start
    if status:
        raise RuntimeError(f"{' '.join(run)} ended with {status}: {log.read_text()[-2000:]}")
    return seconds


def adopt_orphans() -> None:
    """Makes this process the parent of workers whose own has ended: else their time would be lost."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def bury_orphans() -> None:
    """Waits for all that were adopted, so that their time counts."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def core_seconds() -> float:
    """Of all processes below this one that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
