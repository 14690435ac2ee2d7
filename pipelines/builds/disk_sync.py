"""Flushes files to disk that must survive a loss of power."""

import os
import pathlib


def sync(path: pathlib.Path) -> None:
    """Waits until the disk has a file, or the names in a folder. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
