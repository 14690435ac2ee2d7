"""A lock on a file or folder, for processes on one machine. It is released when its process ends."""

import contextlib
import fcntl
import os
import pathlib
from collections.abc import Iterator


@contextlib.contextmanager
def locked(
    path: str | pathlib.Path, *, waits: bool = False, flags: int = os.O_RDONLY
) -> Iterator[int]:
    """Holds the lock inside the block; yields the open file descriptor.

    Args:
      waits: Whether to wait if another process holds the lock. If False, BlockingIOError is raised.
      flags: The flags for os.open, which raises OSError if it cannot open the path.
    """
    descriptor = os.open(path, flags, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        yield descriptor
    finally:
        os.close(descriptor)
