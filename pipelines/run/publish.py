"""Publishes a folder as a finished build, completely or not at all.

A build is written beside its target, moved there, and marked with a file COMPLETED at the very end. A folder
without that file is unfinished: readers refuse it, and the next run replaces it.

On an object store, folders can be neither moved nor locked. A build is written into a separate folder beside
its target, as on a disk. When it is complete, the store copies its objects to the target, and COMPLETED is
written last.

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
import pathlib
import posixpath
import shutil
import socket
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from apache_beam.io.filesystem import BeamIOError
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files import stores, write_files
from corpusmill.transforms.files.builds.finished_builds import read_manifest
from corpusmill.transforms.files.builds.ledger import AccountingError
from corpusmill.transforms.files.builds.manifest import COMPLETED, MANIFEST, mark_of
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.read_files import InputError, file_bytes_of, is_there, read_raw
from corpusmill.transforms.files.scratch import SCRATCH
from corpusmill.transforms.files.terminal import name_some
from corpusmill.transforms.files.text import grouped

from .corpus_build import CorpusBuild

BEAT_SECONDS = 15.0
DEAD_SECONDS = 60.0
"""If a process has not renewed its lock for this time, another process may take it over."""

UNSURE_SECONDS = 3600.0
"""The temporary files of a build may be removed if its lock was not renewed for this time. The time is long,
because the clocks of machines and stores may differ.
"""

_COPIED_AT_ONCE = 25  # objects per request, if the store accepts several
_THREADS = 8


class TargetError(Exception):
    """The output folder cannot be written, because it contains a finished build or another
    process uses it.
    """


class BusyError(TargetError):
    """Another process owns the lock."""


EXPLAINED = (BuildError, InputError, stores.StoreError, TargetError, AccountingError, ValueError)
"""Errors whose message explains what the user can do. All other errors are logged with a traceback."""


@contextlib.contextmanager
def building_in_store(target: str) -> Iterator[str]:
    """Yields a temporary folder to build in, and publishes it as `target` at the end of the `with` block.

    Nothing is published if the block raises an error.

    Raises BusyError if another build of the target is running, StoreError if the store refuses a request.
    """
    parent, name = FileSystems.split(target)
    prefix = f".{name}.building-"
    with at_work(f"{parent}/.{name}.builder") as lock:
        for leftover in {path.partition("/")[0] for path in stores.list_below(parent)}:
            if leftover.startswith(prefix):
                stores.remove_below(f"{parent}/{leftover}")
        folder = f"{parent}/{prefix}{lock.id}"
        try:
            yield folder
            _publish(folder, target, lock)
        except BaseException:
            with write_files.errors_logged():
                stores.remove_below(folder)
            raise
        stores.remove_below(folder)


def _publish(folder: str, target: str, lock: "StoreLock") -> None:
    """Publishes a folder as `target`.

    COMPLETED of an old build is removed first, so that a mixture of both builds does not look finished.
    Raises BusyError if another process has taken over the lock.
    """
    lock.check()  # first: another builder that took over the lock removes this folder
    mark = mark_of(read_raw(f"{folder}/{MANIFEST}"))
    objects = {
        name: size
        for name, (size, _) in stores.list_below(folder).items()
        if not name.startswith(f"{SCRATCH}/")
    }
    lock.check()
    write_files.remove_if_there(f"{target}/{COMPLETED}")
    stores.remove_below(target)
    _move(folder, target, objects)
    lock.check()
    write_files.write_whole(f"{target}/{COMPLETED}", mark)


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
    found = {name: size for name, (size, _) in stores.list_below(target).items()}
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
        if scheme not in stores.CONDITIONAL:
            log.warning(
                "%s:// does not support locks: do not start two builds of one target at the same time",
                scheme,
            )
        if seen := stores.read_object(self._path):
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
            if (now := stores.read_object(self._path)) and now != seen:
                raise self._busy(now)
            seen = now
        self._version = seen.version if seen else None
        if not self._put():
            raise self._busy(stores.read_object(self._path))

    def _busy(self, seen: stores.Seen | None) -> BusyError:
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
                if version := stores.put_if(self._path, content, self._version):
                    self._version = version
                    return True
                seen = stores.read_object(self._path)
                if not seen or self.id not in _text_of(seen):
                    return False
                self._version = seen.version  # this process wrote it, but the response was lost
        return False

    def release(self) -> None:
        """Removes the lock, unless another process has taken it over."""
        if self._version:
            stores.remove_if(self._path, self._version)


def _text_of(seen: stores.Seen) -> str:
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
        with write_files.beside(functools.partial(_beat, lock)):
            yield lock
    except BaseException:
        with write_files.errors_logged():
            lock.release()
        raise
    lock.release()


def _beat(lock: StoreLock, is_over: threading.Event) -> None:
    while not is_over.wait(BEAT_SECONDS):
        try:
            lock.check()
        except BusyError:
            return  # the build gets this error when it is published
        except stores.StoreError as error:  # may be temporary
            logging.getLogger(__name__).warning("%s", error)


LEFTOVER_SECONDS = 30.0


class FinishedError(TargetError):
    """The output folder contains a finished build."""


def is_completed(target: str) -> bool:
    """Returns True if a folder contains a finished build. Raises TargetError if the disk or store cannot be
    read.
    """
    try:
        return is_there(FileSystems.join(target, COMPLETED))
    except Exception as error:
        why = error if stores.is_local(target) else stores.refusal_of(error)
        raise TargetError(f"{target}: {why}") from error


def check_target(target: str, *, replace: bool = False) -> None:
    """Checks whether a build can be published as `target`.

    Raises FinishedError if `target` contains a finished build and `replace` is False. On a disk, raises
    TargetError if `target` contains files that no build wrote.
    """
    if is_completed(target) and not replace:
        raise FinishedError(
            f"{target} contains a finished build; use another --output, or --replace to build it again"
        )
    folder = pathlib.Path(target)
    has_files = stores.is_local(target) and folder.is_dir() and any(folder.iterdir())
    # Files without a manifest do not come from a killed build, so they must not be replaced.
    if has_files and not (folder / MANIFEST).exists():
        raise TargetError(
            f"{target} has files that no build wrote; move them, or use another --output"
        )


@contextlib.contextmanager
def building(target: str, *, replace: bool = False) -> Iterator[str]:
    """Yields a temporary folder to build in, and publishes it as `target` at the end of the `with` block.

    Nothing is published if the block raises an error.

    Raises the errors of `check_target`, and TargetError if another build uses `target`.
    """
    check_target(target, replace=replace)
    if stores.is_local(target):
        with building_beside(pathlib.Path(target).absolute()) as folder:
            yield str(folder)
        _mark_completed(target)
        return
    try:
        with building_in_store(target) as folder_in_store:
            yield folder_in_store
    except stores.StoreError as error:
        raise TargetError(str(error)) from error
    except BeamIOError as error:
        raise TargetError(f"{target}: {stores.refusal_of(error)}") from error


@contextlib.contextmanager
def building_beside(target: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yields a temporary folder, and renames it to `target` at the end of the `with` block.

    It replaces `target`. If the block raises an error, the folder is removed instead. Raises TargetError if
    another process uses `target`, or if it cannot be created.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TargetError(f"{target.parent} cannot be created: {error.strerror}") from None
    prefix = f".{target.name}.building-"
    for leftover in target.parent.glob(f"{prefix}*"):
        with lock_of_build(leftover):
            if not write_files.remove_busy(leftover, LEFTOVER_SECONDS):
                raise TargetError(
                    f"{leftover} cannot be removed: workers of a killed build are still writing to it"
                )
    folder = write_files.make_beside(target.parent, prefix)
    with lock_of_build(folder):
        try:
            yield folder
            shutil.rmtree(folder / SCRATCH, ignore_errors=True)
            write_files.remove_unfinished(folder)
            if target.exists():
                remove_build(str(target))
            folder.rename(target)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def lock_of_build(folder: pathlib.Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    """Locks a folder during the `with` block. Raises TargetError if another build holds the lock.

    Args:
      flags: The flags for os.open.

    Yields the open file descriptor of the folder.
    """
    with contextlib.ExitStack() as lock:
        try:
            descriptor = lock.enter_context(write_files.locked(folder, flags=flags))
        except BlockingIOError:
            raise TargetError(f"another build is running: {folder}") from None
        yield descriptor


def remove_build(target: str) -> None:
    """Removes a build. COMPLETED is removed first, so that a partly removed build does not look finished.

    The manifest is removed last: it shows that the remaining files belong to a build.
    """
    had_mark = write_files.remove_if_there(FileSystems.join(target, COMPLETED))
    if not stores.is_local(target):
        stores.remove_below(target)
        return
    if had_mark:
        write_files.sync(pathlib.Path(target))
    for path in pathlib.Path(target).iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != MANIFEST:
            path.unlink()
    shutil.rmtree(target)


def _mark_completed(target: str) -> None:
    folder = pathlib.Path(target)
    write_files.write_whole(folder / COMPLETED, mark_of((folder / MANIFEST).read_bytes()))


SHOWN_DIFFERENCES = 3


def is_built(target: str, corpus: CorpusBuild) -> bool:
    """Returns True if the folder `target` contains a finished build with the settings and inputs of `corpus`.

    Raises TargetError if it contains a finished build of another version, with other settings, or from inputs
    with other names or sizes.
    """
    if not is_completed(target):
        return False
    if differences := "; ".join(_differences(target, corpus)):
        raise TargetError(
            f"{target} contains a build {differences}; use --replace to build it again"
        )
    return True


def _differences(target: str, corpus: CorpusBuild) -> Iterator[str]:
    """Yields the differences between a finished build and the requested build `corpus`, as phrases."""
    manifest = read_manifest(target)
    provenance = corpus.provenance()
    if manifest["version"] != provenance.version:
        yield f"of another version ({manifest['version']} → {provenance.version})"
    # Convert to JSON types: tuples become lists.
    settings = json.loads(json.dumps(dict(provenance.settings)))
    if changes := _changes(manifest.get("settings", {}), settings):
        yield f"with other settings ({changes})"
    before = _sizes(
        (file["role"], file["name"], file["bytes"]) for file in manifest.get("inputs", [])
    )
    now = _sizes(
        (role, posixpath.basename(path), file_bytes_of(path))
        for role, paths in corpus.inputs().items()
        for path in paths
    )
    if changes := _changes(before, now):
        yield f"from other inputs ({changes})"


def _sizes(files: Iterator[tuple[str, str, int]]) -> dict[str, str]:
    """Returns a mapping from the role and name of input files to their sizes as text.

    Two files with the same name give, for example, {"dump ukwiki.xml.bz2": "5 bytes and 7 bytes"}.

    Args:
      files: A tuple (role, name, size in bytes) for each file.
    """
    found = grouped((f"{role} {name}", size) for role, name, size in files)
    return {
        name: " and ".join(f"{size:,} bytes" for size in sorted(sizes))
        for name, sizes in found.items()
    }


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    changes = [
        f"{name}: {_show(before.get(name))} → {_show(now.get(name))}"
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name)
    ]
    return name_some(changes, SHOWN_DIFFERENCES)


def _show(value: Any) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
