"""Ends builds at named points and at random times, looks at what is left, and runs the same command again.

    python -m tests.tools.kills --results kills.tsv [--at-once 2] [--only WORDS]
    python -m tests.tools.kills --results kills.tsv --table

The commands (kill_commands.py) build the bundled samples as real processes with two workers. At a point
(kill_points.py) the launcher, a worker or the fork server gets SIGKILL, SIGTERM or SIGINT; in another hundred
cases at a random time. After it five things must hold:

  finished   no folder looks finished that is not, byte for byte, what an undisturbed run makes
  differs    the same command again ends well, and all files are those of an undisturbed run
  alive      no process of the build is there 5 seconds later
  traceback  neither run prints a traceback, and a build that lost a process ends with a line that says so
  left       nothing else is left after the second run, beside the build or in TMPDIR

Each case is a line of the results: it is not run again for the same version of the source. The tables count
the cases of the version by point and by command, and those that failed. Those of the last run: kills.md.
"""

import argparse
import concurrent.futures
import contextlib
import os
import random
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from corpusmill.transforms.files.markup import make_table
from tests.tools.kill_commands import COMMANDS, ROOT, dump_site
from tests.tools.kill_points import LAUNCHER, POINTS, SERVER, WORKER
from tests.tools.kill_runs import NOT_REACHED, Case, Reference, run_case

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
FAULTS = ("finished", "differs", "alive", "traceback", "left")
TIMES_EACH = 2
RANDOM_CASES = 100
SEED = 20261123
BUILDS = ("entities", "wiki40b", "lm1b", "pg19", "flores101 source", "subwords")
OTHERS = ("flores101 packets", "flores101 import", "flores101 package", "refresh", "simplebooks")


class Result(NamedTuple):
    """A line of the results."""

    version: str
    name: str
    point: str
    victim: str
    signal: str
    command: str
    ended: str  # this and the others: see Outcome
    again: str
    faults: str


# Cases.


def all_cases() -> Iterator[Case]:
    """The cases, in an order in which points come in turn."""
    for turn in range(TIMES_EACH):
        for number, kill in enumerate(SIGNALS):
            for point in POINTS:
                command = point.commands[(turn + number) % len(point.commands)]
                name = f"{point.name}, {point.victim}, {kill.name}, {turn + 1}"
                yield Case(name, point.name, point.victim, kill, command, point)
    chance = random.Random(SEED)
    for number in range(RANDOM_CASES):
        command = (*BUILDS, *OTHERS)[number % (len(BUILDS) + len(OTHERS))]
        victims = (LAUNCHER, WORKER, LAUNCHER, SERVER) if command in BUILDS else (LAUNCHER,)
        victim = chance.choice(victims)
        kill = SIGNALS[number % len(SIGNALS)]
        share = chance.random()
        yield Case(f"random {number + 1}", "random time", victim, kill, command, None, share)


# Results.


def read_results(path: Path) -> list[Result]:
    """Reads the results of earlier runs."""
    if not path.exists():
        return []
    lines = path.read_text("utf-8").splitlines()
    return [Result(*line.split("\t")) for line in lines]


def source_version() -> str:
    """The commit that is run, with a plus where `pipelines` or `transforms` are changed."""

    def git(*command: str) -> str:
        paths = ("--", "pipelines", "transforms", "setup.py")
        return subprocess.check_output(["git", "-C", ROOT, *command, *paths], text=True)

    return git("log", "-1", "--format=%h").strip() + ("+" if git("status", "--porcelain") else "")


def make_tables(results: Sequence[Result]) -> str:
    """Markdown: kills by point and by command, and those after which something did not hold."""
    done = list({result.name: result for result in results}.values())
    by_point: dict[tuple[str, ...], list[Result]] = {(one.point, one.victim): [] for one in done}
    by_command: dict[tuple[str, ...], list[Result]] = {(f"`{one.command}`",): [] for one in done}
    for one in done:
        by_point[one.point, one.victim].append(one)
        by_command[f"`{one.command}`",].append(one)
    by_point["**all**", ""] = done
    tables = (
        _table(("point", "process"), by_point),
        _table(("command",), dict(sorted(by_command.items()))),
    )
    return "\n".join("\n".join([*lines, ""]) for lines in tables)


def _table(head: Sequence[str], groups: Mapping[tuple[str, ...], Sequence[Result]]) -> list[str]:
    names = [*(kill.name for kill in SIGNALS), *FAULTS]
    return make_table((*head, *names), [(*key, *_counts(those)) for key, those in groups.items()])


def _counts(those: Sequence[Result]) -> list[int]:
    reached = [one for one in those if one.faults != NOT_REACHED]
    kills = [sum(one.signal == kill.name for one in reached) for kill in SIGNALS]
    kinds = [{fault.split(":")[0] for fault in one.faults.split("; ")} for one in reached]
    return [*kills, *(sum(fault in of_one for of_one in kinds) for fault in FAULTS)]


def main() -> None:
    """Runs what was not run yet, or prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, required=True, help="TSV, a line a case")
    parser.add_argument("--work", type=Path, help="new folder for builds, which stays")
    parser.add_argument("--at-once", type=int, default=1, help="cases")
    parser.add_argument("--only", default="", help="part of a case's name")
    parser.add_argument("--table", action="store_true", help="print the tables, and run nothing")
    settings = parser.parse_args()
    version = source_version()
    known = [one for one in read_results(settings.results) if one.version == version]
    if settings.table:
        print(make_tables(known), end="")
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    done = {one.name for one in known}
    wanted = [one for one in all_cases() if settings.only in one.name and one.name not in done]
    with contextlib.ExitStack() as stack:
        work = settings.work or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        reference = Reference(work.absolute(), stack.enter_context(dump_site()))
        run_all(wanted, reference, work.absolute(), settings, version)


def run_all(
    cases: Sequence[Case],
    reference: Reference,
    work: Path,
    settings: argparse.Namespace,
    version: str,
) -> None:
    """Runs cases, some at once, and writes each result as it comes."""
    for name in COMMANDS:
        if any(case.command == name for case in cases):
            reference.make(name)
    writing = threading.Lock()

    def run(numbered: tuple[int, Case]) -> None:
        number, case = numbered
        outcome = run_case(case, reference, work / "cases" / f"{os.getpid()}-{number}")
        about = (version, case.name, case.point, case.victim, case.signal.name, case.command)
        result = Result(*about, outcome.ended, outcome.again, "; ".join(outcome.faults))
        with writing, settings.results.open("a", encoding="utf-8") as file:
            file.write("\t".join(result) + "\n")
        print(f"{number}/{len(cases)} {' | '.join(result[1:])}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(settings.at_once) as threads:
        list(threads.map(run, enumerate(cases, 1)))


if __name__ == "__main__":
    main()
