"""Flushes files to disk, so that they survive a power failure."""

import os
import pathlib


def sync(path: pathlib.Path) -> None:
    """Waits until the contents of a file, or the entries of a folder, are on the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
