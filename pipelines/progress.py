"""What a person sees while a build runs, and at its end."""

import contextlib
import logging
import os
import pathlib
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from transforms import counters
from transforms.list_unrendered import NAME as UNRENDERED

REDRAW_SECONDS = 0.5
LOG_SECONDS = 30.0
LOG_COLUMNS = 100
NEEDED_COLUMNS = 85  # by all but the bar
_READING = ("read-templates", "read-dump")
_REJECTING = ("screen-pages", "clean-wikitext", "join-wikidata", "identify-by-page")
_KEPT = ("cleaned", "linked", "unrendered")


class Tally:
    """Counters `<stage>/<what>` of a running job, summed up for display."""

    def __init__(self, counts: Mapping[str, int], seconds: float):
        self.dump_bytes = sum(counts.get(f"{stage}/dump_bytes", 0) for stage in _READING)
        self.looked_at = counts.get("read-templates/pages", 0)
        self.pages = counts.get("read-dump/pages", 0)
        self.written = counts.get("write-corpus/articles", 0)
        self.rejected = counts.get("read-dump/malformed-xml", 0) + sum(
            count for name, count in counts.items() if _is_rejection(*name.split("/", 1))
        )
        xml_bytes = sum(counts.get(f"{stage}/xml_bytes", 0) for stage in _READING)
        self.megabytes_per_second = xml_bytes / 1e6 / max(seconds, 1e-9)

    def describe(self, total_bytes: int) -> str:
        """The counts in words: of reading, and once all is read, of writing."""
        kept = self.pages - self.rejected
        if self.dump_bytes >= total_bytes:
            return f"joining, writing: {self.written:,} of {kept:,} articles"
        speed = f"{self.megabytes_per_second:.1f} MB/s"
        if not self.pages and self.looked_at:
            return f"templates of {self.looked_at:,} pages {speed}"
        return f"{self.pages:,} pages: {kept:,} kept {self.rejected:,} rejected {speed}"


def _is_rejection(stage: str, what: str) -> bool:
    return stage in _REJECTING and what not in _KEPT


@contextlib.contextmanager
def shown(label: str, total_bytes: int) -> Iterator[None]:
    """Shows the progress of what runs inside the block: a live line at a terminal, else log lines.

    The workers of this machine tell it through a folder (see transforms/counters.py).
    """
    with tempfile.TemporaryDirectory(prefix="corpusmill-progress-") as folder:
        os.environ[counters.PROGRESS_DIR] = folder
        stop = threading.Event()
        arguments = (label, total_bytes, pathlib.Path(folder), stop)
        watcher = threading.Thread(target=_watch, args=arguments, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            stop.set()
            watcher.join()
            del os.environ[counters.PROGRESS_DIR]


def _watch(label: str, total_bytes: int, folder: pathlib.Path, stop: threading.Event) -> None:
    console = Console(stderr=True)
    show = _draw(console, label, total_bytes) if console.is_terminal else _log(label, total_bytes)
    with show as update:
        start = time.monotonic()
        while not stop.wait(REDRAW_SECONDS):
            seconds = time.monotonic() - start
            update(Tally(counters.read_tallies(folder), seconds), seconds)


@contextlib.contextmanager
def _draw(
    console: Console, label: str, total_bytes: int
) -> Iterator[Callable[[Tally, float], None]]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=max(console.width - NEEDED_COLUMNS, 1)),
        TextColumn("{task.percentage:.0f}%"),
        TimeElapsedColumn(),
        TextColumn("+"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[tally]}"),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(label, total=total_bytes, tally="starting workers")

        def update(tally: Tally, _: float) -> None:
            bar.update(task, completed=tally.dump_bytes, tally=tally.describe(total_bytes))

        yield update


@contextlib.contextmanager
def _log(label: str, total_bytes: int) -> Iterator[Callable[[Tally, float], None]]:
    logger = logging.getLogger(__name__)
    due = LOG_SECONDS

    def update(tally: Tally, seconds: float) -> None:
        nonlocal due
        if seconds < due:
            return
        due = seconds + LOG_SECONDS
        share = tally.dump_bytes / max(total_bytes, 1)
        left = f", {seconds / share - seconds:.0f} s left" if 0 < share < 1 else ""
        counts = tally.describe(total_bytes)
        logger.info(
            "%s: %.0f %% of the dump, %.0f s%s, %s", label, 100 * share, seconds, left, counts
        )

    yield update


def print_summary(
    target: str, manifest: Mapping[str, Any], stats: Mapping[str, Any], seconds: float
) -> None:
    """The table at the end: what was kept and what was not, and where everything is."""
    console = Console()
    if not console.is_terminal:
        console.width = LOG_COLUMNS
    counts = Table(title=manifest["signature"], title_justify="left")
    counts.add_column("split", no_wrap=True)
    for column in stats["total"]:
        counts.add_column(column.replace("_", " "), justify="right", no_wrap=True)
    for split, values in stats.items():
        counts.add_row(
            split, *(f"{value:,}" for value in values.values()), end_section=split == "test"
        )
    console.print(counts)
    reasons = Table()
    reasons.add_column("not kept")
    reasons.add_column("pages", justify="right")
    for reason, pages in manifest["counts"]["rejected"].items():
        reasons.add_row(reason, f"{pages:,}")
    console.print(reasons)
    console.print(
        f"{manifest['counts']['pages_read']:,} pages read in {seconds:.1f} s", highlight=False
    )
    for line in _remarks(manifest):
        console.print(f"note: {line}", highlight=False, markup=False, soft_wrap=True)
    console.print(f"the build: {target}", highlight=False, markup=False, soft_wrap=True)


def _remarks(manifest: Mapping[str, Any]) -> Iterator[str]:
    yield from manifest["caveats"]
    unknown = manifest["counts"]["class_unknown"]
    if unknown:
        yield f"kept although the class of their entity is not known: {unknown:,} of the articles"
    for file in manifest["outputs"]:
        if file["name"] == UNRENDERED and file["records"]:
            yield (
                f"templates that left a hole in running text: {file['records']:,}, listed in {UNRENDERED};"
                " --templates tells how they show"
            )
    for lost in manifest["lost"]:
        pages = "an unknown number of" if lost["pages_lost"] < 0 else f"{lost['pages_lost']:,}"
        yield (
            f"lost: {lost['name']}, bytes {lost['start']} to {lost['end']}, {pages} pages:"
            f" {lost['message']}"
        )
