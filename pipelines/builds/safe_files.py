"""Files that are there whole or not at all, whenever the process is killed or the power fails."""

import os
import pathlib

from pipelines.builds.disk_sync import sync


def write_whole(path: pathlib.Path, content: bytes) -> None:
    """Replaces a file. Only one process may write it at a time.

    Raises OSError; then the file is what it was, and nothing is left beside it.
    """
    beside = path.with_name(f".{path.name}.part")  # one that a killed process left is written over
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    sync(path.parent)
