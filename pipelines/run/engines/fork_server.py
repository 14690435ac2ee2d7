"""A process that imports all modules once and then forks workers, so that each worker starts in milliseconds.

Its arguments are names of modules to import at once. Each line of standard input is a `Request` in JSON to
start a worker. Each line of standard output reports a worker that failed: its number and its exit status,
where signals are negative numbers (-9: SIGKILL).

After the line `END`, the process accepts no more requests, and running workers have some seconds to end by
themselves. If the parent process is killed, the input ends without that line. In both cases the whole process
group is then killed, so this process must have its own group.

Sets options of the C library, so that freed memory is returned to the system.
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
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import FrameType
from typing import TypedDict

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # malloc.h of glibc

LARGE_BLOCK = 1 << 22
"""In a worker, blocks of memory with at least this number of bytes are mapped separately. By default, glibc
raises this limit up to 32 MiB. Large blocks, such as sorted runs of lines, would then share the heap with
small ones, and a worker's memory would grow with all data that it has sorted.
"""

KEPT = 1 << 26
"""In a worker, number of free bytes at the end of the heap that are not returned to the system."""

MESSAGE_BLOCK, MESSAGE_KEPT = 1 << 17, 1 << 20
"""The same two limits in the process that passes messages between several workers. They are lower, so that
large messages, which may have a few megabytes, are mapped separately. In the heap, the gaps that messages
leave would grow with the number of messages. A single worker is the process itself. It has the limits of a
worker, because to map each block would cost 7 % of its time.
"""

ARENAS = 1
"""Number of heaps of the process. By default, glibc makes up to eight per core, and a thread cannot use free
memory in the heap of another thread. Python's threads seldom allocate memory at the same time, so one heap
is enough.
"""


def give_back_large_blocks(least: int = LARGE_BLOCK, kept: int = KEPT) -> None:
    """Makes this process return large blocks of memory to the system when they are freed, and use only one
    heap.

    This has an effect only with glibc.

    Args:
      least: The least size, in bytes, of blocks that are mapped separately and so can be returned.
      kept: The number of free bytes at the end of the heap that are not returned.
    """
    with contextlib.suppress(AttributeError, OSError):
        set_option = ctypes.CDLL(None).mallopt
        set_option(M_MMAP_THRESHOLD, least)
        set_option(M_TRIM_THRESHOLD, kept)
        set_option(M_ARENA_MAX, ARENAS)


WORKER_MODULE = "corpusmill.pipelines.run.engines.worker"
END = b"end\n"
END_SECONDS = 5.0
NOT_BEGUN = 75
"""Exit status of a worker to which the runner does not respond: EX_TEMPFAIL in sysexits.h."""

_POLL_SECONDS = 0.02
_LOOK_SECONDS = 0.2
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)


class Request(TypedDict):
    """A request to the fork server to start a worker."""

    modules: Sequence[str]  # modules to import first, if the fork server has not imported them
    arguments: Sequence[str]  # arguments of `worker.main`
    secret: str  # secret that the worker sends to the runner
    folder: str  # base of relative file names
    environment: Mapping[str, str]  # variables that were set after the fork server was started


def main() -> None:
    """Starts a worker for each request until standard input ends. Then kills the process group."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # it ends the process without a traceback
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    with _ended_without_input(), without_collections():
        worker = importlib.import_module(WORKER_MODULE)  # not above: it takes a second
        import_all(sys.argv[1:])
    children = _Children()
    signal.signal(signal.SIGCHLD, lambda *_: children.collect())
    for number, line in enumerate(sys.stdin.buffer):
        if line == END:
            children.wait()
            break
        request: Request = json.loads(line)
        import_all(request["modules"])
        gc.freeze()  # so that no garbage collection writes to, and copies, shared pages
        if not (pid := os.fork()):
            _become_worker(worker.main, request)
        children.add(pid, number)
    os.killpg(0, signal.SIGKILL)


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """Suspends garbage collection during imports, which create many objects, but no garbage.

    Later collections ignore all objects that exist at the end of the block.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextlib.contextmanager
def _ended_without_input() -> Iterator[None]:
    """Kills the process group if standard input ends during the `with` block.

    The code in the block must not read standard input itself.
    """
    poll = select.poll()
    poll.register(sys.stdin, 0)  # reports only that the pipe has no writer any more
    is_over = False

    def look(_: int, __: FrameType | None) -> None:
        if poll.poll(0):
            os.killpg(0, signal.SIGKILL)
        if not is_over:  # sets the timer again after the signal was handled
            signal.setitimer(signal.ITIMER_REAL, _LOOK_SECONDS)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _LOOK_SECONDS)
    try:
        yield
    finally:
        is_over = True
        signal.setitimer(signal.ITIMER_REAL, 0)


def import_all(modules: Iterable[str]) -> None:
    """Imports modules. Import errors are ignored, because a worker that needs the module will report them."""
    for name in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


class _Children:
    """The worker processes that were forked and are still running."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}  # process id → number of the worker
        # process id → status of workers whose number is not known yet
        self._ended: dict[int, int] = {}

    def add(self, pid: int, number: int) -> None:
        """Registers a worker that was started. It may already have ended.

        Args:
          pid: The id of its process.
          number: The number of its request, beginning with 0.
        """
        self._numbers[pid] = number
        if pid in self._ended:
            self._tell(pid, self._ended.pop(pid))

    def wait(self) -> None:
        """Waits until all workers have ended, but at most END_SECONDS."""
        due = time.monotonic() + END_SECONDS
        while self.collect() and time.monotonic() < due:
            time.sleep(_POLL_SECONDS)

    def collect(self) -> bool:
        """Reports the workers that have failed since the last call. Returns True if workers are still
        running.
        """
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
            # If the reader was killed, the input ends, too.
            with contextlib.suppress(BrokenPipeError):
                os.write(sys.stdout.fileno(), told.encode())


def _become_worker(work: Callable[[Sequence[str], str], int], request: Request) -> None:
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        with contextlib.suppress(AttributeError):  # on other systems than Linux
            # The system kills this worker when the fork server, its parent process, is killed.
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != os.getpgrp():
            os._exit(1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
        os.environ.update(request["environment"])
        tempfile.tempdir = None  # it is read again from the environment
        with contextlib.suppress(FileNotFoundError):  # a node need not have the launcher's folder
            os.chdir(request["folder"])
        status = work(request["arguments"], request["secret"])
    except BaseException:  # in any case, this process must not go on as a server
        traceback.print_exc()
    finally:
        try:
            sys.stderr.flush()
        finally:  # also if the disk is full
            os._exit(status)
