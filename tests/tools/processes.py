"""Processes that tests start, and wait for."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def running(command: Sequence[str], **settings: Any) -> Iterator["subprocess.Popen[bytes]"]:
    """Starts a process, and waits for it at the end of the block. If the block fails, the process is killed,
    so that the test does not wait for it.
    """
    with subprocess.Popen(command, **settings) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def kill_when(has_come: Callable[[], bool], command: Sequence[str], **settings: Any) -> None:
    """Starts a process, and kills it and all that it has started as soon as a condition has come true."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    with running(command, start_new_session=True, **quiet, **settings) as process:
        wait_until(lambda: has_come() or process.poll() is not None, 240)
        assert process.poll() is None, "it ended by itself"
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Fails where it does not come true in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.002)


def children_of(pid: int) -> list[int]:
    """Processes that it has started, zombies too."""
    children = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text("utf-8").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[1]) == pid:
            children.append(int(status.parent.name))
    return children


def descendants_of(pid: int) -> list[int]:
    """The same, and those that these have started."""
    children = children_of(pid)
    return children + [one for child in children for one in descendants_of(child)]


def command_of(pid: int) -> bytes:
    """Its program and arguments; nothing where it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def workers_of(launcher: int) -> list[int]:
    """Worker processes of a build: children of its child that forks them."""
    return [
        worker
        for child in children_of(launcher)
        if b"fork_server" in command_of(child)
        for worker in children_of(child)
    ]
