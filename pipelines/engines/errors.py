"""How a run ends without a result."""

import errno
import re
import resource

# What a worker raises comes as the text of its traceback.
_WORKER_ERROR = re.compile(
    r"\b(?:InputError|StoreError): (.*?)(?: \[while running '|\n|$)", re.DOTALL
)


class BuildError(Exception):
    """A build ended without a result; the message is for the person who started it."""


def find_worker_error(text: str) -> str:
    """One line, out of the text of a worker's traceback, of what it says of a file; "" for other errors."""
    found = _WORKER_ERROR.findall(text)
    if found:
        return str(found[-1]).strip()
    if shortage := _SHORTAGE.search(text):
        return f"a worker process could not go on: {_explain(shortage[0])}"
    return ""


def find_shortage(error: BaseException) -> str:
    """One line of what this process has too little of: disk, memory, threads; "" for other errors."""
    if isinstance(error, OSError) and error.errno in _SHORT_OF:
        return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
    shortage = _SHORTAGE.search(f"{type(error).__name__}: {error}")
    return _explain(shortage[0]) if shortage else ""


_SHORT_OF = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE)
_SHORTAGE = re.compile(
    r"\w*MemoryError\b|Cannot allocate memory|failed to map segment|can't start new thread"
    r"|No space left on device|Disk quota exceeded|File too large|Too many open files"
)


def _explain(shortage: str) -> str:
    if shortage[0].isupper() and "emory" not in shortage:
        return shortage
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    limit = f"{most / 1e9:.1f} GB a process by ulimit -v" if most >= 0 else "no limit by ulimit -v"
    return f"memory ran out ({shortage}; {limit}): raise the limit, or take fewer --workers"
