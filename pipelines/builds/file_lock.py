"""A lock on a file or folder between processes of one machine. The lock ends with its process."""

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
      waits: wait if another process holds the lock; otherwise BlockingIOError is raised.
      flags: of os.open, which raises OSError for paths that it cannot open.
    """
    descriptor = os.open(path, flags, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        yield descriptor
    finally:
        os.close(descriptor)
