"""Publishes builds on object stores, where folders can be neither moved nor locked.

A build is written into a separate folder beside its target, as on a disk. When it is complete, the store
copies its objects to the target, and COMPLETED is written last.

The lock is a small object beside the target. The store lets a process create this object only if it does not
exist, and overwrite it only if no other process has written it in the meantime. The process that owns the
lock rewrites the object every few seconds. If the object no longer changes, its owner was killed, and another
process may take over the lock.
"""

import concurrent.futures
import contextlib
import functools
import glob
import itertools
import json
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator, Mapping

from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.builds.finished_builds import COMPLETED, MANIFEST, mark_of
from corpusmill.transforms.files.clean_up import errors_logged
from corpusmill.transforms.files.open_input import open_raw
from corpusmill.transforms.files.safe_files import remove_if_there, write_whole
from corpusmill.transforms.files.scratch import SCRATCH
from corpusmill.transforms.files.side_thread import beside
from corpusmill.transforms.files.stores import (
    CONDITIONAL,
    Seen,
    StoreError,
    list_below,
    put_if,
    read_object,
    remove_below,
    remove_if,
)

BEAT_SECONDS = 15.0
DEAD_SECONDS = 60.0
"""If a process has not renewed its lock for this time, another process may take it over."""

UNSURE_SECONDS = 3600.0
"""The temporary files of a build may be removed if its lock was not renewed for this time. The time is long,
because the clocks of machines and stores may differ.
"""

_COPIED_AT_ONCE = 25  # objects per request, if the store accepts several
_THREADS = 8


class BusyError(Exception):
    """Another process owns the lock."""


@contextlib.contextmanager
def building_in_store(target: str) -> Iterator[str]:
    """Yields a temporary folder to build in, and publishes it as `target` at the end of the `with` block.

    Nothing is published if the block raises an error.

    Raises BusyError if another build of the target is running, StoreError if the store refuses a request.
    """
    parent, name = FileSystems.split(target)
    prefix = f".{name}.building-"
    with at_work(f"{parent}/.{name}.builder") as lock:
        for leftover in {path.partition("/")[0] for path in list_below(parent)}:
            if leftover.startswith(prefix):
                remove_below(f"{parent}/{leftover}")
        folder = f"{parent}/{prefix}{lock.id}"
        try:
            yield folder
            _publish(folder, target, lock)
        except BaseException:
            with errors_logged():
                remove_below(folder)
            raise
        remove_below(folder)


def _publish(folder: str, target: str, lock: "StoreLock") -> None:
    """Publishes a folder as `target`.

    COMPLETED of an old build is removed first, so that a mixture of both builds does not look finished.
    Raises BusyError if another process has taken over the lock.
    """
    lock.check()  # first: another builder that took over the lock removes this folder
    with open_raw(f"{folder}/{MANIFEST}") as stream:
        mark = mark_of(stream.read())
    objects = {
        name: size
        for name, (size, _) in list_below(folder).items()
        if not name.startswith(f"{SCRATCH}/")
    }
    lock.check()
    remove_if_there(f"{target}/{COMPLETED}")
    remove_below(target)
    _move(folder, target, objects)
    lock.check()
    write_whole(f"{target}/{COMPLETED}", mark)


def _move(folder: str, target: str, objects: Mapping[str, int]) -> None:
    """Moves objects within the store, without transferring them through this machine.

    Args:
      objects: Name → size in bytes.

    Raises BusyError if the target does not contain exactly these objects afterwards.
    """
    names = sorted(objects)
    parts = [names[at : at + _COPIED_AT_ONCE] for at in range(0, len(names), _COPIED_AT_ONCE)]
    with concurrent.futures.ThreadPoolExecutor(_THREADS) as threads:
        moves = [
            threads.submit(
                FileSystems.rename,
                [f"{folder}/{name}" for name in part],
                [f"{target}/{name}" for name in part],
            )
            for part in parts
        ]
        for move in moves:
            move.result()
    found = {name: size for name, (size, _) in list_below(target).items()}
    if found != objects:
        raise BusyError(
            f"{target} does not contain exactly the files that were moved there; make sure that no other"
            " program writes to it"
        )


def may_be_at_work(target: str) -> bool:
    """Returns True if a process that builds the target has renewed its lock within the last hour.

    The answer may be wrong if clocks differ, or if the process was killed.
    """
    parent, name = FileSystems.split(target)
    (match,) = FileSystems.match([glob.escape(f"{parent}/.{name}.builder")])
    times = [seen.last_updated_in_seconds for seen in match.metadata_list]
    return bool(times) and time.time() - times[0] < UNSURE_SECONDS


class StoreLock:
    """A lock for one process at a time. It is an object in a store.

    Args:
      path: The path of the object.
      what: The name of the locked work, for error messages.
    """

    def __init__(self, path: str, what: str = "build"):
        self._path, self._what = path, what
        self.id = uuid.uuid4().hex[:12]
        self._version: str | None = None  # version of the object that `take` or `check` replaces
        self._puts = itertools.count()
        self._one_at_a_time = threading.Lock()

    def take(self) -> None:
        """Takes the lock. If the object of the lock already exists, waits up to DEAD_SECONDS to see whether
        its owner is still running.

        The lock of a killed process is taken over. Raises BusyError if another process owns the lock.
        """
        log = logging.getLogger(__name__)
        scheme = self._path.partition("://")[0]
        if scheme not in CONDITIONAL:
            log.warning(
                "%s:// does not support locks: do not start two builds of one target at the same time",
                scheme,
            )
        seen = read_object(self._path)
        if seen:
            log.warning(
                "waiting up to %.0f s to see whether the %s of %s is still running; its lock is %s",
                DEAD_SECONDS,
                self._what,
                _text_of(seen),
                self._path,
            )
        end = time.monotonic() + DEAD_SECONDS
        while seen and time.monotonic() < end:
            time.sleep(min(1.0, BEAT_SECONDS / 2))
            now = read_object(self._path)
            if now and now != seen:
                raise self._busy(now)
            seen = now
        self._version = seen.version if seen else None
        if not self._put():
            raise self._busy(read_object(self._path))

    def _busy(self, seen: Seen | None) -> BusyError:
        holder = (
            _text_of(seen) if seen else "but its lock was released in the meantime: start again"
        )
        return BusyError(f"another {self._what} is running: {self._path}, {holder}")

    def check(self) -> None:
        """Renews the lock. Raises BusyError if another process has taken it over."""
        if not self._put():
            raise BusyError(
                f"another {self._what} has taken over the lock of this one: {self._path}"
            )

    def _put(self) -> bool:
        facts = {"id": self.id, "host": socket.gethostname(), "process": os.getpid()}
        with self._one_at_a_time:
            for _ in range(2):
                content = json.dumps({**facts, "put": next(self._puts)}).encode()
                version = put_if(self._path, content, self._version)
                if version:
                    self._version = version
                    return True
                seen = read_object(self._path)
                if not seen or self.id not in _text_of(seen):
                    return False
                self._version = seen.version  # this process wrote it, but the response was lost
        return False

    def release(self) -> None:
        """Removes the lock, unless another process has taken it over."""
        if self._version:
            remove_if(self._path, self._version)


def _text_of(seen: Seen) -> str:
    return seen.content.decode("utf-8", "replace")


@contextlib.contextmanager
def at_work(path: str, what: str = "build") -> Iterator[StoreLock]:
    """Holds a lock, the object at `path`, during the `with` block, and renews it regularly.

    Args:
      what: The name of the locked work, for error messages.

    Raises BusyError if another process owns the lock; StoreError if the store refuses a request.
    """
    lock = StoreLock(path, what)
    lock.take()
    try:
        with beside(functools.partial(_beat, lock)):
            yield lock
    except BaseException:
        with errors_logged():
            lock.release()
        raise
    lock.release()


def _beat(lock: StoreLock, is_over: threading.Event) -> None:
    while not is_over.wait(BEAT_SECONDS):
        try:
            lock.check()
        except BusyError:
            return  # the build gets this error when it is published
        except StoreError as error:  # may be temporary
            logging.getLogger(__name__).warning("%s", error)
