"""Reads the end of a log file, for error messages."""

import os
import pathlib
from typing import IO

LOG_TAIL_BYTES = 4_000


def log_tail(log: pathlib.Path) -> str:
    """Returns the end of a log file; "" if there is no file. Only the last LOG_TAIL_BYTES are read."""
    if not log.exists():
        return ""
    with log.open("rb") as stream:
        return end_of(stream)


def end_of(log: IO[bytes]) -> str:
    """Returns the last LOG_TAIL_BYTES of an open file. Processes that write to it are not disturbed."""
    start = max(os.fstat(log.fileno()).st_size - LOG_TAIL_BYTES, 0)
    return os.pread(log.fileno(), LOG_TAIL_BYTES, start).decode("utf-8", "replace")
