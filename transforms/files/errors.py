"""Errors that end a build, and functions that find their cause in the errors of workers and of the system."""

import errno
import re
import resource
from collections.abc import Sequence

from corpusmill.transforms.files import full_disk

SHOWN_FAILURES = 10
LOOKED_AHEAD = "the reasons are above; this is a dry run: nothing was built"
REMEDY = (
    "the reasons are above; correct them and run the same command again: finished builds are kept"
)

# Errors of workers arrive as the text of their traceback.
_WORKER_ERROR = re.compile(
    r"\b(?:InputError|StoreError): (.*?)(?: \[while running '|\n|$)", re.DOTALL
)


# Beam downloads some runners when they are first used.
_NOT_FETCHED = re.compile(r"Unable to fetch remote (.+?) at (\S+): (.*)", re.DOTALL)


class BuildError(Exception):
    """A build has ended without a result. The message is written for the user who started the build."""


def find_worker_error(text: str) -> str:
    """Returns one line about the error that a worker raised; "" if `text` contains no known error.

    Args:
      text: An error message that contains the traceback.
    """
    found = _WORKER_ERROR.findall(text)
    if found:
        return str(found[-1]).strip()
    if shortage := _SHORTAGE.search(text):
        return f"a worker process stopped: {_explain(shortage[0])}"
    if missing := _NOT_FETCHED.search(text):
        what, url, why = missing.groups()
        return f"the runner's {what} cannot be downloaded from {url}: {why.strip('<>')}"
    return ""


def find_shortage(error: BaseException) -> str:
    """Returns one line about a shortage of disk space, memory or threads that caused an error; "" for other
    errors.
    """
    if isinstance(error, OSError) and error.errno in _SHORT_OF:
        return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
    shortage = _SHORTAGE.search(f"{type(error).__name__}: {error}")
    return _explain(shortage[0]) if shortage else ""


LEAST_ADDRESS_SPACE = 4_000_000_000
"""Minimum address space of a process in bytes. Beam's libraries map 2.6 GB before the first input is read,
and hang or abort if they cannot start a thread.
"""


def check_address_space() -> None:
    """Raises BuildError if the address space of this process (ulimit -v) is too small for a build."""
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if 0 <= most < LEAST_ADDRESS_SPACE:
        raise BuildError(
            f"ulimit -v limits the memory of a process to {most / 1e9:.1f} GB, but"
            f" {LEAST_ADDRESS_SPACE / 1e9:.0f} GB are needed: raise the limit"
        )


_SHORT_OF = (*full_disk.NUMBERS, errno.EFBIG, errno.EMFILE, errno.ENFILE)
_SHORTAGE = re.compile(
    r"\w*MemoryError\b|Cannot allocate memory|failed to map segment|can't start new thread"
    rf"|{full_disk.TEXTS}|File too large|Too many open files"
)


def _explain(shortage: str) -> str:
    if shortage[0].isupper() and "emory" not in shortage:
        return shortage
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return f"memory ran out ({shortage}): use fewer --workers, or a machine with more memory"
    limit = f"ulimit -v: {most / 1e9:.1f} GB per process"
    return f"memory ran out ({shortage}; {limit}): raise the limit, or use fewer --workers"


def end_if_failed(failed: Sequence[str], count: int, what: str, remedy: str = REMEDY) -> None:
    """Ends a command that has run several things, of which some have failed, with a last line that says so.

    Args:
      failed: The names of those that have failed.
      count: The number of all.
      what: Their name in the plural and a verb, such as "builds failed".
      remedy: What the user can do.

    Raises BuildError if `failed` is not empty.
    """
    if failed:
        names = ", ".join(failed[:SHOWN_FAILURES])
        more = len(failed) - SHOWN_FAILURES
        names += f" and {more:,} more" if more > 0 else ""
        raise BuildError(f"{len(failed):,} of {count:,} {what}: {names}; {remedy}")
