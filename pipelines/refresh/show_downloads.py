"""Displays the progress of downloads: a progress bar in a terminal, otherwise a log line every 30 seconds."""

import contextlib
import functools
import logging
import threading
import time
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from corpusmill.pipelines.refresh.part_file import PartFile
from corpusmill.transforms.files.side_thread import beside
from corpusmill.transforms.files.terminal import new_console

REDRAW_SECONDS = 0.5
LOG_SECONDS = 30.0
LOG = logging.getLogger(__name__)


@contextlib.contextmanager
def shown(parts: Sequence[PartFile]) -> Iterator[None]:
    """Displays the progress of downloads during the `with` block.

    The progress is computed from the sizes of the stored files.
    """
    console = new_console(stderr=True)
    watch = _draw if console.is_terminal else _log
    with beside(functools.partial(watch, console, parts)):
        yield


def _draw(console: Console, parts: Sequence[PartFile], is_over: threading.Event) -> None:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(_describe(parts), total=_total(parts), completed=_come(parts))
        is_last = False
        while not is_last:
            is_last = is_over.wait(REDRAW_SECONDS)
            bar.update(task, completed=_come(parts), description=_describe(parts))


def _log(_: Console, parts: Sequence[PartFile], is_over: threading.Event) -> None:
    begin, start = time.monotonic(), _come(parts)
    total = _total(parts)
    of_total = f" of {total / 1e6:,.0f}" if total is not None else ""
    while not is_over.wait(LOG_SECONDS):
        come = _come(parts)
        megabytes = f"{come / 1e6:,.0f}{of_total} MB"
        speed = (come - start) / 1e6 / max(time.monotonic() - begin, 1e-9)
        LOG.info("%s: %s, %.1f MB/s", _describe(parts), megabytes, speed)


def _describe(parts: Sequence[PartFile]) -> str:
    done = sum(part.is_finished for part in parts)
    return f"{done} of {len(parts)} files are complete"


def _come(parts: Sequence[PartFile]) -> int:
    return sum(_bytes_of(part) for part in parts)


def _bytes_of(part: PartFile) -> int:
    with contextlib.suppress(FileNotFoundError):  # the file is being renamed
        return part.bytes_there
    return part.bytes_there


def _total(parts: Sequence[PartFile]) -> int | None:
    """Returns the total size of the complete files in bytes; None if the size of a file is unknown."""
    sizes = [part.file.size for part in parts]
    return None if -1 in sizes else sum(sizes)
