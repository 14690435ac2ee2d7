"""The worker processes of the in-process runner: their log, and their end.

Beam ends its workers by closing their connections, and waits for them. One that was still starting never
notices. So whoever interrupts a build ends them first.
"""

import contextlib
import os
import pathlib
import shlex
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from types import FrameType

WORKER_MODULE = "apache_beam.runners.worker.sdk_worker_main"
LOG_TAIL_BYTES = 2_000
_INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


class Workers:
    """Worker processes of one run, as far as a folder of theirs knows them."""

    def __init__(self, folder: str):
        self._log = pathlib.Path(folder) / "log"
        self._pids = pathlib.Path(folder) / "pids"
        self._stop = pathlib.Path(folder) / "stop"

    @property
    def command(self) -> str:
        """The shell command that starts one. It tells its process id, and does not start after `end`.

        Ctrl-C reaches the whole process group; the workers leave it to the launcher to end them.
        """
        python, log, pids, stop = (
            shlex.quote(str(path)) for path in (sys.executable, self._log, self._pids, self._stop)
        )
        start = f"exec {python} -m {WORKER_MODULE} 2>>{log}"
        return f"trap '' INT; echo $$ >>{pids}; [ -e {stop} ] || {start}"

    def end(self) -> None:
        """Kills all that were started, and keeps others from starting."""
        self._stop.touch()
        if self._pids.exists():
            for pid in self._pids.read_text("ascii").split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)

    def log_tail(self) -> str:
        """The end of what they have printed."""
        data = self._log.read_bytes() if self._log.exists() else b""
        return data[-LOG_TAIL_BYTES:].decode("utf-8", "replace")


@contextlib.contextmanager
def worker_processes() -> Iterator[Workers]:
    """Workers that Ctrl-C and SIGTERM end before anything else happens."""
    with tempfile.TemporaryDirectory(prefix="corpusmill-workers-") as folder:
        workers = Workers(folder)
        with _before_interrupts(workers):
            yield workers


@contextlib.contextmanager
def _before_interrupts(workers: Workers) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals
        return
    found = {number: signal.getsignal(number) for number in _INTERRUPTS}
    # What is ignored, as SIGINT is by a job in the background of a script, must not end the workers.
    handlers = {number: one for number, one in found.items() if one != signal.SIG_IGN}
    show_error = threading.excepthook

    def handle(number: int, frame: FrameType | None) -> None:
        threading.excepthook = _ignore  # Beam's threads miss the workers that are ended here
        workers.end()
        handler = handlers[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)
        elif handler == signal.SIG_DFL:
            sys.exit(128 + number)

    for number in handlers:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        threading.excepthook = show_error


def _ignore(_: threading.ExceptHookArgs) -> None:
    pass
