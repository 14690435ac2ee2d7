"""One refresh at a time."""

import contextlib
import os
import pathlib
from collections.abc import Iterator, Sequence

from pipelines.builds import file_lock
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
        for path in dict.fromkeys(pathlib.Path(folder, NAME) for folder in folders):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                lock = file_lock.locked(path, flags=os.O_RDWR | os.O_CREAT)
                descriptor = held.enter_context(lock)
            except BlockingIOError:
                holder = path.read_text("ascii", "replace")[:32].strip() or "unknown"
                raise LockedError(
                    f"another refresh is at work: process {holder} holds {path}"
                ) from None
            except OSError as error:
                raise TargetError(f"{path} cannot be made: {error.strerror}") from None
            # The name of the holder is for people. A full disk does not take it.
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, 0)
                os.write(descriptor, f"{os.getpid()}\n".encode())
        yield  # the files stay: to remove one would let two processes lock two files
