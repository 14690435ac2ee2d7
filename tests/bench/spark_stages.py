"""Measures time and processor time of the phases of each job of a build on a Spark cluster.

    python -m tests.bench.spark_stages [--input FILE … | --news-megabytes N] [--nodes N] [--flags …]

Builds One Billion Word on the cluster of deploy/spark, with nodes of one core each. The times of
applications, executors and stages are read from Spark's event log; the processor time of all processes is
sampled by kind of process. Prints a row for each phase of each application, in order of time, and sums.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import psutil

from tests.bench import harness
from tests.pipelines.run.engines.spark.spark_cluster import Cluster, spark_cluster

LOOK_SECONDS = 1.0
KINDS = ("client", "driver", "executors", "Python", "daemons")


class Phase(NamedTuple):
    """A time in which one thing happens."""

    name: str
    begin: float  # seconds since the epoch
    end: float


class Look(NamedTuple):
    """Processor time of one moment."""

    at: float
    seconds: Counter[str]  # kind → of all its processes so far


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--input", nargs="+", help="files of lines; else some are made")
    parser.add_argument("--news-megabytes", type=int, default=300)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--pool", action="store_true", help="workers of the pool, not of executors")
    parser.add_argument("--output", help="folder of the build; by default it is removed")
    parser.add_argument("--java", default="", help="more flags of the job server's JVM")
    settings = parser.parse_args()
    print(harness.describe_machine())
    with tempfile.TemporaryDirectory(prefix="corpusmill-bench-") as place:
        folder = pathlib.Path(place)
        paths = settings.input
        if not paths:
            lines = harness.source_lines()
            news = harness.write_news(lines, folder / "news", settings.news_megabytes)
            paths = [str(path) for path in news]
        events = folder / "events"
        events.mkdir()
        java = f"-Dspark.eventLog.enabled=true -Dspark.eventLog.dir=file://{events} {settings.java}"
        with spark_cluster(
            folder, NODES=settings.nodes, MEMORY=harness.NODE_MEMORY, JOB_SERVER_FLAGS=java
        ) as cluster:
            harness.pin_nodes(cluster.state, settings.nodes)
            output = settings.output or str(folder / "built")
            looks, begin, end = run(cluster, paths, output, pool=settings.pool)
        print_phases(list(phases_of(events, begin, end)), looks)


def run(
    cluster: Cluster, paths: Sequence[str], output: str, *, pool: bool
) -> tuple[list[Look], float, float]:
    """Builds, and looks at all processes meanwhile. Raises RuntimeError if the build fails."""
    flags = cluster.flags if pool else cluster.process_flags
    command = [*harness.COMMAND, "lm1b", "--input", *paths]
    command += ["--output", output, *flags]
    log, looks, is_over = cluster.state.parent / "build.log", [], threading.Event()
    begin = time.time()
    with (
        log.open("wb") as stream,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream
        ) as process,
    ):
        roots = {int(path.read_text()): path.stem for path in cluster.state.glob("*.pid")}
        watch = threading.Thread(
            target=look, args=(roots | {process.pid: "client"}, looks, is_over), daemon=True
        )
        watch.start()
        status = process.wait()
    end = time.time()
    is_over.set()
    watch.join()
    if status:
        raise RuntimeError(f"ended with {status}: {log.read_text()[-3000:]}")
    return looks, begin, end


def look(roots: dict[int, str], looks: list[Look], is_over: threading.Event) -> None:
    """Notes the processor time of all processes below the roots, by kind."""
    of_process: dict[tuple[int, float], tuple[str, float]] = {}
    while True:
        for root, name in roots.items():
            for process, kind in processes_of(root, name):
                try:
                    used = process.cpu_times()
                    key = process.pid, process.create_time()
                    of_process[key] = kind, used.user + used.system
                except psutil.Error:
                    continue
        seconds: Counter[str] = Counter()
        for kind, used in of_process.values():
            seconds[kind] += used  # type: ignore[assignment]
        looks.append(Look(time.time(), seconds))
        if is_over.wait(LOOK_SECONDS):
            return


def processes_of(root: int, name: str) -> Iterator[tuple[psutil.Process, str]]:
    """The processes below one that was started, and what they are."""
    try:
        first = psutil.Process(root)
        family = [first, *first.children(recursive=True)]
    except psutil.Error:
        return
    for process in family:
        try:
            line = " ".join(process.cmdline())
        except psutil.Error:  # it has ended, or is a zombie
            continue
        if name == "client":
            yield process, "client"
        elif "CoarseGrainedExecutorBackend" in line:
            yield process, "executors"
        elif name == "job-server":
            yield process, "driver"
        elif "java" in line[:80]:
            yield process, "daemons"
        else:
            yield process, "Python"


def phases_of(events: pathlib.Path, begin: float, end: float) -> Iterator[Phase]:
    """The phases of a build, without gaps."""
    last = begin
    applications = [read_events(path) for path in events.iterdir()]
    for number, log in enumerate(sorted(applications, key=lambda log: log[0]["at"]), 1):
        for event in log:
            if event["at"] > last:
                yield Phase(f"{number}: {event['before']}", last, event["at"])
                last = event["at"]
    yield Phase("after the last application: publishing", last, end)


def read_events(path: pathlib.Path) -> list[dict[str, Any]]:
    """The events of one application that end a phase, in order, each with the name of what it ends."""
    found: list[dict[str, Any]] = []
    stages: set[int] = set()
    with path.open(encoding="utf-8") as stream:
        for event in map(json.loads, stream):
            kind = event["Event"]
            if kind == "SparkListenerApplicationStart":
                found.append(
                    {"at": event["Timestamp"] / 1e3, "before": "client and driver, no Spark yet"}
                )
            elif kind == "SparkListenerExecutorAdded":
                found.append({"at": event["Timestamp"] / 1e3, "before": "start of executors"})
            elif kind == "SparkListenerStageSubmitted":
                info = event["Stage Info"]
                found.append(
                    {"at": info["Submission Time"] / 1e3, "before": "driver, between stages"}
                )
            elif kind == "SparkListenerStageCompleted":
                info = event["Stage Info"]
                stages.add(info["Stage ID"])
                name = f"stage {info['Stage ID']}, {info['Number of Tasks']} tasks"
                found.append({"at": info["Completion Time"] / 1e3, "before": name})
            elif kind == "SparkListenerApplicationEnd":
                found.append({"at": event["Timestamp"] / 1e3, "before": "end of the application"})
    return sorted(found, key=lambda one: one["at"])


def print_phases(phases: Sequence[Phase], looks: Sequence[Look]) -> None:
    """Prints a row a phase, and sums by what the phases are."""
    whole = phases[-1].end - phases[0].begin
    head = f"{'phase':44} {'seconds':>8} {'share':>6} " + " ".join(f"{kind:>9}" for kind in KINDS)
    print(head)
    sums: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for phase in phases:
        used = {
            kind: seconds_at(looks, kind, phase.end) - seconds_at(looks, kind, phase.begin)
            for kind in KINDS
        }
        seconds = phase.end - phase.begin
        print_row(phase.name, seconds, seconds / whole, used)
        of = sums[phase.name.partition(": ")[2].partition(" ")[0] or "publishing"]
        of.update({"seconds": seconds, **used})  # type: ignore[dict-item]
    print()
    for name, used_by in sums.items():
        print_row(name, used_by["seconds"], used_by["seconds"] / whole, used_by)
    total = {kind: looks[-1].seconds[kind] - looks[0].seconds[kind] for kind in KINDS}
    print_row("all", whole, 1, total)
    print(f"core-seconds: {sum(total.values()):.1f}, without the daemons' start")


def print_row(name: str, seconds: float, share: float, used: Any) -> None:
    """A row: processor time by kind on the right."""
    columns = " ".join(f"{used[kind]:9.1f}" for kind in KINDS)
    print(f"{name[:44]:44} {seconds:8.1f} {share:6.1%} {columns}")


def seconds_at(looks: Sequence[Look], kind: str, at: float) -> float:
    """The processor time until a moment, between two looks in proportion."""
    before = max((one for one in looks if one.at <= at), default=looks[0], key=lambda one: one.at)
    after = min((one for one in looks if one.at > at), default=looks[-1], key=lambda one: one.at)
    if after.at <= before.at:
        return float(before.seconds[kind])
    share = (at - before.at) / (after.at - before.at)
    return float(before.seconds[kind] + share * (after.seconds[kind] - before.seconds[kind]))


if __name__ == "__main__":
    main()
