"""The worker processes of this machine: their start, their log, and their end.

Beam ends its workers by closing their connections. One that was still starting never notices. So whoever
interrupts a build ends them first.
"""

import contextlib
import json
import logging
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType
from typing import NamedTuple

from pipelines.engines.fork_server import END_SECONDS, Request
from pipelines.engines.log_tail import log_tail

SERVER_MODULE = "pipelines.engines.fork_server"
BEAMS_WORKER = "apache_beam.runners.worker.sdk_worker_main"
_INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


class BadEnd(NamedTuple):
    """How a worker ended that did not end well."""

    status: int | None  # as subprocess has it, -9: SIGKILL; None: it could not be started

    @property
    def was_killed(self) -> bool:
        """By a signal, such as that of a system without memory."""
        return self.status is not None and self.status < 0

    def __str__(self) -> str:
        if self.status is None:
            return "a worker process could not be started"
        if self.was_killed:
            return f"a worker process was killed by {signal.Signals(-self.status).name}"
        return f"a worker process ended with status {self.status}"


def _log_bad_end(end: BadEnd) -> None:
    """A worker whose runner is gone does not end well either: that is no news."""
    logging.getLogger(__name__).log(logging.ERROR if end.was_killed else logging.DEBUG, "%s", end)


class Workers:
    """Worker processes, forked from one that has imported what this process has.

    They are a process group of their own, which Ctrl-C does not reach.

    Args:
      modules: what they will need, imported before.
      log: file that takes what they print; without one it goes to the stderr of this process.
    """

    def __init__(self, modules: Iterable[str], log: pathlib.Path | None = None):
        self._log = log
        self._lock = threading.RLock()  # a signal's handler may end them in the midst of a start
        self._is_over = False
        self._tell: list[Callable[[BadEnd], None]] = []  # by the number of the worker
        with log.open("wb") if log else contextlib.nullcontext() as stream:
            self._server = subprocess.Popen(
                [sys.executable, "-m", SERVER_MODULE, BEAMS_WORKER, *modules],
                env=os.environ | {"PYTHONPATH": module_path()},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stream,
                start_new_session=True,
            )
        threading.Thread(target=self._watch, daemon=True).start()

    def start(
        self, arguments: Sequence[str], tell: Callable[[BadEnd], None] = _log_bad_end
    ) -> None:
        """Starts a worker; none after `end`.

        Args:
          arguments: of `worker.main`.
          tell: is called, by any thread, for a worker that does not end well.
        """
        request = Request(arguments=arguments, folder=str(pathlib.Path.cwd()))
        with self._lock:
            if self._is_over:
                return
            assert self._server.stdin
            self._tell.append(tell)
            try:
                self._server.stdin.write(json.dumps(request).encode() + b"\n")
                self._server.stdin.flush()
            except BrokenPipeError:
                tell(BadEnd(None))

    def _watch(self) -> None:
        assert self._server.stdout
        for line in self._server.stdout:
            number, status = map(int, line.split())
            self._tell[number](BadEnd(status))
        for tell in () if self._is_over else tuple(self._tell):
            tell(BadEnd(None))

    def end(self) -> None:
        """Kills all that were started, and keeps others from starting."""
        with self._lock:
            self._is_over = True
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._server.pid, signal.SIGKILL)
            self._close()

    def wait(self) -> None:
        """Waits for workers whose connections are closed; kills those that do not end."""
        with self._lock:
            self._is_over = True
            self._close()

    def _close(self) -> None:
        assert self._server.stdin
        with contextlib.suppress(BrokenPipeError):
            self._server.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._server.wait(2 * END_SECONDS)

    def log_tail(self) -> str:
        """The end of what they have printed into the file."""
        return log_tail(self._log) if self._log else ""


def module_path() -> str:
    """PYTHONPATH for a process that is to find the modules which this one finds."""
    return os.pathsep.join(path or str(pathlib.Path.cwd()) for path in sys.path)


@contextlib.contextmanager
def worker_processes() -> Iterator[Workers]:
    """Workers that Ctrl-C and SIGTERM end before anything else happens."""
    ours = [name for name in sys.modules if name.split(".")[0] in ("pipelines", "transforms")]
    with tempfile.TemporaryDirectory(prefix="corpusmill-workers-") as folder:
        workers = Workers(sorted(ours), pathlib.Path(folder, "log"))
        try:
            with _before_interrupts(workers):
                yield workers
        except BaseException:
            workers.end()
            raise
        workers.wait()


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
