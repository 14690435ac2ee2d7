"""Points at which tests/tools/kills.py ends a process, and the commands that it ends there.

A point is a step of a process: a call that changes files, found by Python's audit events (and os.fsync, which
has none), or the begin or end of a function where processes hand over to each other. The signal comes before
the step.
"""

from pathlib import Path
from typing import NamedTuple

LAUNCHER, WORKER, SERVER = "launcher", "worker", "fork server"


class Point(NamedTuple):
    """A point, and what is ended there."""

    name: str  # "COMPLETED: rename"
    at: str  # the process that reaches it
    victim: str  # the process that gets the signal
    step: str  # an audit event, "call" or "return"
    what: str
    """Of files: a pattern of their names, "old -> new" of a renaming. Else "module:function"."""
    commands: tuple[str, ...]  # names in kill_commands.COMMANDS
    occurrence: int = 1  # of the process


def _read_points() -> tuple[Point, ...]:
    """Reads kill_points.tsv, whose columns are the fields of a point, in their order."""
    _, *lines = Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines()
    cells = (line.split("\t") for line in lines)
    return tuple(Point(*rest, tuple(names.split(", ")), int(nth)) for *rest, names, nth in cells)


POINTS = _read_points()
