"""Counts events with Beam counters, and in local files that can be read while the job runs.

The in-process runner reports its Beam counters only at the end. If the environment variable
CORPUSMILL_PROGRESS_DIR names a folder, each worker process also writes its counts to a file in that folder.
"""

import collections
import contextlib
import functools
import json
import os
import pathlib
import threading
import time
from collections.abc import Mapping

from apache_beam.metrics import Metrics
from apache_beam.metrics.metricbase import Counter

NAMESPACE = "corpusmill"
PROGRESS_DIR = "CORPUSMILL_PROGRESS_DIR"
WRITE_EVERY_SECONDS = 0.5

_lock = threading.RLock()  # counts may be added by a generator that a garbage collection closes
_tally: collections.Counter[str] = collections.Counter()
_tally_folder = ""
_last_written = 0.0
_is_due = False  # True if a thread will write the latest counts


def count(stage: str, what: str, amount: int = 1) -> None:
    """Adds `amount` to the counter `<stage>/<what>`."""
    name = f"{stage}/{what}"
    _counter(name).inc(amount)
    if folder := os.environ.get(PROGRESS_DIR):
        _add_to_tally(folder, name, amount)


def count_all(stage: str, amounts: Mapping[str, int]) -> None:
    """Adds each of `amounts` to the counter `<stage>/<its key>`."""
    for what, amount in amounts.items():
        count(stage, what, amount)


@functools.cache
def _counter(name: str) -> Counter:
    """Returns a Beam counter. Counters are cached, because creating one takes half of the time of counting.

    One counter can be used in several steps, because it determines the current step itself.
    """
    counter: Counter = Metrics.counter(NAMESPACE, name)
    return counter


def flush() -> None:
    """Writes the counts of this process to its file immediately.

    Call it in steps that count only once, so that the progress display shows the count without delay.
    """
    if PROGRESS_DIR in os.environ:
        with _lock:
            _write_tally()


def read_tallies(folder: pathlib.Path) -> collections.Counter[str]:
    """Returns counter name → sum of the counts that all worker processes have written to `folder`."""
    total: collections.Counter[str] = collections.Counter()
    for path in folder.glob("*.json"):
        total.update(json.loads(path.read_text("utf-8")))
    return total


def _add_to_tally(folder: str, name: str, amount: int) -> None:
    global _tally_folder, _is_due
    with _lock:
        if folder != _tally_folder:  # a new job in the same process
            _tally_folder = folder
            _tally.clear()
        _tally[name] += amount
        if time.monotonic() - _last_written >= WRITE_EVERY_SECONDS:
            _write_tally()
        elif not _is_due:  # start a timer, because the process may count nothing more
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
    if not _tally_folder or not folder.is_dir():  # the job is over
        return
    written = folder / f"{os.getpid()}.tmp"
    with contextlib.suppress(OSError):  # a full disk must not stop the build
        written.write_text(json.dumps(_tally), "utf-8")
        written.rename(folder / f"{os.getpid()}.json")
