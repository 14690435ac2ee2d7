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

from pipelines.engines.errors import BuildError
from pipelines.engines.local.fork_server import END, END_SECONDS, Request
from pipelines.engines.local.worker import NOT_BEGUN
from pipelines.engines.log_tail import log_tail

SERVER = "the process that starts workers"
SERVER_MODULE = "pipelines.engines.local.fork_server"
BEAMS_WORKER = "apache_beam.runners.worker.sdk_worker_main"
_INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


class BadEnd(NamedTuple):
    """The end of a worker that did not end well."""

    status: int | None  # as subprocess has it, -9: SIGKILL; None: it could not be started
    process: str = "a worker process"  # or the one that starts them, without which none can work

    @property
    def was_killed(self) -> bool:
        """By a signal, such as that of a system without memory."""
        return self.status is not None and self.status < 0

    @property
    def is_loss(self) -> bool:
        """Does a runner miss this worker? One that has begun ends badly, too, where its runner is gone."""
        return self.was_killed or self.status in (None, NOT_BEGUN)

    def __str__(self) -> str:
        if self.status is None:
            return f"{self.process} could not be started"
        if self.was_killed:
            return f"{self.process} was killed by {_name_of(-self.status)}"
        return f"{self.process} ended with status {self.status}"


def _name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # of the signals for real time only two have names
        return f"signal {number}"


def error_of(end: BadEnd, log: str = "") -> BuildError:
    """The error that ends a build which has lost a worker.

    Args:
      log: the end of what the workers have printed; its last line says why one could not begin.
    """
    if not end.was_killed:
        return BuildError(": ".join([str(end), *log.strip().splitlines()[-1:]]))
    is_memory = end.status == -signal.SIGKILL
    why = ", perhaps because memory ran out" if is_memory else ""
    fewer = ", with fewer --workers if memory is short" if is_memory else ""
    return BuildError(f"{end}{why}: start the same command again{fewer}; finished stages are kept")


def log_bad_end(end: BadEnd) -> None:
    """Logs it where it is news."""
    logging.getLogger(__name__).log(logging.ERROR if end.is_loss else logging.DEBUG, "%s", end)


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
        self._lost: BadEnd | None = None  # after `give_up`
        self._tell: dict[int, Callable[[BadEnd], None]] = {}  # by the number of the worker
        self._count = 0
        with log.open("wb") if log else contextlib.nullcontext() as stream, _blocked_interrupts():
            self._server = subprocess.Popen(
                [sys.executable, "-c", _server_code(), BEAMS_WORKER, *modules],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stream,
                start_new_session=True,
            )
        threading.Thread(target=self._watch, daemon=True).start()

    def start(
        self,
        arguments: Sequence[str],
        tell: Callable[[BadEnd], None] = log_bad_end,
        secret: str = "",
    ) -> int:
        """Starts a worker, and gives its number; none after `end`, `give_up` or `wait`.

        Args:
          arguments, secret: of `worker.main`.
          tell: is called, by any thread, for a worker that does not end well.
        """
        request = Request(arguments=arguments, secret=secret, folder=str(pathlib.Path.cwd()))
        with self._lock:
            number, self._count = self._count, self._count + 1
            if self._lost:
                tell(self._lost)
            if self._is_over:
                return number
            self._tell[number] = tell
            self._write(json.dumps(request).encode() + b"\n")
        return number

    def _write(self, line: bytes) -> None:
        """Writes to the process that forks. If it has ended, the thread that reads from it notices."""
        assert self._server.stdin
        with contextlib.suppress(BrokenPipeError):
            self._server.stdin.write(line)
            self._server.stdin.flush()

    def forget(self, number: int) -> None:
        """Tells nobody any more how this worker ends."""
        self._tell.pop(number, None)

    def _watch(self) -> None:
        assert self._server.stdout
        for line in self._server.stdout:
            number, status = map(int, line.split())
            self._end(number, BadEnd(status))
        status = self._server.wait()
        end = BadEnd(status, SERVER) if status < 0 else BadEnd(None)
        with self._lock:
            if not self._is_over:
                self.give_up(end)

    def _end(self, number: int, end: BadEnd) -> None:
        tell = self._tell.pop(number, None)
        if tell:
            tell(end)

    def give_up(self, end: BadEnd) -> None:
        """Kills all, as one that cannot be missed has come to this end; all are reported, and those
        that are asked for later.
        """
        with self._lock:
            self._lost = end
            self.end()
        for number in tuple(self._tell):
            self._end(number, end)

    @property
    def is_gone(self) -> bool:
        """Has the process ended that starts them?"""
        return self._server.poll() is not None

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
            self._write(END)
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


@contextlib.contextmanager
def _blocked_interrupts() -> Iterator[None]:
    """Lets SIGINT wait. A process that is started inside the block begins so, until it can handle it."""
    found = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, found)


def _server_code() -> str:
    """Returns the code for Python to run: with -m, a folder "pipelines" at the place of the start would be
    imported.
    """
    return f"import sys; sys.path[:] = {module_path()}; from {SERVER_MODULE} import main; main()"


def module_path() -> list[str]:
    """The folders in which a process is to look for modules that is to find those which this one finds."""
    return [path or str(pathlib.Path.cwd()) for path in sys.path]


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
