"""The end of a log, for error messages."""

import os
import pathlib

LOG_TAIL_BYTES = 4_000


def log_tail(log: pathlib.Path) -> str:
    """Returns the end of a log; "" if there is no log. Only the end is read, because a log may be large."""
    if not log.exists():
        return ""
    with log.open("rb") as stream:
        stream.seek(max(stream.seek(0, os.SEEK_END) - LOG_TAIL_BYTES, 0))
        return stream.read().decode("utf-8", "replace")
