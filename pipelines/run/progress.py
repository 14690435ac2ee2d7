"""Displays the progress of a running build."""

import contextlib
import functools
import json
import logging
import os
import pathlib
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from corpusmill.pipelines.run.estimates import Doing, Estimate, describe_counts, describe_seconds
from corpusmill.transforms.files import counters
from corpusmill.transforms.files.side_thread import beside
from corpusmill.transforms.files.terminal import new_console

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
    transforms/files/counters.py).

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
    folder = os.environ.get(counters.PROGRESS_DIR)
    if folder:
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
    folder = os.environ.get(counters.PROGRESS_DIR)
    if folder:
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
    head = next(
        (
            one
            for one in (f"{stage}{doing.step}", doing.step)
            if len(one) + len(counts) + 4 <= width
        ),
        "",
    )
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
