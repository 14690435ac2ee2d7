"""Starts and ends the worker processes on this machine, and stores their output.

Beam ends its workers by closing their connections, which a worker that is still starting does not notice. So
if a build is interrupted, the workers are ended first, and then Beam.

Protects the servers of a build, which listen on the loopback interface, with a secret.

Beam's own servers listen on all interfaces and serve every caller. A caller receives or submits work as
pickled elements and functions. So anyone who can reach such a server could run code in the build.

Each build makes a new secret. Each gRPC call sends the secret in its metadata, under `HEADER`. Servers that
are started by hand, and builds that use these servers, read the secret from the environment variable
`VARIABLE`.
"""

import contextlib
import hmac
import json
import logging
import os
import pathlib
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent import futures
from types import FrameType, SimpleNamespace
from typing import Any, NamedTuple

import grpc

from corpusmill.transforms.files.errors import BuildError, end_of

from .fork_server import END, END_SECONDS, NOT_BEGUN, Request

HEADER = "corpusmill-secret"
VARIABLE = "CORPUSMILL_SECRET"
LOOPBACK = "127.0.0.1"
REFUSAL = f"the caller did not send the secret of this server ({VARIABLE})"

# A proxy set in the environment cannot reach these servers.
_NO_PROXY = ("grpc.enable_http_proxy", 0)


def make_secret() -> str:
    """Returns a new secret: 256 random bits in hexadecimal digits."""
    return secrets.token_hex(32)


def named_secret() -> str:
    """Returns the secret in the environment variable `VARIABLE`. Raises ValueError if it is not set."""
    if not (secret := os.environ.get(VARIABLE, "")):
        raise ValueError(
            f"{VARIABLE} is not set; builds must send this secret to the server:"
            f" export {VARIABLE}=$(openssl rand -hex 32) here, and the same value where builds are started"
        )
    return secret


def is_shown(shown: object, secret: str) -> bool:
    """Returns True if `shown`, the value that a caller has sent, is the secret.

    The time of the comparison does not depend on the number of correct characters.
    """
    text = shown if isinstance(shown, str) else ""
    return hmac.compare_digest(text.encode(), secret.encode())


def guarded_server(
    executor: futures.Executor, secret: str, options: Sequence[tuple[str, Any]] = ()
) -> grpc.Server:
    """Returns a gRPC server without services. It rejects calls without the secret with the status
    UNAUTHENTICATED.
    """
    return grpc.server(executor, interceptors=[_Guard(secret)], options=options)


def open_channel(target: str, secret: str, options: Sequence[tuple[str, Any]] = ()) -> grpc.Channel:
    """Returns a gRPC channel whose calls send the secret.

    Args:
      target: The address of the server, host:port.
      secret: The secret of the server; "" if it requires none.
    """
    channel = grpc.insecure_channel(target, options=[*options, _NO_PROXY])
    return grpc.intercept_channel(channel, _Show(secret)) if secret else channel


class _Guard(grpc.ServerInterceptor):
    """Checks the secret in the metadata of each call."""

    def __init__(self, secret: str):
        self._secret = secret
        self._refuse = grpc.stream_stream_rpc_method_handler(_refuse)  # rejects before any message

    def intercept_service(self, continuation: Callable[[Any], Any], call: Any) -> Any:
        """Passes on calls that have the secret (see grpc.ServerInterceptor)."""
        shown = [value for key, value in call.invocation_metadata if key == HEADER]
        if len(shown) == 1 and is_shown(shown[0], self._secret):
            return continuation(call)
        return self._refuse


def _refuse(_: Any, context: grpc.ServicerContext) -> None:
    context.abort(grpc.StatusCode.UNAUTHENTICATED, REFUSAL)


class _Show(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
    grpc.StreamUnaryClientInterceptor,
    grpc.StreamStreamClientInterceptor,
):
    """Adds the secret to the metadata of each call."""

    def __init__(self, secret: str):
        self._shown = (HEADER, secret)

    def _intercept(self, continuation: Callable[[Any, Any], Any], call: Any, request: Any) -> Any:
        # The details of the call that are not given here keep their values.
        return continuation(
            SimpleNamespace(metadata=[*(call.metadata or ()), self._shown]), request
        )

    intercept_unary_unary = intercept_unary_stream = _intercept
    intercept_stream_unary = intercept_stream_stream = _intercept


SERVER = "the process that starts workers"
SERVER_MODULE = "corpusmill.pipelines.run.engines.fork_server"
BEAMS_WORKER = "apache_beam.runners.worker.sdk_worker_main"
_INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


class BadEnd(NamedTuple):
    """The failure of a worker process."""

    status: int | None  # as in subprocess (-9: SIGKILL); None if it could not be started
    process: str = "a worker process"  # a worker, or the process that starts all workers

    @property
    def was_killed(self) -> bool:
        """True if a signal ended the process, such as SIGKILL from a system that ran out of memory."""
        return self.status is not None and self.status < 0

    @property
    def is_loss(self) -> bool:
        """True if a runner waits for this worker. A failure after the end of the runner is not a loss."""
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
    except ValueError:  # most real-time signals have no name
        return f"signal {number}"


def error_of(end: BadEnd, log: str = "") -> BuildError:
    """Returns the error to raise when a build ends because a worker was lost.

    Args:
      log: The end of the workers' output. Its last line says why a worker could not start.
    """
    if not end.was_killed:
        return BuildError(": ".join([str(end), *log.strip().splitlines()[-1:]]))
    is_memory = end.status == -signal.SIGKILL
    why = ", perhaps because memory ran out" if is_memory else ""
    fewer = ", with fewer --workers if memory is short" if is_memory else ""
    return BuildError(f"{end}{why}: start the same command again{fewer}; finished stages are kept")


def log_bad_end(end: BadEnd) -> None:
    """Logs the failure of a worker: as an error if a runner waits for the worker, otherwise for debugging."""
    logging.getLogger(__name__).log(logging.ERROR if end.is_loss else logging.DEBUG, "%s", end)


class Workers:
    """Worker processes on this machine. They are forked from one process, which imports the modules only
    once.

    The processes form a separate process group, which Ctrl-C does not reach.

    Args:
      modules: Modules that workers need. They are imported before workers are forked.
      keeps_output: Whether to write the workers' output to an unnamed file, for `log_tail`. Otherwise, it is
        written to the stderr of this process.
    """

    def __init__(self, modules: Iterable[str] = (), *, keeps_output: bool = False):
        self._needed: list[str] = []  # modules that the next request names
        self._environment = {**os.environ}  # of the process that forks workers
        self._log = (
            tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed when nobody holds it
            if keeps_output
            else None
        )
        self._lock = threading.RLock()  # a signal handler may end the workers during a start
        self._is_over = False
        self._lost: BadEnd | None = None  # the argument of `give_up`, if it was called
        # number of the worker → function to call
        self._tell: dict[int, Callable[[BadEnd], None]] = {}
        self._count = 0
        # Not `python -m`: it would import a folder named "corpusmill" in the current folder.
        code = (
            f"import sys; sys.path[:] = {module_path()}; from {SERVER_MODULE} import main; main()"
        )
        with _blocked_interrupts():
            self._server = subprocess.Popen(
                [sys.executable, "-c", code, BEAMS_WORKER, *modules],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                start_new_session=True,
            )
        threading.Thread(target=self._watch, daemon=True).start()

    def need(self, modules: Iterable[str]) -> None:
        """Adds modules that workers need. They are imported before the next worker is forked."""
        self._needed += modules

    def start(
        self,
        arguments: Sequence[str],
        tell: Callable[[BadEnd], None] = log_bad_end,
        secret: str = "",
    ) -> int:
        """Starts a worker, and returns its number.

        After a call of `end`, `give_up` or `wait`, no worker is started, but a number is still returned.

        Args:
          arguments, secret: The arguments of `worker.main`.
          tell: Function that is called if the worker fails. It may be called in any thread. After a call of
            `give_up`, it is called at once.
        """
        request = Request(
            modules=self._needed,
            arguments=arguments,
            secret=secret,
            folder=str(pathlib.Path.cwd()),
            environment=dict(os.environ.items() - self._environment.items()),
        )
        with self._lock:
            number, self._count = self._count, self._count + 1
            if self._lost:
                tell(self._lost)
            if self._is_over:
                return number
            self._tell[number] = tell
            self._needed = []
            self._write(json.dumps(request).encode() + b"\n")
        return number

    def _write(self, line: bytes) -> None:
        """Sends a line to the process that forks workers.

        If that process has ended, nothing is sent; the thread that reads its output handles this.
        """
        assert self._server.stdin
        with contextlib.suppress(BrokenPipeError):
            self._server.stdin.write(line)
            self._server.stdin.flush()

    def forget(self, number: int) -> None:
        """Stops watching a worker: its failure is no longer reported.

        Args:
          number: The number that `start` returned.
        """
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
        if tell := self._tell.pop(number, None):
            tell(end)

    def give_up(self, end: BadEnd) -> None:
        """Kills all workers after one was lost. All workers, including those that are started later, are
        reported as failed.

        Args:
          end: The failure to report for each worker.
        """
        with self._lock:
            self._lost = end
            self.end()
        for number in tuple(self._tell):
            self._end(number, end)

    @property
    def is_gone(self) -> bool:
        """True if the process that forks workers has ended."""
        return self._server.poll() is not None

    def wait_until_gone(self) -> None:
        """Waits until the process that forks workers has ended."""
        self._server.wait()

    def end(self) -> None:
        """Kills all workers and prevents further starts."""
        with self._lock:
            self._is_over = True
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._server.pid, signal.SIGKILL)
            self._close()

    def wait(self) -> None:
        """Waits until all workers have ended, after their connections were closed. Kills the workers that do
        not end in time.
        """
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
        """Returns the end of the workers' output; "" if it is not kept."""
        return end_of(self._log) if self._log else ""


@contextlib.contextmanager
def _blocked_interrupts() -> Iterator[None]:
    """Blocks the signal SIGINT in the body of a `with` statement.

    A process that is started in the body inherits the blocked signal, and must unblock it when it is ready to
    handle it.
    """
    found = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, found)


def module_path() -> list[str]:
    """Returns the module search path of this process, for child processes."""
    return [path or str(pathlib.Path.cwd()) for path in sys.path]


_early: list[Workers] = []  # for the next call of `worker_processes`


@contextlib.contextmanager
def started_early(modules: Iterable[str]) -> Iterator[None]:
    """Starts the process that forks workers before this process needs it, for the next call of
    `worker_processes`. So both processes import Beam at the same time.

    If there is no such call during the `with` block, the process is ended. If it cannot be started,
    `worker_processes` tries again and raises the error.

    Args:
      modules: Modules that workers need.
    """
    folder = tempfile.tempdir  # Python would keep the folder of the output
    with contextlib.suppress(OSError):
        _early.append(Workers(modules, keeps_output=True))
    tempfile.tempdir = folder
    try:
        yield
    finally:
        while _early:
            _early.pop().end()


@contextlib.contextmanager
def worker_processes() -> Iterator[Workers]:
    """Yields Workers. On Ctrl-C or SIGTERM, the worker processes are ended before anything else."""
    ours = [name for name in sys.modules if name.split(".")[0] == "corpusmill"]
    workers = _early.pop() if _early else Workers(keeps_output=True)
    try:
        workers.need(sorted(ours))
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
    # Ignored signals, such as SIGINT in background jobs of scripts, must not end the workers.
    handlers = {number: one for number, one in found.items() if one != signal.SIG_IGN}
    show_error = threading.excepthook

    def handle(number: int, frame: FrameType | None) -> None:
        threading.excepthook = lambda _: None  # Beam's threads report the ended workers
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
