"""One kill of tests/tools/kills.py: a command that is ended, what it leaves, and the same command again."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tests.tools.kill_commands import COMMANDS, ROOT, Inputs, configure
from tests.tools.kill_hook.sitecustomize import VARIABLE, children_of
from tests.tools.kill_points import LAUNCHER, WORKER, Point
from tests.tools.processes import command_of

HOOK = Path(__file__).parent / "kill_hook"
MARK = "CORPUSMILL_KILLS_FOLDER"
"""Variable that processes of a case inherit, by which they are found."""

NOT_REACHED = "not reached"
GONE_SECONDS = 5.0
LIMIT_SECONDS = 300.0  # on a machine that does much else


class Case(NamedTuple):
    """One kill."""

    name: str
    point: str
    victim: str
    signal: signal.Signals
    command: str
    at: Point | None  # None at a random time
    share: float = 0.0  # of the time that the command takes, for a random time


class Outcome(NamedTuple):
    """The result of a case."""

    ended: str  # exit status of the command, and how many seconds after the signal the last process was gone
    again: str  # exit status of the second run
    faults: tuple[str, ...]  # of kills.FAULTS, and why; or NOT_REACHED


# What an undisturbed run leaves.


class Reference:
    """The commands, run without a kill: the files that they leave, how long they take, and how they end."""

    def __init__(self, work: Path, url: str):
        self.inputs = Inputs(work / "finished", work / "prepared", url)
        self._work = work
        self.trees: dict[str, dict[str, bytes]] = {}
        self.seconds: dict[str, float] = {}
        self.statuses: dict[str, int] = {}

    def make(self, name: str) -> None:
        """Runs a command, and before it those that it needs."""
        if name in self.seconds:
            return
        command = COMMANDS[name]
        for needed in command.needs:
            self.make(needed)
        if command.prepare:
            command.prepare(self.inputs, self.inputs.prepared / name)
        place = self.inputs.finished / name
        run = Run(name, self, place, self._work / "undisturbed")
        start = time.monotonic()
        status = self.statuses[name] = run.start(None).wait(LIMIT_SECONDS)
        self.seconds[name] = time.monotonic() - start
        if (status and name != "flores101 check") or run.left_in_tmp():
            raise SystemExit(f"{name} ends with {status}, {run.left_in_tmp()}: {run.errors()}")
        self.trees[name] = tree_of(place)

    def before(self, name: str) -> dict[str, bytes]:
        """Returns the files that a command begins with."""
        prepared = self.inputs.prepared / name
        return tree_of(prepared) if prepared.exists() else {}


_TIME = re.compile(rb'"time": "[^"]*"')
_CLOCKS = re.compile(
    r"(^|/)(state/.*|metrics\.prom|\.refresh-lock|refresh\.toml|changes-.*\.json)$"
)


def tree_of(folder: Path) -> dict[str, bytes]:
    """Name → bytes of all files, and of folders; without what holds a time or an address."""
    tree = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        with contextlib.suppress(FileNotFoundError):  # somebody is still at work
            if path.is_dir():
                tree[f"{name}/"] = b""
            else:
                content = path.read_bytes()
                tree[name] = b"" if _CLOCKS.search(name) else _TIME.sub(b"", content)
    return tree


def finished_units(tree: dict[str, bytes]) -> dict[str, dict[str, bytes]]:
    """Folder → its files, of what looks finished: builds with their mark, entries of journals, CURRENT."""
    marks = [name.rpartition("/")[0] for name in tree if name.endswith("/COMPLETED")]
    entries = [name.rstrip("/") for name in tree if re.search(r"languages/\w+/\d{4}/$", name)]
    units = {
        unit: {name: data for name, data in tree.items() if name.startswith(f"{unit}/")}
        for unit in (*marks, *entries)
    }
    for name in tree:
        if name.endswith("/CURRENT"):
            units[name] = {name: tree[name]}
    return units


# A run, and what is left of it.


class Run:
    """A command in a folder."""

    def __init__(self, name: str, reference: Reference, place: Path, beside: Path):
        self._name = name
        self._reference = reference
        self.place = place
        self.beside = beside
        shutil.rmtree(beside, ignore_errors=True)
        (beside / "tmp").mkdir(parents=True)
        prepared = reference.inputs.prepared / name
        if prepared.exists():
            shutil.copytree(prepared, place)
        else:
            place.mkdir(parents=True)
        if name == "refresh":
            configure(place, reference.inputs.url)

    def start(self, plan: dict[str, object] | None) -> subprocess.Popen[bytes]:
        """Starts the command; what it prints is added to a file."""
        words = COMMANDS[self._name].arguments(self._reference.inputs)
        own = {MARK: str(self.beside), "TMPDIR": str(self.beside / "tmp"), "PYTHONPATH": str(ROOT)}
        if plan:
            own |= {VARIABLE: json.dumps(plan), "PYTHONPATH": f"{HOOK}{os.pathsep}{ROOT}"}
        with (self.beside / "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "corpusmill", *words],
                cwd=self.place,
                env=os.environ | own,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def errors(self) -> str:
        """Returns the output."""
        return (self.beside / "log").read_text("utf-8", "replace")

    def left_in_tmp(self) -> list[str]:
        """Returns the names in TMPDIR."""
        return sorted(path.name for path in (self.beside / "tmp").iterdir())

    def alive(self) -> list[int]:
        """The processes of the case that have not ended."""
        wanted = f"{MARK}={self.beside}".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if wanted in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
        return found


def run_case(case: Case, reference: Reference, folder: Path) -> Outcome:
    """Kills, looks, and runs again. The folder stays after a fault."""
    shutil.rmtree(folder, ignore_errors=True)
    run = Run(case.command, reference, folder / "place", folder / "beside")
    faults: list[str] = []
    killed_at, status = kill(case, run, reference.seconds[case.command], faults)
    if not killed_at:
        return Outcome("", "", (NOT_REACHED,))
    gone = wait_for_all(case, run, killed_at, faults)
    look_at_output(case, run, reference, status, faults)
    is_there = any(name.endswith("/COMPLETED") for name in tree_of(run.place))
    process = run.start(None)
    again = wait(process)
    if again is None:
        process.kill()
        faults.append("differs: the second run hangs")
    printed = run.errors()
    if "Traceback" in printed or "Exception ignored" in printed:
        faults.append("traceback")
    refused = again == 1 and is_there and "contains a finished build" in printed
    if again is not None and again != reference.statuses[case.command] and not refused:
        faults.append(f"differs: the second run ends with {again}")
    compare(run, reference.trees[case.command], faults)
    if not faults:
        shutil.rmtree(folder)
    return Outcome(f"{status}, {gone:.1f} s", str(again), tuple(faults))


def kill(case: Case, run: Run, seconds: float, faults: list[str]) -> tuple[float, int | None]:
    """When the signal was sent, 0.0 for never, and the exit status of the command."""
    at = case.at or Point("", "", "", "", "", ())
    whom = {"folder": str(run.beside), "victim": case.victim, "signal": case.signal}
    process = run.start(at._asdict() | whom)
    if case.at is None and not kill_at_random(case, run, process, seconds):
        wait(process)
        return 0.0, None
    status = wait(process)
    if status is None:
        faults.append("alive: the command hangs")
        process.kill()
        process.wait()
    reached = run.beside / "reached"
    if not reached.exists():
        return 0.0, status
    killed_at = float(json.loads(reached.read_text())["time"])
    if case.victim == LAUNCHER and time.time() - killed_at > GONE_SECONDS and status is not None:
        faults.append(f"alive: the launcher took {time.time() - killed_at:.0f} s")
    if case.victim != LAUNCHER and status and not _REASON.search(run.errors()):
        faults.append("traceback: there is no line that says why it ends")
    return killed_at, status


_REASON = re.compile(r"(corpusmill: error|wiki40b-uk: failed): .*process .*was killed by SIG")


def wait(process: subprocess.Popen[bytes]) -> int | None:
    """The exit status; None where the process does not end."""
    try:
        return process.wait(LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        return None


def kill_at_random(case: Case, run: Run, process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Waits, and sends the signal as soon as there is a victim; False where there is none any more."""
    time.sleep(case.share * seconds)
    while process.poll() is None:
        victim = victim_of(case, run, process)
        if victim:
            content = json.dumps({"time": time.time(), "victims": [victim]})
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, case.signal)
                (run.beside / "reached").write_text(content)
                return True
        time.sleep(0.02)
    return False


def victim_of(case: Case, run: Run, process: subprocess.Popen[bytes]) -> int:
    """A process of the kind, 0 for none."""
    if case.victim == LAUNCHER:
        return process.pid
    servers = [pid for pid in children_of(process.pid) if b"fork_server" in command_of(pid)]
    if case.victim == WORKER:
        servers = [pid for server in servers for pid in children_of(server)]
    return servers[0] if servers else 0


def wait_for_all(case: Case, run: Run, killed_at: float, faults: list[str]) -> float:
    """Waits for the end of all processes; returns the seconds from the signal to it."""
    start = killed_at if case.victim == LAUNCHER else time.time()
    while (pids := run.alive()) and time.time() < start + GONE_SECONDS:
        time.sleep(0.05)
    gone = time.time() - killed_at
    if pids:
        commands = Counter(map(name_of, pids))
        faults.append(f"alive: {', '.join(f'{n} {name}' for name, n in commands.items())}")
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.5)
    return gone


def name_of(pid: int) -> str:
    """launcher, fork server or worker, or the command itself; "" of a process that has ended."""
    command = command_of(pid).replace(b"\0", b" ").decode("utf-8", "replace")
    if "fork_server" in command:
        return "fork server or worker"
    return "launcher" if "-m corpusmill" in command else command[:40]


def look_at_output(
    case: Case, run: Run, reference: Reference, status: int | None, faults: list[str]
) -> None:
    """Adds faults of output that looks finished and is not, and of a command that reports success wrongly."""
    tree, whole = tree_of(run.place), reference.trees[case.command]
    known = finished_units(whole), finished_units(reference.before(case.command))
    for unit, files in finished_units(tree).items():
        if files not in (units.get(unit) for units in known):
            faults.append(f"finished: {unit}")
    if status == 0 and tree != whole:
        faults.append("finished: exit status 0")


def compare(run: Run, whole: dict[str, bytes], faults: list[str]) -> None:
    """After the second run."""
    tree = tree_of(run.place)
    missing = [name for name in whole if name not in tree]
    changed = [name for name in whole if name in tree and tree[name] != whole[name]]
    if missing or changed:
        faults.append(f"differs: {' '.join((missing + changed)[:3])}")
    more = [name for name in tree if name not in whole]
    if more := [*more, *(f"TMPDIR/{name}" for name in run.left_in_tmp())]:
        faults.append(f"left: {' '.join(more[:3])}")
