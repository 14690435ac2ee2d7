"""Locks folders, so that only one refresh at a time uses them."""

import contextlib
import os
import pathlib
from collections.abc import Callable, Iterator, Sequence

from apache_beam.io.filesystems import FileSystems

from corpusmill.pipelines.run.publish import TargetError
from corpusmill.pipelines.run.store_builds import BusyError, at_work
from corpusmill.transforms.files import file_lock
from corpusmill.transforms.files.stores import is_local

NAME = ".refresh-lock"


class LockedError(Exception):
    """Another refresh is running."""


@contextlib.contextmanager
def locked(folders: Sequence[str]) -> Iterator[Callable[[], None]]:
    """Locks each folder until the `with` block or the process ends. Creates missing folders.

    Yields a function that raises LockedError if another process has taken over a lock on an object store.
    That happens if this process has not renewed the lock for a minute.

    Raises LockedError if another process holds a lock: immediately on a disk, after some seconds on an object
    store. On an object store, the lock of a killed process expires after a minute. Raises TargetError if a
    folder cannot be created.
    """
    checks: list[Callable[[], None]] = []

    def check() -> None:
        with _as_locked():
            for still_ours in checks:
                still_ours()

    with contextlib.ExitStack() as held:
        for path in dict.fromkeys(FileSystems.join(folder, NAME) for folder in folders):
            if is_local(path):
                held.enter_context(_locked_on_disk(pathlib.Path(path)))
            else:
                with _as_locked():
                    checks.append(held.enter_context(at_work(path, "refresh")).check)
        yield check


@contextlib.contextmanager
def _as_locked() -> Iterator[None]:
    try:
        yield
    except BusyError as error:
        raise LockedError(str(error)) from None


@contextlib.contextmanager
def _locked_on_disk(path: pathlib.Path) -> Iterator[None]:
    with contextlib.ExitStack() as held:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = file_lock.locked(path, flags=os.O_RDWR | os.O_CREAT)
            descriptor = held.enter_context(lock)
        except BlockingIOError:
            holder = path.read_text("ascii", "replace")[:32].strip() or "unknown"
            raise LockedError(
                f"another refresh is running: process {holder} holds {path}"
            ) from None
        except OSError as error:
            raise TargetError(f"{path} cannot be created: {error.strerror}") from None
        # The process id is for users. If the disk is full, it is not written.
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
        yield  # the file is kept: if it were removed, two processes could lock two different files
