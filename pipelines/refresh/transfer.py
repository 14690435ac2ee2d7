"""Downloads one file: repeats failed requests, tries all mirrors, and checks the responses of servers.

Displays the progress of downloads: a progress bar in a terminal, otherwise a log line every 30 seconds.
"""

import contextlib
import dataclasses
import functools
import logging
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import requests
from rich import progress
from rich.console import Console
from urllib3.exceptions import HTTPError

from corpusmill.transforms.files.terminal import new_console
from corpusmill.transforms.files.write_files import beside

from . import http_requests
from .part_files import Note, PartFile
from .sources import DownloadError, RemoteFile, hide_passwords

LOG = logging.getLogger(__name__)

_CHUNK_BYTES = 1 << 18
_LOOK_BYTES = 1 << 26  # bytes written between two checks of the free disk space
_RESERVE_BYTES = 1 << 30  # bytes kept free on the disk if the size of a file is unknown
_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-\d+/(\d{1,18}|\*)")


class Patience(NamedTuple):
    """The limits for retries, waits and timeouts of a download."""

    attempts: int = 8  # maximum number of attempts in a row without progress
    first_wait_seconds: float = 2.0  # wait after the first failure; doubled each time
    longest_wait_seconds: float = 600.0  # also the limit for Retry-After
    # to connect; between pieces of data
    timeout_seconds: tuple[float, float] = http_requests.TIMEOUT_SECONDS
    least_bytes: int = 1 << 20  # fewer bytes in an attempt count as no progress
    # a server that sends fewer than least_bytes in this time is given up
    slow_seconds: float = 600.0


class InterruptedTransferError(Exception):
    """The transfer was stopped by another thread."""


class Switch:
    """A switch that one thread uses to stop the downloads of all threads, even those that wait for data."""

    def __init__(self) -> None:
        self._is_off = threading.Event()
        self._responses: set[requests.Response] = set()

    def turn_off(self) -> None:
        """Stops all transfers; each raises InterruptedTransferError."""
        self._is_off.set()
        for response in list(self._responses):
            with contextlib.suppress(Exception):  # the response may have ended in the meantime
                response.raw.shutdown()

    def check(self) -> None:
        """Raises InterruptedTransferError if `turn_off` was called."""
        if self._is_off.is_set():
            raise InterruptedTransferError

    def wait(self, seconds: float) -> None:
        """Waits for some seconds. Raises InterruptedTransferError at once if `turn_off` is called."""
        self._is_off.wait(seconds)
        self.check()

    @contextlib.contextmanager
    def using(self, response: requests.Response) -> Iterator[None]:
        """Registers a response during the `with` block, so that `turn_off` closes its connection."""
        self._responses.add(response)
        try:
            self.check()
            yield
        finally:
            self._responses.discard(response)


class _LaterError(Exception):
    """A temporary error: the same request may succeed if it is sent later."""

    def __init__(self, reason: str, wait_seconds: float = 0.0):
        super().__init__(reason)
        self.wait_seconds = wait_seconds  # least time to wait before the next request


class _UselessError(Exception):
    """A permanent error: the file cannot be downloaded from this address."""


@dataclasses.dataclass(frozen=True)
class Transfer:
    """The download of one file.

    `patience`, `count_bytes` and `min_free_bytes` are the arguments of `download.download`. The session must
    be made by `ask.plain_session`.
    """

    part: PartFile
    session: requests.Session
    patience: Patience
    switch: Switch
    count_bytes: Callable[[int], None]
    min_free_bytes: int = 0

    @property
    def file(self) -> RemoteFile:
        """Description of the file on the server."""
        return self.part.file

    def run(self) -> str:
        """Downloads and checks the file, and returns its path.

        Raises DownloadError if no address provides the expected file, and InterruptedTransferError if another
        thread has stopped the transfer.
        """
        with contextlib.closing(self.part):
            return self._run()

    def _run(self) -> str:
        if self.part.is_finished:
            if not (fault := self.part.fault(self.switch.check)):
                return self.part.path
            LOG.warning("%s %s; the file is downloaded again", self.part.path, fault)
            self.part.discard()
        urls = list(self.file.urls)
        failed: list[DownloadError] = []
        has_been_wrong = False
        while urls:
            url = urls.pop(0)
            fault, reason = "", ""
            try:
                self._fetch_from(url)
                if not (fault := self.part.fault(self.switch.check)):
                    return self.part.finish()
                reason = f"the downloaded file {fault}"
            except _UselessError as error:
                reason = str(error)
            failed.append(DownloadError(self.file.name, url, reason))
            LOG.warning("%s", failed[-1])
            if fault:
                self.part.discard()
                if has_been_wrong:
                    break
                has_been_wrong = True
                urls = urls or [url]
        raise failed[-1] if failed else DownloadError(self.file.name, "", "the file has no address")

    def _fetch_from(self, url: str) -> None:
        """Downloads the whole file from one address, in several attempts if needed.

        Raises _UselessError if the file cannot be downloaded from this address.
        """
        idle, most = 0, self.part.bytes_there
        while True:
            self.switch.check()
            try:
                self._ask(url)
                return
            except _LaterError as error:
                self.switch.check()
                brought = self.part.bytes_there - most
                idle = 0 if brought >= self.patience.least_bytes else idle + 1
                most = max(most, self.part.bytes_there)
                if idle >= self.patience.attempts:
                    raise _UselessError(f"{error}; {idle} attempts without progress") from None
                longest = self.patience.first_wait_seconds * 2.0 ** max(idle - 1, 0)
                longest = min(longest, self.patience.longest_wait_seconds)
                wait = max(error.wait_seconds, longest * random.uniform(0.5, 1))
                if wait > self.patience.longest_wait_seconds:
                    raise _UselessError(f"{error}; the server asks to wait {wait:,.0f} s") from None
                LOG.info("%s: %s; next attempt in %.1f s", hide_passwords(url), error, wait)
            self.switch.wait(wait)

    def _ask(self, url: str) -> None:
        """Sends one request for the missing bytes and stores them.

        Raises _LaterError for an error that may be temporary, and _UselessError for a permanent error.
        """
        have = self.part.bytes_there
        if have and have == self.file.size and self.part.headers_to_resume(url):
            return
        headers = {"Accept-Encoding": "identity", **self.part.headers_to_resume(url)}
        try:
            response = self.session.get(
                url, headers=headers, stream=True, timeout=self.patience.timeout_seconds
            )
        except (requests.ConnectionError, requests.Timeout) as error:
            raise _LaterError(http_requests.describe_error(error)) from None
        except http_requests.SERVER_FAULTS as error:
            raise _UselessError(http_requests.describe_error(error)) from None
        with response, self.switch.using(response):
            self._take(url, response)

    def _take(self, url: str, response: requests.Response) -> None:
        """Stores the body of a response: appends it or, if the response has the whole file, replaces the
        stored bytes.
        """
        if (total := self._check_answer(response)) is None:
            return
        etag = response.headers.get("ETag", "")
        if total >= 0 and self.file.size >= 0 and total != self.file.size:
            raise _UselessError(f"the server offers {total:,} bytes, expected {self.file.size:,}")
        if self.file.etag and url == self.file.urls[0] and etag and etag != self.file.etag:
            raise _UselessError(
                "the server has replaced the file by another version in the meantime"
            )
        if response.status_code != requests.codes.partial_content:
            modified = response.headers.get("Last-Modified", "")
            shown = hide_passwords(url)
            self.part.begin(Note(shown, etag, modified, self.file.checksum, self.file.size))
        try:
            self._write(response, total)
        except HTTPError as error:
            raise _LaterError(
                f"the connection was lost: {http_requests.describe_error(error)}"
            ) from None
        if self.part.bytes_there < self.file.size:
            raise _LaterError("the response ended early")

    def _write(self, response: requests.Response, total: int) -> None:
        """Appends the body of a response to the stored bytes, never beyond the size of the file.

        Args:
          total: size of the whole file in bytes according to the server; -1 if unknown.
        """
        is_known = self.file.size >= 0
        size = self.file.size if is_known else total
        there = self.part.bytes_there
        next_look = there
        start, there_then = time.monotonic(), there
        with self.part.appending() as append:
            while data := response.raw.read1(_CHUNK_BYTES, decode_content=False):
                self.switch.check()
                if 0 <= size < there + len(data):
                    self.part.discard()
                    source = "expected" if is_known else "announced"
                    raise _UselessError(f"the server sends more than the {size:,} bytes {source}")
                if there >= next_look:
                    self._check_room(size, there)
                    next_look += _LOOK_BYTES
                append(data)
                self.count_bytes(len(data))
                there += len(data)
                if (now := time.monotonic()) - start > self.patience.slow_seconds:
                    if there - there_then < self.patience.least_bytes:
                        brought = f"{there - there_then:,} bytes received in {now - start:,.0f} s"
                        raise _UselessError(f"the download is too slow: {brought}")
                    start, there_then = now, there

    def _check_room(self, size: int, there: int) -> None:
        """Checks that the disk has enough space for the rest of the file.

        An object store has enough space for any file, but the size of the file must be known.

        Args:
          size: expected size of the whole file in bytes or, if there is none, the size that the server
            states; -1 if unknown.
          there: number of bytes received so far.

        Raises DiskFullError if the file has an expected size and does not fit. If it has no expected size,
        raises _UselessError instead, because the server may state a wrong size or none. Also raises
        _UselessError if the size is unknown and the file is stored on an object store.
        """
        if (free := self.part.free_bytes()) is None:
            if size < 0:
                raise _UselessError(
                    "the response has no Content-Length, which is required for an upload to an object store"
                )
            return
        kept = self.min_free_bytes if size >= 0 else max(self.min_free_bytes, _RESERVE_BYTES)
        room = max(free - kept, 0)
        if max(size - there, 1) <= room:
            return
        left = f"{self.part.folder} has {room:,} bytes left"
        if kept:
            left += f" besides the {kept:,} that must remain free"
        if self.file.size >= 0:
            raise self.part.describe_full(f"the disk is full: {left}")
        if size >= 0:
            raise _UselessError(f"the server offers {size:,} bytes, but {left}")
        self.part.discard()
        raise _UselessError(f"the response has no Content-Length; after {there:,} bytes, {left}")

    def _check_answer(self, response: requests.Response) -> int | None:
        """Checks a response. Returns the size of the whole file in bytes, or -1 if it is unknown.

        Returns None if the stored bytes are already the whole file.

        If the response does not have the requested bytes, raises _LaterError for an error that may be
        temporary, and _UselessError for a permanent error.
        """
        status = response.status_code
        length = response.raw.length_remaining  # of this response; None if unknown
        if status == requests.codes.ok:
            return -1 if length is None else int(length)
        if status == requests.codes.partial_content:
            found = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
            if found and int(found[1]) == self.part.bytes_there:
                return -1 if found[2] == "*" else int(found[2])
            self.part.discard()
            raise _LaterError("the server sent a part of the file that was not requested")
        if status == requests.codes.requested_range_not_satisfiable:
            if response.headers.get("Content-Range") == f"bytes */{self.part.bytes_there}":
                return None
            self.part.discard()
            raise _LaterError("the stored part is larger than the file on the server")
        if status in http_requests.BUSY:
            asked = response.headers.get("Retry-After", "0")
            wait = http_requests.PatientRetry().parse_retry_after(asked)
            raise _LaterError(http_requests.describe_status(response.raw), wait)
        raise _UselessError(http_requests.describe_status(response.raw))


REDRAW_SECONDS = 0.5
LOG_SECONDS = 30.0


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
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.DownloadColumn(),
        progress.TransferSpeedColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=console) as bar:
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
    return f"{sum(part.is_finished for part in parts)} of {len(parts)} files are complete"


def _come(parts: Sequence[PartFile]) -> int:
    return sum(part.bytes_there for part in parts)


def _total(parts: Sequence[PartFile]) -> int | None:
    """Returns the total size of the complete files in bytes; None if the size of a file is unknown."""
    sizes = [part.file.size for part in parts]
    return None if -1 in sizes else sum(sizes)
