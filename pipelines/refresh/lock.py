"""One refresh at a time."""

import contextlib
import fcntl
import os
import pathlib
from collections.abc import Iterator, Sequence

from pipelines.builds.publish import TargetError

NAME = ".refresh-lock"


class LockedError(Exception):
    """Another refresh is at work."""


@contextlib.contextmanager
def locked(folders: Sequence[str]) -> Iterator[None]:
    """Holds a lock in each folder, which is made if need be, until the block or the process ends.

    Raises LockedError at once where another process holds one, TargetError where a folder cannot be made.
    """
    with contextlib.ExitStack() as held:
        for folder in dict.fromkeys(folders):
            held.enter_context(_locked(pathlib.Path(folder)))
        yield


@contextlib.contextmanager
def _locked(folder: pathlib.Path) -> Iterator[None]:
    path = folder / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise TargetError(f"{path} cannot be made: {error.strerror}") from None
    try:
        _lock(descriptor, path)
        yield
    finally:
        os.close(descriptor)  # the file stays: to remove it would let two processes lock two files


def _lock(descriptor: int, path: pathlib.Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        raise LockedError(
            f"another refresh is at work: process {holder or 'unknown'} holds {path}"
        ) from None
    # Who holds it, for people: on a full disk nobody is told.
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
