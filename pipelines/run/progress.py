"""Displays the progress of a running build.

Estimates the progress of a running build and the time left.

The relative costs of the steps are in steps.toml. The speed of the machine and the amount of work are
measured while the build runs.
"""

import contextlib
import functools
import json
import logging
import math
import os
import pathlib
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.markup import read_toml
from corpusmill.transforms.files.terminal import new_console
from corpusmill.transforms.files.write_files import beside

INPUT = "input"
STEADY_SECONDS = 3.0
"""When the speed in steps.toml is averaged with the measured speed, it counts like this many seconds of
work.
"""
STEADY_SHARE = 0.15
"""When the expected speed of a step is averaged with the speed measured in that step, it counts like this
share of the step.
"""
OVERDUE = 0.2
"""If the progress of a step is unknown, its time left is at least this share of the time already spent in
it.
"""
FADING = 0.8
"""When the measured speeds of steps are averaged, the weight of each step is this fraction of the weight of
the next step. Older measurements count less, because the speed of the machine may change.
"""
LEAST_SECONDS = 1.0
"""Minimum of the time left that is displayed, in seconds."""
TOLD_FROM = 0.03
"""No estimate is displayed before this share of the build is done."""


class Step(NamedTuple):
    """A step of a build and its cost: an entry of steps.toml, where the fields are documented."""

    stage: str
    step: str
    done: str = ""
    begun: str = ""
    total: Sequence[str] = ()
    unit: str = ""
    beside: str = ""
    fixed: float = 0.0
    cost: float = 0.0
    per: str = ""
    expect: float = 0.0
    most: str = ""
    each: float = 0.0
    serial: bool = False
    when: str = ""


class Doing(NamedTuple):
    """The current step of a build, and its progress."""

    stage: str
    step: str
    number: int  # number of the stage
    stages: int
    done: int  # number of units that are done
    total: int  # number of all units; 0 if unknown
    unit: str  # name of the units; "" if nothing is counted
    beside: str  # a second count, such as "1,234 pages"
    share: float  # finished share of the step, 0 to 1; 0 if unknown
    seconds: float  # since the step began
    left: float | None  # seconds until the end of the build; None if unknown


def find_steps(corpus: str, stages: Sequence[str], settings: Any = None) -> list[Step]:
    """Returns the steps of the given stages, as listed in steps.toml. If a corpus is not listed there, each
    of its stages is one step.

    Args:
      settings: The settings of the corpus, which determine which steps run.
    """
    table = read_toml(__package__, "steps.toml").get(corpus) or {stages[0]: [_READING]}
    steps = []
    for stage in stages:
        rows = [Step(stage, **row) for row in table.get(stage, [_WORKING])]
        steps += [row for row in rows if _is_wanted(row.when, settings)]
    return steps


_READ = "*/dump_bytes"  # counter of the bytes of input that any stage has read
_READING: Mapping[str, Any] = {
    "step": "reading",
    "done": _READ,
    "total": [INPUT],
    "unit": "bytes of the input",
    "fixed": 5.0,
    "expect": 1.0,
    "cost": 0.1,
}
_WORKING: Mapping[str, Any] = {"step": "working", "fixed": 5.0}


def _is_wanted(when: str, settings: Any) -> bool:
    name, _, value = when.lstrip("!").partition("=")
    if not name:
        return True
    found = getattr(settings, name, None)
    return (str(found) == value if value else bool(found)) != when.startswith("!")


class Estimate:
    """Estimates the progress of a build from the counts that its workers report.

    Args:
      steps: All steps of the build, in order.
      total_bytes: The size of the input in bytes.
      workers: The number of worker processes.
      settings: The settings of the corpus.
    """

    def __init__(
        self, steps: Sequence[Step], total_bytes: int, workers: int = 1, settings: Any = None
    ):
        self._steps = steps
        self._stages = list(dict.fromkeys(step.stage for step in steps))
        self._bytes = 0 if getattr(settings, "limit", 0) else total_bytes  # unknown with a limit
        self._workers = workers
        self._settings = settings
        self._now = 0  # index of the current step
        self._begun = 0.0  # second at which the current step began
        self._before: Mapping[str, int] = {}  # counts when the current step began
        self._took: dict[int, float] = {}  # index → seconds of the steps that this run has finished
        # steps that have ended since the last call, seconds
        self._ended: list[tuple[int, float]] = []
        self._seen: set[str] = set()  # stages that this run executes
        self._counts: Mapping[str, int] = {}

    def update(
        self, counts: Mapping[str, int], stage: str, seconds: float
    ) -> list[tuple[str, float]]:
        """Updates the estimate. Returns a pair (log line, duration in seconds) for each step that had ended
        at the previous call.

        A step is reported one call after its end, because its last counts may arrive late.

        Args:
          counts: Name of a counter → its sum over all workers.
          stage: The running stage; "" before the first stage.
          seconds: Seconds since the build began.
        """
        read = sum(count for name, count in counts.items() if name.endswith("/dump_bytes"))
        self._counts = counts = {**counts, _READ: read}
        self._seen.add(stage)
        ended = [(self._describe(step, took), took) for step, took in self._ended]
        self._ended = []
        found = self._find(stage)
        if found != self._now:
            if self._counts.get(self._steps[self._now].done):
                self._ended.append((self._now, seconds - self._begun))
            between = range(self._now, found)
            self._took |= {one: 0.0 for one in between if self._steps[one].stage in self._seen}
            self._took[self._now] = seconds - self._begun
            self._now, self._begun, self._before = found, seconds, dict(counts)
        return ended

    def _find(self, stage: str) -> int:
        """Returns the index of the step that is running, given the name of the running stage."""
        own = [index for index, step in enumerate(self._steps) if step.stage == stage]
        if not own:
            return self._now
        names = {index: (self._steps[index].done, self._steps[index].begun) for index in own}
        begun = [index for index in own if any(map(self._counts.get, names[index]))]
        last = max(begun, default=own[0])
        is_done = last in begun and self._share(last) >= 1
        if is_done and last + 1 in own and not self._steps[last + 1].done:
            last += 1
        return max(last, self._now)

    def _share(self, index: int) -> float:
        """Returns the share of a step that is finished, from 0 to 1; 0 if it is unknown.

        Args:
          index: The index of the step in the list of steps.
        """
        total = self._total(index)
        return min(self._counts.get(self._steps[index].done, 0) / total, 1.0) if total else 0.0

    def _total(self, index: int) -> int:
        for name in self._steps[index].total:
            if known := self._known(name):
                return known
        return 0

    def _known(self, name: str) -> int:
        if name == INPUT:
            return self._bytes
        name, _, less = name.partition(" - ")
        known = self._counts.get(name, 0) or int(getattr(self._settings, name, 0) or 0)
        return max(known - self._counts.get(less, 0), 0)

    # Time.

    def _model(self, index: int) -> float:
        """Returns the number of seconds that a step would take if this machine had the speed in steps.toml.

        Args:
          index: The index of the step in the list of steps.
        """
        step = self._steps[index]
        size = self._size(step.per or step.done, step.expect) / 1e6
        if step.most:
            most = float(getattr(self._settings, step.most, 0) or math.inf)
            size = min(size, (step.each * math.sqrt(most) if step.each else most) / 1e6)
        return step.fixed + step.cost * size / (1 if step.serial else self._workers)

    def _size(self, name: str, expect: float) -> float:
        """Returns the value that a counter is expected to have at the end of the build.

        Args:
          name: The name of the counter.
          expect: The expected value per byte of input. It is used if nothing was counted yet.
        """
        if name == INPUT:
            return self._bytes
        count, share = self._counts.get(name, 0), self._share(self._now)
        before = self._before.get(name, 0)
        if count > before and 0 < share < 1:
            return before + (count - before) / share
        return count or expect * self._bytes

    def doing(self, seconds: float) -> Doing:
        """Returns what the build is doing, `seconds` after it began."""
        step, since = self._steps[self._now], seconds - self._begun
        return Doing(
            stage=step.stage,
            step=step.step,
            number=self._stages.index(step.stage) + 1,
            stages=len(self._stages),
            done=self._counts.get(step.done, 0),
            total=self._total(self._now),
            unit=step.unit,
            beside=self._beside(step),
            share=self._share(self._now),
            seconds=since,
            left=self._left(seconds, since),
        )

    def _left(self, seconds: float, since: float) -> float | None:
        now, share = self._now, self._share(self._now)
        weights = {index: FADING ** (now - index - 1) for index in self._took}
        modelled = sum(weight * self._model(index) for index, weight in weights.items())
        taken = sum(weight * self._took[index] for index, weight in weights.items())
        speed = (taken + STEADY_SECONDS) / (modelled + STEADY_SECONDS)
        model = self._model(now)
        expected = speed * model
        if share:  # counting begins after the fixed part of the step
            fixed = min(self._steps[now].fixed, model)
            share = (fixed + share * (model - fixed)) / (model or 1.0)
        if share:
            whole = (since + STEADY_SHARE * expected) / (share + STEADY_SHARE)
        else:
            whole = max(expected, (1 + OVERDUE) * since)
        if share or since > expected:
            done = (share or 1.0) * model
            speed = (taken + since + STEADY_SECONDS) / (modelled + done + STEADY_SECONDS)
        later = sum(self._model(index) for index in range(now + 1, len(self._steps)))
        left = max(whole - since + speed * later, LEAST_SECONDS)
        is_known = seconds / (seconds + left or 1) >= TOLD_FROM and any(self._counts.values())
        return left if is_known else None

    # Descriptions as text.

    def _describe(self, index: int, seconds: float) -> str:
        """Returns the log line about a finished step, which took `seconds`."""
        step = self._steps[index]
        counted = [_amount(self._counts.get(step.done, 0), 0, step.unit), self._beside(step)]
        return f"{step.stage}: {step.step}: {', '.join(filter(None, counted))}, {seconds:.0f} s"

    def _beside(self, step: Step) -> str:
        name, _, unit = step.beside.partition(" ")
        return f"{self._counts.get(name, 0):,} {unit}" if name else ""


def describe_counts(doing: Doing) -> str:
    """Returns the progress of a step in its unit, such as "245 of 509 pages"; "" if nothing is counted."""
    if not doing.unit:
        return ""
    if not doing.done and doing.total:  # its progress cannot be seen
        return _amount(doing.total, 0, doing.unit)
    counted = _amount(doing.done, doing.total, doing.unit)
    return f"{counted}, {doing.beside}" if doing.beside else counted


def _amount(done: int, total: int, unit: str) -> str:
    kind, _, of_what = unit.partition(" ")
    if kind == "bytes":
        of = f" of {total / 1e6:,.1f}" if total else ""
        return f"{done / 1e6:,.1f}{of} MB {of_what}"
    of = f" of {total:,}" if total else ""
    return f"{done:,}{of} {unit}"


def describe_seconds(seconds: float) -> str:
    """Returns a duration in the format of a clock: "0:59", "1:02:03"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


REDRAW_SECONDS = 0.5
LOG_SECONDS = 30.0
TOLD_SECONDS = 2.0  # the end of a shorter step is not logged
LEAST_BAR = 8  # columns; in less space, no bar is drawn
MOST_BAR = 40
STAGE = "stage"  # file in the display's folder with the name of the running stage


@contextlib.contextmanager
def shown(label: str, estimate: Estimate) -> Iterator[None]:
    """Displays the progress of a build during the `with` block.

    In a terminal, the display is updated in place; otherwise, the progress is logged. If logging is off,
    nothing is displayed. Workers on this machine report their counts in a folder (see
    counters.py).

    Args:
      label: The name of the build in the display.
      estimate: Computes the progress and the time left from the counts of the workers.
    """
    # A worker may still write counts while the folder is removed; its parent folder is removed
    # later.
    with tempfile.TemporaryDirectory(
        prefix="corpusmill-progress-", ignore_cleanup_errors=True
    ) as folder:
        os.environ[counters.PROGRESS_DIR] = folder
        try:
            with beside(functools.partial(_watch, label, estimate, pathlib.Path(folder))):
                yield
        finally:
            del os.environ[counters.PROGRESS_DIR]


def enter_stage(name: str) -> None:
    """Records which stage is running, for the display."""
    if folder := os.environ.get(counters.PROGRESS_DIR):
        with contextlib.suppress(OSError):  # a full disk only affects the display
            pathlib.Path(folder, STAGE).write_text(name, "utf-8")


def counts_so_far() -> Counter[str]:
    """Returns the counts of all workers since the display began; empty if nothing is displayed."""
    folder = os.environ.get(counters.PROGRESS_DIR)
    return counters.read_tallies(pathlib.Path(folder)) if folder else Counter()


def add_counts(name: str, counts: Mapping[str, int]) -> None:
    """Adds counts to the displayed counts, for a stage that was finished by an earlier run.

    Args:
      name: A unique name for the added counts.
      counts: Name of a counter → its sum in this stage.
    """
    if folder := os.environ.get(counters.PROGRESS_DIR):
        written = pathlib.Path(folder, f"{name}.tmp")
        with contextlib.suppress(OSError):
            written.write_text(json.dumps(counts), "utf-8")
            written.rename(pathlib.Path(folder, f"{name}.json"))


def _watch(label: str, estimate: Estimate, folder: pathlib.Path, is_over: threading.Event) -> None:
    logger = logging.getLogger(__name__)
    console = new_console(stderr=True)
    is_drawn = console.is_terminal and logger.isEnabledFor(logging.INFO)
    start = time.monotonic()
    with _draw(console, label) if is_drawn else _log(label) as update:
        while not is_over.wait(REDRAW_SECONDS):
            seconds = time.monotonic() - start
            for what, took in estimate.update(
                counters.read_tallies(folder), _stage_of(folder), seconds
            ):
                if took >= TOLD_SECONDS:
                    logger.info("%s", what)
            update(estimate.doing(seconds), seconds)


def _stage_of(folder: pathlib.Path) -> str:
    try:
        return (folder / STAGE).read_text("utf-8")
    except FileNotFoundError:
        return ""


@contextlib.contextmanager
def _draw(console: Console, label: str) -> Iterator[Callable[[Doing, float], None]]:
    """Yields a function that displays the progress in a terminal.

    The arguments of the function are the current step, and the seconds since the build began. The displayed
    lines are erased at the end of the `with` block.
    """
    first = Text(f"{label}: starting", no_wrap=True, overflow="ellipsis")
    with Live(first, console=console, auto_refresh=False, transient=True) as live:

        def update(doing: Doing, seconds: float) -> None:
            width = live.console.width
            live.update(Group(*draw_lines(label, doing, seconds, width)), refresh=True)

        yield update


def draw_lines(label: str, doing: Doing, seconds: float, width: int) -> list[RenderableType]:
    """Returns two or three lines about a build and its current step, for a screen of `width` columns.

    Labels may be truncated or left out, but numbers are always complete.

    Args:
      label: The name of the build.
      doing: The current step.
      seconds: Seconds since the build began.
      width: The number of columns of the screen.
    """
    clock = _clock(doing, seconds)
    room = width - len(clock) - 2
    name = label if len(label) <= room else f"{label[: max(room - 1, 0)]}…"
    lines: list[RenderableType] = [Text(f"{name}  {clock}")]
    counts = describe_counts(doing)
    stage = f"{doing.number}/{doing.stages} {doing.stage}: " if doing.stages > 1 else ""
    names = f"{stage}{doing.step}", doing.step, ""
    head = next(one for one in names if len(one) + len(counts) + 4 <= width or not one)
    bar = min(width - len(head) - len(counts) - 6, MOST_BAR)
    line = Table.grid(padding=(0, 2, 0, 0))
    cells: list[RenderableType] = [Text(head or doing.step, no_wrap=True, overflow="ellipsis")]
    if doing.share and bar >= LEAST_BAR:
        cells.append(ProgressBar(total=1.0, completed=doing.share, width=bar))
    if counts and head:
        cells.append(Text(counts, no_wrap=True))
    line.add_row(*cells)
    lines.append(line)
    if counts and not head:
        lines.append(Text(counts))
    return lines


def _clock(doing: Doing, seconds: float) -> str:
    passed = describe_seconds(seconds)
    if doing.left is None:
        return passed
    percent = min(99, int(100 * seconds / (seconds + doing.left or 1)))
    return f"{passed}, about {describe_seconds(doing.left)} left, {percent} %"


@contextlib.contextmanager
def _log(label: str) -> Iterator[Callable[[Doing, float], None]]:
    logger = logging.getLogger(__name__)
    due = LOG_SECONDS

    def update(doing: Doing, seconds: float) -> None:
        nonlocal due
        if seconds < due:
            return
        due = seconds + LOG_SECONDS
        counts = describe_counts(doing)
        step = f"{doing.step}: {counts}" if counts else doing.step
        logger.info("%s: %s: %s; %s", label, doing.stage, step, _clock(doing, seconds))

    yield update
