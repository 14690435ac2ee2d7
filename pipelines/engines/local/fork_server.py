"""A process that has imported everything, and forks workers that need not: each starts in milliseconds.

Its arguments are names of modules. Each line of its standard input asks for a worker: JSON, as `Request` has
it. Each line of its output is the number of a worker that did not end well, and its exit status as
subprocess has it (-9: SIGKILL).

The line `END` says that no more workers are wanted: those that run get some seconds to end by themselves. The
input ends without it when the process that writes it is killed. In both cases the whole process group is
killed last, so it needs a group of its own.
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType
from typing import TypedDict

WORKER_MODULE = "pipelines.engines.local.worker"
END = b"end\n"
END_SECONDS = 5.0
_POLL_SECONDS = 0.02
_LOOK_SECONDS = 0.2
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)


class Request(TypedDict):
    """The request to start a worker."""

    arguments: Sequence[str]  # of `worker.main`
    secret: str  # that the worker shows to the runner
    folder: str  # where relative names of files begin


def main() -> None:
    """Serves until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # it ends the process without a traceback
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    with _ended_without_input():
        worker = importlib.import_module(WORKER_MODULE)  # not above: it takes seconds
        import_all(sys.argv[1:])
    gc.freeze()  # no collection touches, and so copies, pages that all workers share
    children = _Children()
    signal.signal(signal.SIGCHLD, lambda *_: children.bury())
    for number, line in enumerate(sys.stdin.buffer):
        if line == END:
            children.wait()
            break
        pid = os.fork()
        if not pid:
            _become_worker(worker.main, json.loads(line))
        children.add(pid, number)
    os.killpg(0, signal.SIGKILL)


@contextlib.contextmanager
def _ended_without_input() -> Iterator[None]:
    """Kills the group while the block, which does not read the input, runs and the input ends."""
    poll = select.poll()
    poll.register(sys.stdin, 0)  # of a pipe, that nobody can write to it any more
    is_over = False

    def look(_: int, __: FrameType | None) -> None:
        if poll.poll(0):
            os.killpg(0, signal.SIGKILL)
        if not is_over:  # once more, and not before this signal is handled
            signal.setitimer(signal.ITIMER_REAL, _LOOK_SECONDS)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _LOOK_SECONDS)
    try:
        yield
    finally:
        is_over = True
        signal.setitimer(signal.ITIMER_REAL, 0)


def import_all(modules: Iterable[str]) -> None:
    """Imports modules; what cannot be imported here, a worker that needs it will say."""
    for name in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


class _Children:
    """The workers that run."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}  # by process id
        self._ended: dict[int, int] = {}  # process id → status of one whose number is not known yet

    def add(self, pid: int, number: int) -> None:
        """One that was started, and may have ended."""
        self._numbers[pid] = number
        if pid in self._ended:
            self._tell(pid, self._ended.pop(pid))

    def wait(self) -> None:
        """Waits for all, but not for long."""
        due = time.monotonic() + END_SECONDS
        while self.bury() and time.monotonic() < due:
            time.sleep(_POLL_SECONDS)

    def bury(self) -> bool:
        """Waits for workers that have ended, and reports those that did not end well; are there others?"""
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return True
                if pid in self._numbers:
                    self._tell(pid, status)
                else:
                    self._ended[pid] = status
        except ChildProcessError:
            return False

    def _tell(self, pid: int, status: int) -> None:
        number = self._numbers.pop(pid)
        if status:
            told = f"{number} {os.waitstatus_to_exitcode(status)}\n"
            with contextlib.suppress(
                BrokenPipeError
            ):  # who listened was killed: the input ends, too
                os.write(sys.stdout.fileno(), told.encode())


def _become_worker(work: Callable[[Sequence[str], str], int], request: Request) -> None:
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _die_with_parent()
        os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
        with contextlib.suppress(FileNotFoundError):  # a node need not have the launcher's folder
            os.chdir(request["folder"])
        status = work(request["arguments"], request["secret"])
    except BaseException:  # whatever it is, this process must not go on as a server
        traceback.print_exc()
    finally:
        try:
            sys.stderr.flush()
        finally:  # on a full disk, too
            os._exit(status)


def _die_with_parent() -> None:
    """Lets Linux kill this process when the one that forked it, the first of its group, is killed."""
    with contextlib.suppress(AttributeError):  # on other systems
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != os.getpgrp():
        os._exit(1)
