"""Builds on object stores, which can neither move folders nor lock them.

A build is written into a folder of its own beside its target, as on a disk. When it is whole, the store
copies its objects to where they belong, and the mark comes last. A small object beside the target is the
lock: the store writes it only for who has written it last, or where there is none. Its holder writes it
anew every few seconds; one that stays as it is may be taken from its holder, who was killed.
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

from pipelines.builds.clean_up import errors_logged
from pipelines.builds.safe_files import remove_if_there, write_whole
from pipelines.builds.side_thread import beside
from transforms.builds.finished_builds import COMPLETED, MANIFEST, mark_of
from transforms.files.open_input import open_raw
from transforms.files.scratch import SCRATCH
from transforms.files.stores import (
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
"""A builder that has not written for so long has lost its lock to whoever takes it first."""

UNSURE_SECONDS = 3600.0
"""For so long what it has left is not touched by others, whose clock may differ from the store's."""

_COPIED_AT_ONCE = 25  # objects in a request, where the store takes several
_THREADS = 8


class BusyError(Exception):
    """Another process is at work."""


@contextlib.contextmanager
def building_in_store(target: str) -> Iterator[str]:
    """Yields a folder to build in; publishes it as `target` where the block ends without an error.

    Raises BusyError beside another build of the target, StoreError where the store refuses.
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
    """The mark of an old build goes first: what is half replaced must not look finished."""
    lock.check()  # first: another builder removes the folder of one that it takes for killed
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
    """The store copies them itself: nothing of them comes here."""
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
        raise BusyError(f"{target} is not what was moved there; is another program at work in it?")


def may_be_at_work(target: str) -> bool:
    """Has a builder of the target said so within the hour? Clocks, and killed builders, may deceive."""
    parent, name = FileSystems.split(target)
    (match,) = FileSystems.match([glob.escape(f"{parent}/.{name}.builder")])
    times = [seen.last_updated_in_seconds for seen in match.metadata_list]
    return bool(times) and time.time() - times[0] < UNSURE_SECONDS


class StoreLock:
    """An object that the store lets one process write at a time.

    Args:
      what: the work that it is for, as errors name it.
    """

    def __init__(self, path: str, what: str = "build"):
        self._path, self._what = path, what
        self.id = uuid.uuid4().hex[:12]
        self._version: str | None = None  # of the object that is to be replaced
        self._puts = itertools.count()
        self._one_at_a_time = threading.Lock()

    def take(self) -> None:
        """Takes the lock, or that of a builder that is no more. Raises BusyError where one is at work."""
        log = logging.getLogger(__name__)
        scheme = self._path.partition("://")[0]
        if scheme not in CONDITIONAL:
            log.warning(
                "%s:// has no lock: take care that no two builds of a target begin at once", scheme
            )
        seen = read_object(self._path)
        if seen:
            log.warning(
                "waiting up to %.0f s: is the %s of %s at work? it has left %s",
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
        holder = _text_of(seen) if seen else "gone by now"
        return BusyError(f"another {self._what} is at work: {self._path}, {holder}")

    def check(self) -> None:
        """Says that this process is at work. Raises BusyError where another has taken the lock."""
        if not self._put():
            raise BusyError(f"another {self._what} has taken the place of this one: {self._path}")

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
                self._version = seen.version  # a put of its own, of which no answer came
        return False

    def release(self) -> None:
        """Lets others build, unless another does."""
        if self._version:
            remove_if(self._path, self._version)


def _text_of(seen: Seen) -> str:
    return seen.content.decode("utf-8", "replace")


@contextlib.contextmanager
def at_work(path: str, what: str = "build") -> Iterator[StoreLock]:
    """Holds the lock at the path for the block. Raises BusyError, StoreError. Args: as of StoreLock."""
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
            return  # the builder learns it when it would publish
        except StoreError as error:  # for a moment: no reason to give up
            logging.getLogger(__name__).warning("%s", error)
