"""Counts events with Beam counters, and in local files that can be read while the job runs.

The in-process runner reports its Beam counters only at the end. If the environment variable
CORPUSMILL_PROGRESS_DIR names a folder, each worker process also writes its counts to a file in that folder.

Handles damaged input: raises errors that name the position, or counts and logs the skipped bytes.

Splits elements into kept and rejected. Each rejection is counted and has a reason.
"""

import collections
import contextlib
import functools
import json
import logging
import operator
import os
import pathlib
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.metrics import Metrics
from apache_beam.metrics.metricbase import Counter

from .distribution import transform
from .read_files import InputError
from .records import Page, Reason, Rejected

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


def damage_error(path: str, start: int, end: int, message: str, note: str = "") -> InputError:
    """Returns an error for the damaged bytes from `start` to `end` of a file.

    `note` is appended to the message.
    """
    where = f"; the data are damaged up to byte {end}" if end > start else ""
    return InputError(path, f"{message}{where}{note}", start)


class LostBytes(NamedTuple):
    """A part of a dump that was skipped because it is damaged (on_corrupt="keep-good")."""

    name: str  # name of the file
    start: int  # offset in the stored file, or in the XML if the compression has no entry points
    end: int
    message: str
    pages_lost: int = -1  # from the multistream index; -1 if unknown
    last_page: str = ""  # the last undamaged page before the part: "12 Anarchism"
    unit: str = ""  # unit of `pages_lost`, such as "pages"; "" for the unit that the build reads


def tell_lost(stage: str, lost: LostBytes) -> beam.pvalue.TaggedOutput:
    """Converts lost bytes to an element of the output "lost".

    Counts them under `<stage>/damages`, and logs them.
    """
    count(stage, "damages")
    logging.getLogger(__name__).warning("lost: %s", lost)
    return beam.pvalue.TaggedOutput("lost", lost)


class Screened(NamedTuple):
    """The outputs of a screening: kept elements and rejections. Each input element is in one of them."""

    kept: beam.PCollection
    rejected: beam.PCollection  # of Rejected


@transform
def KeepAll(elements: beam.PCollection) -> Screened:
    """Keeps all elements. PCollection → Screened. It replaces a screening that is switched off."""
    return Screened(elements, elements.pipeline | beam.Create([]))


@transform
def ScreenPages(
    pages: beam.PCollection,
    reason_to_reject: Callable[..., Reason | None],
    *sides: beam.pvalue.AsSideInput,
    stage: str = "screen-pages",
    of: Any = Page,
    named: Callable[[Any], tuple[int | str, str]] = operator.attrgetter("page_id", "title"),
) -> Screened:
    """Applies a rule `reason_to_reject(page, *sides)` to each page. PCollection[Page] → Screened.

    The rule returns a Reason to reject the page, or None to keep it.

    Args:
      sides: side inputs for the rule.
      stage: name of this step of the build, which is recorded in each rejection.
      of: type of the elements.
      named: function from an element to its id and title; by default, they are fields of the element.
    """
    screen = beam.FlatMap(_screen, stage, named, reason_to_reject, *sides)
    split = pages | screen.with_output_types(of).with_outputs("rejected", main="kept")
    return Screened(split.kept, split.rejected)


def _screen(
    page: Any,
    stage: str,
    named: Callable[[Any], tuple[int | str, str]],
    reason_to_reject: Callable[..., Reason | None],
    *sides: Any,
) -> Iterable[Any]:
    if (reason := reason_to_reject(page, *sides)) is None:
        yield page
    else:
        yield reject(*named(page), stage, reason)


def reject(page_id: int | str, title: str, stage: str, reason: Reason) -> beam.pvalue.TaggedOutput:
    """Returns a rejection as an element of the output "rejected", and counts it under `<stage>/<reason>`."""
    count(stage, reason.slug)
    rejected = Rejected(str(page_id), title, stage, reason.slug, reason.detail)
    return beam.pvalue.TaggedOutput("rejected", rejected)
