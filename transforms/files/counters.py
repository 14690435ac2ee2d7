"""Counting what happens: Beam counters, and a tally on disk that can be read while the job runs.

The in-process runner reports its counters only at the end. Where the environment names a folder in
CORPUSMILL_PROGRESS_DIR, each worker process therefore keeps its tally there, in a file of its own.
"""

import collections
import contextlib
import functools
import json
import os
import pathlib
import threading
import time

from apache_beam.metrics import Metrics
from apache_beam.metrics.metricbase import Counter

NAMESPACE = "corpusmill"
PROGRESS_DIR = "CORPUSMILL_PROGRESS_DIR"
WRITE_EVERY_SECONDS = 0.5

_lock = threading.Lock()
_tally: collections.Counter[str] = collections.Counter()
_tally_folder = ""
_last_written = 0.0
_is_due = False  # whether a thread will write what was counted last


def count(stage: str, what: str, amount: int = 1) -> None:
    """Adds to the counter `<stage>/<what>`."""
    name = f"{stage}/{what}"
    _counter(name).inc(amount)
    if PROGRESS_DIR in os.environ:
        _add_to_tally(name, amount)


@functools.cache
def _counter(name: str) -> Counter:
    """A counter of Beam's, which finds out by itself whose step counts. Making one takes half of the time."""
    counter: Counter = Metrics.counter(NAMESPACE, name)
    return counter


def flush() -> None:
    """Writes the tally now, not after a while: for steps that count once."""
    if PROGRESS_DIR in os.environ:
        with _lock:
            _write_tally()


def read_tallies(folder: pathlib.Path) -> collections.Counter[str]:
    """The sum of what all worker processes have written."""
    total: collections.Counter[str] = collections.Counter()
    for path in folder.glob("*.json"):
        total.update(json.loads(path.read_text("utf-8")))
    return total


def _add_to_tally(name: str, amount: int) -> None:
    global _tally_folder, _is_due
    with _lock:
        if os.environ[PROGRESS_DIR] != _tally_folder:  # the next job in the same process
            _tally_folder = os.environ[PROGRESS_DIR]
            _tally.clear()
        _tally[name] += amount
        if time.monotonic() - _last_written >= WRITE_EVERY_SECONDS:
            _write_tally()
        elif not _is_due:  # the process may be idle after this
            _is_due = True
            late = threading.Timer(WRITE_EVERY_SECONDS, _write_late)
            late.daemon = True
            late.start()


def _write_late() -> None:
    global _is_due
    with _lock:
        _is_due = False
        if os.environ.get(PROGRESS_DIR) == _tally_folder:  # else the job is over
            _write_tally()


def _write_tally() -> None:
    global _last_written
    folder = pathlib.Path(_tally_folder)
    _last_written = time.monotonic()
    if not _tally_folder or not folder.is_dir():  # the job that asked for it is over
        return
    written = folder / f"{os.getpid()}.tmp"
    with contextlib.suppress(OSError):  # of a full disk: a build needs no display
        written.write_text(json.dumps(_tally), "utf-8")
        written.rename(folder / f"{os.getpid()}.json")
