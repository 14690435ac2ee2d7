"""A process that has imported everything, and forks workers that need not: each starts in milliseconds.

Its arguments are names of modules. Each line of its standard input asks for a worker: JSON, as `Request` has
it. Each line of its output is the number of a worker that did not end well, and its exit status as
subprocess has it (-9: SIGKILL). At the end of the input, which also comes when the process that writes it is
killed, workers get some seconds to end by themselves; then the whole process group is killed. So it needs a
group of its own.
"""

import contextlib
import gc
import importlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Sequence
from typing import TypedDict

from pipelines.engines.local import worker

END_SECONDS = 5.0
_POLL_SECONDS = 0.02


class Request(TypedDict):
    """What a worker is started with."""

    arguments: Sequence[str]  # of `worker.main`
    secret: str  # that the worker shows to the runner
    folder: str  # where relative names of files begin


def main() -> None:
    """Serves until the input ends."""
    import_all(sys.argv[1:])
    gc.freeze()  # no collection touches, and so copies, pages that all workers share
    children = _Children()
    signal.signal(signal.SIGCHLD, lambda *_: children.bury())
    for number, line in enumerate(sys.stdin.buffer):
        pid = os.fork()
        if not pid:
            _become_worker(json.loads(line))
        children.add(pid, number)
    due = time.monotonic() + END_SECONDS
    while children.bury() and time.monotonic() < due:
        time.sleep(_POLL_SECONDS)
    os.killpg(0, signal.SIGKILL)


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

    def bury(self) -> bool:
        """Waits for workers that have ended, and tells of those that did not end well; are there others?"""
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
            os.write(sys.stdout.fileno(), told.encode())


def _become_worker(request: Request) -> None:
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
        with contextlib.suppress(FileNotFoundError):  # a node need not have the launcher's folder
            os.chdir(request["folder"])
        status = worker.main(request["arguments"], request["secret"])
    except BaseException:  # whatever it is, this process must not go on as a server
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)
