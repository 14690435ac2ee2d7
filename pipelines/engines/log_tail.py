"""Reads the end of a log file, for error messages."""

import os
import pathlib

LOG_TAIL_BYTES = 4_000


def log_tail(log: pathlib.Path) -> str:
    """Returns the end of a log file; "" if there is no file. Only the last LOG_TAIL_BYTES are read."""
    if not log.exists():
        return ""
    with log.open("rb") as stream:
        stream.seek(max(stream.seek(0, os.SEEK_END) - LOG_TAIL_BYTES, 0))
        return stream.read().decode("utf-8", "replace")
