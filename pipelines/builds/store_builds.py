"""Builds on object stores, which can neither move folders nor lock them.

A build is written into a folder of its own beside its target, as on a disk. When it is whole, the store
copies its objects to where they belong, and the mark comes last. A small object beside the target says
that a builder is at work; it is written anew every few seconds, so that of a killed one it grows old.
"""

import concurrent.futures
import contextlib
import functools
import hashlib
import io
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
from pipelines.builds.side_thread import beside
from transforms.builds.read_corpus import COMPLETED, MANIFEST
from transforms.files.open_input import InputError, open_raw
from transforms.files.scratch import SCRATCH
from transforms.files.stores import list_below, refusal_of, remove_below, write_object

BEAT_SECONDS = 15.0
DEAD_SECONDS = 60.0
"""A builder that has not written for so long is no more."""

UNSURE_SECONDS = 3600.0
"""For so long what it has left is not touched by others, whose clock may differ from the store's."""

_COPIED_AT_ONCE = 25  # objects in a request, where the store takes several
_THREADS = 8


class BusyError(Exception):
    """Another build of the target is at work."""


@contextlib.contextmanager
def building_in_store(target: str) -> Iterator[str]:
    """Yields a folder to build in; publishes it as `target` where the block ends without an error.

    Raises BusyError beside another build of the target, StoreError where the store refuses.
    """
    parent, name = FileSystems.split(target)
    prefix = f".{name}.building-"
    with _at_work(f"{parent}/.{name}.builder") as lock:
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


def _publish(folder: str, target: str, lock: "_Lock") -> None:
    """The mark of an old build goes first: what is half replaced must not look finished."""
    digest = _digest_of(f"{folder}/{MANIFEST}")
    objects = {
        name: size
        for name, (size, _) in list_below(folder).items()
        if not name.startswith(f"{SCRATCH}/")
    }
    lock.check()
    _remove(f"{target}/{COMPLETED}")
    remove_below(target)
    _move(folder, target, objects)
    lock.check()
    mark = f"{digest}  {MANIFEST}\n".encode()
    write_object(f"{target}/{COMPLETED}", io.BytesIO(mark), len(mark))


def _digest_of(path: str) -> str:
    with open_raw(path) as stream:
        return hashlib.sha256(stream.read()).hexdigest()


def _remove(path: str) -> None:
    if FileSystems.exists(path):
        FileSystems.delete([path])


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
    seen = _read(f"{parent}/.{name}.builder")
    return seen is not None and time.time() - seen[1] < UNSURE_SECONDS


class _Lock:
    """The word of one builder that it is at work."""

    def __init__(self, path: str):
        self._path = path
        self.id = uuid.uuid4().hex[:12]
        facts = {"id": self.id, "host": socket.gethostname(), "process": os.getpid()}
        self._content = json.dumps(facts).encode()

    def take(self) -> None:
        """Waits for the end of whoever has it. Raises BusyError where it does not come."""
        seen = _read(self._path)
        if seen:
            logging.getLogger(__name__).warning(
                "waiting up to %.0f s: is the build of %s at work? it has left %s",
                DEAD_SECONDS,
                seen[0].decode("utf-8", "replace"),
                self._path,
            )
        end = time.monotonic() + DEAD_SECONDS
        while seen and time.monotonic() < end:
            time.sleep(min(1.0, BEAT_SECONDS / 2))
            now = _read(self._path)
            if now and now != seen:
                holder = now[0].decode("utf-8", "replace")
                raise BusyError(f"another build is at work: {self._path}, {holder}")
            seen = now
        self.beat()

    def beat(self) -> None:
        """Says that this builder is at work."""
        write_object(self._path, io.BytesIO(self._content), len(self._content))

    def check(self) -> None:
        """Raises BusyError where another has taken it, because this one was not heard of, or at the same
        moment.
        """
        found = _read(self._path)
        if found is None or found[0] != self._content:
            raise BusyError(f"another build has taken the place of this one: {self._path}")

    def release(self) -> None:
        """Lets others build, unless another does."""
        found = _read(self._path)
        if found and found[0] == self._content:
            _remove(self._path)


@contextlib.contextmanager
def _at_work(path: str) -> Iterator[_Lock]:
    lock = _Lock(path)
    lock.take()
    try:
        with beside(functools.partial(_beat, lock)):
            yield lock
    except BaseException:
        with errors_logged():
            lock.release()
        raise
    lock.release()


def _beat(lock: _Lock, is_over: threading.Event) -> None:
    while not is_over.wait(BEAT_SECONDS):
        try:
            lock.check()
            lock.beat()
        except BusyError:
            return  # the builder learns it when it would publish
        except Exception as error:  # a store that fails for a moment is no reason to give up
            logging.getLogger(__name__).warning("%s", refusal_of(error))


def _read(path: str) -> tuple[bytes, float] | None:
    """Content and time of an object that may be gone at any moment."""
    try:
        file_system = FileSystems.get_filesystem(path)
        if not file_system.exists(path):
            return None
        time_of_change = file_system.metadata(path).last_updated_in_seconds
        with open_raw(path) as stream:
            return stream.read(), time_of_change
    except (InputError, OSError):
        if FileSystems.exists(path):
            raise
        return None
