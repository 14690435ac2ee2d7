"""Locks files or folders for processes on one machine. A lock is released when its process ends."""

import contextlib
import fcntl
import os
import pathlib
from collections.abc import Iterator


@contextlib.contextmanager
def locked(
    path: str | pathlib.Path, *, waits: bool = False, flags: int = os.O_RDONLY
) -> Iterator[int]:
    """Locks a file or folder during the `with` block. Yields its open file descriptor.

    Args:
      waits: Whether to wait if another process has locked the path. If False, raises BlockingIOError then.
      flags: The flags for os.open, which raises OSError if it cannot open the path.
    """
    descriptor = os.open(path, flags, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        yield descriptor
    finally:
        os.close(descriptor)
