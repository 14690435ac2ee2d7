"""The inputs of benchmarks, and builds whose time, processor time and memory are measured."""

import contextlib
import ctypes
import datetime
import gzip
import itertools
import os
import pathlib
import platform
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import psutil

from corpusmill.transforms.files.line_blocks import lines_of
from corpusmill.transforms.files.read_files import open_input
from corpusmill.transforms.wikipedia.wikidata import parse_entity
from tests.makers.news_lines import YEARS, read_odd_lines, recombined_lines, sample_lines
from tests.pipelines.run.engines.spark.spark_cluster import spark_cluster
from tests.tools.pack_samples import SAMPLES
from tests.tools.real_data import DATA

COMMAND = [sys.executable, "-m", "corpusmill"]
CLUSTER = "cluster"
ENGINES = ("in-process", "Spark", CLUSTER)
NODE_MEMORY = "2g"
GROUPS = pathlib.Path("/sys/fs/cgroup/memory")
WATCH_SECONDS = 1.0  # looking more often would take time from the build
PR_SET_CHILD_SUBREAPER = 36  # sys/prctl.h
_ID = re.compile(rb'("id": ?"Q)\d+"')
_SHARE = re.compile(r"^Pss: +(\d+) kB", re.MULTILINE)


class Run(NamedTuple):
    """The cost of one build."""

    seconds: float
    core_seconds: float  # user and system, of all processes
    peak_bytes: int  # of all processes together

    def __str__(self) -> str:
        return f"{self.seconds:7.1f} s, {self.core_seconds:7.1f} core-s, {self.peak_bytes / 1e6:6.0f} MB"


def describe_machine() -> str:
    """Returns the date, the processor, and how busy the machine is."""
    model = platform.processor() or platform.machine()
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(": ")[2] if names else model
    memory = psutil.virtual_memory().total / 1e9
    today = datetime.datetime.now(datetime.UTC).date()
    load = os.getloadavg()[0]
    return f"{today}, {model}, {os.cpu_count()} cores, {memory:.0f} GB; load {load:.1f}"


# Inputs.


def source_lines() -> list[bytes]:
    """The lines to recombine: real ones, where there are any."""
    paths = sorted((DATA / "news").glob("news.20*.en.shuffled.gz"))
    print(f"lines recombined from: {DATA / 'news' if paths else 'the bundled sample'}")
    if paths:
        return [line for path in paths for line in lines_of(gzip.decompress(path.read_bytes()))]
    rejected = {odd.line for odd in read_odd_lines(SAMPLES / "news") if odd.is_rejected}
    lines = itertools.chain.from_iterable(sample_lines(SAMPLES / "news").values())
    return [line for line in lines if line not in rejected]


def write_news(source: Sequence[bytes], folder: pathlib.Path, megabytes: int) -> list[pathlib.Path]:
    """Makes a plain file of lines for each year."""
    folder.mkdir(parents=True)
    paths = [folder / f"news.{year}.en.shuffled" for year in YEARS]
    blocks = recombined_lines(source, megabytes * 1_000_000)
    written = 0
    for number, path in enumerate(paths, start=1):
        with path.open("wb") as stream:
            while written < megabytes * 1_000_000 * number / len(paths):
                written += stream.write(b"\n".join([*next(blocks), b""]))
    return paths


def item_lines() -> list[bytes]:
    """The items of the real entity dump, a line each, without what stands around them."""
    with open_input(str(DATA / "wikidata" / "wikidata-sample-all.json.gz")) as stream:
        return [line.strip(b"[], \t\r\n") for line in stream if parse_entity(line)]


def write_copies(lines: Sequence[bytes], folder: pathlib.Path, copies: int) -> pathlib.Path:
    """An entity dump that has each item under `copies` ids."""
    path = folder / "wikidata-20260101-all.json"
    with path.open("wb") as stream:
        stream.write(b"[\n")
        for number in range(len(lines) * copies):
            fresh = _ID.sub(b'\\g<1>%d"' % (number + 1), lines[number % len(lines)], count=1)
            stream.write(fresh + b",\n")
        stream.write(b"]\n")
    return path


# Builds.


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


def build(command: Sequence[str], log: pathlib.Path, limit: int = 0, status: int = 0) -> Run:
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
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(WATCH_SECONDS)
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


def build_on(engine: str, command: Sequence[str], output: pathlib.Path) -> float:
    """Returns the core-seconds of a build with one worker, with those of the engine itself."""
    start = core_seconds()
    log = output.with_suffix(".log")
    run = [*COMMAND, *command, "--output", str(output)]
    if engine == CLUSTER:
        output.mkdir()
        with spark_cluster(output, NODES=1, MEMORY=NODE_MEMORY) as cluster:
            pin_nodes(cluster.state, 1)
            build([*run, *cluster.process_flags], log)
    else:
        runner = "SparkRunner" if engine == "Spark" else engine
        build([*run, "--workers", "1", "--runner", runner], log)
    bury_orphans()
    return core_seconds() - start


def pin_nodes(state: pathlib.Path, count: int) -> None:
    """Keeps each node, and all that it starts, to one core: as if it were a machine of that size."""
    cores = sorted(os.sched_getaffinity(0))
    for number in range(count):
        node = (state / f"node-{number + 1}.pid").read_text("ascii").strip()
        for thread in pathlib.Path("/proc", node, "task").iterdir():
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread.name), {cores[number % len(cores)]})
