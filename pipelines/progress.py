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
    DownloadColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from transforms import counters

REDRAW_SECONDS = 0.5
LOG_SECONDS = 30.0
LOG_COLUMNS = 100
_REJECTING = ("screen-pages", "clean-wikitext", "join-wikidata", "identify-by-page")
_KEPT = ("cleaned", "linked", "identified")


class Tally:
    """Counters `<stage>/<what>` of a running job, summed up for display."""

    def __init__(self, counts: Mapping[str, int], seconds: float):
        self.dump_bytes = counts.get("read-dump/dump_bytes", 0)
        self.pages = counts.get("read-dump/pages", 0)
        self.cleaned = counts.get("clean-wikitext/cleaned", 0)
        self.written = counts.get("write-corpus/articles", 0)
        self.rejected = counts.get("read-dump/malformed-xml", 0) + sum(
            count for name, count in counts.items() if _is_rejection(*name.split("/", 1))
        )
        self.megabytes_per_second = counts.get("read-dump/xml_bytes", 0) / 1e6 / max(seconds, 1e-9)

    def __str__(self) -> str:
        return (
            f"{self.pages:,} pages read, {self.cleaned:,} cleaned, {self.rejected:,} rejected,"
            f" {self.written:,} written, {self.megabytes_per_second:.1f} MB/s of XML"
        )


def _is_rejection(stage: str, what: str) -> bool:
    return stage in _REJECTING and what not in _KEPT


@contextlib.contextmanager
def shown(
    label: str, total_bytes: int, live_counts: Callable[[], Mapping[str, int]] | None = None
) -> Iterator[None]:
    """Shows the progress of what runs inside the block: a live line at a terminal, else log lines.

    `live_counts` asks the runner; without it, workers on this machine tell through a folder.
    """
    with tempfile.TemporaryDirectory(prefix="corpusmill-progress-") as name:
        folder = pathlib.Path(name)
        os.environ[counters.PROGRESS_DIR] = name
        stop = threading.Event()
        ask = live_counts or (lambda: counters.read_tallies(folder))
        watcher = threading.Thread(target=_watch, args=(label, total_bytes, ask, stop), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            stop.set()
            watcher.join()
            del os.environ[counters.PROGRESS_DIR]


def _watch(
    label: str, total_bytes: int, ask: Callable[[], Mapping[str, int]], stop: threading.Event
) -> None:
    console = Console(stderr=True)
    if console.is_terminal:
        _draw(console, label, total_bytes, ask, stop)
    else:
        _log(label, total_bytes, ask, stop)


def _draw(
    console: Console,
    label: str,
    total_bytes: int,
    ask: Callable[[], Mapping[str, int]],
    stop: threading.Event,
) -> None:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        DownloadColumn(),
        TimeElapsedColumn(),
        TextColumn("elapsed,"),
        TimeRemainingColumn(),
        TextColumn("left | {task.fields[tally]}"),
    )
    start = time.monotonic()
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(label, total=total_bytes, tally="starting workers")
        while not stop.wait(REDRAW_SECONDS):
            tally = Tally(ask(), time.monotonic() - start)
            bar.update(task, completed=tally.dump_bytes, tally=_phase(tally, total_bytes))


def _log(
    label: str, total_bytes: int, ask: Callable[[], Mapping[str, int]], stop: threading.Event
) -> None:
    logger = logging.getLogger(__name__)
    start = time.monotonic()
    while not stop.wait(LOG_SECONDS):
        seconds = time.monotonic() - start
        tally = Tally(ask(), seconds)
        share = tally.dump_bytes / max(total_bytes, 1)
        left = (
            f"{seconds / share - seconds:.0f} s left"
            if 0 < share < 1
            else _phase(tally, total_bytes)
        )
        logger.info(
            "%s: %.0f %% of the dump, %.0f s, %s; %s", label, 100 * share, seconds, left, tally
        )


def _phase(tally: Tally, total_bytes: int) -> str:
    if tally.dump_bytes < total_bytes:
        return str(tally)
    return f"joining and writing: {tally}"


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
        console.print(f"note: {line}", highlight=False, soft_wrap=True)
    console.print(f"the build: {target}", highlight=False, soft_wrap=True)


def _remarks(manifest: Mapping[str, Any]) -> Iterator[str]:
    yield from manifest["caveats"]
    unknown = manifest["counts"]["class_unknown"]
    if unknown:
        yield f"{unknown:,} articles are kept although the class of their entity is not known"
    for lost in manifest["lost"]:
        pages = "an unknown number of" if lost["pages_lost"] < 0 else f"{lost['pages_lost']:,}"
        yield (
            f"lost: {lost['name']}, bytes {lost['start']} to {lost['end']}, {pages} pages:"
            f" {lost['message']}"
        )
