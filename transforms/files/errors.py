"""Errors that end a build, and functions that find their cause in the errors of workers and of the system.

Names of the runners that `--runner` accepts.

This module does not import Beam, because that takes seconds.

Reads the end of a log file, for error messages.

Defines the error numbers and messages by which a full disk is recognised.
"""

import difflib
import errno
import os
import pathlib
import re
import resource
from collections.abc import Sequence
from typing import IO

from .terminal import name_some

IN_PROCESS = "in-process"
DIRECT = "DirectRunner"  # the usual name of Beam's in-process runner
SPARK = "SparkRunner"
DATAFLOW = "DataflowRunner"
PRISM = "PrismRunner"

RUNNERS = (
    *(IN_PROCESS, DIRECT, SPARK, DATAFLOW, "FlinkRunner", PRISM, "PortableRunner"),
    *("InteractiveRunner", "KafkaStreamsRunner", "FnApiRunner", "BundleBasedDirectRunner"),
    *("SwitchingDirectRunner", "TestDirectRunner", "TestDataflowRunner"),
)
"""The names of the in-process runner and of all runners that Beam finds by name."""

_SHOWN = 7  # number of names in messages; the other runners are for notebooks and tests


def runner_named(name: str) -> str:
    """Returns the canonical name of a runner. Case is ignored, and DirectRunner means the in-process runner.

    A name with a dot is the name of a class, which Beam imports. Raises ValueError, which lists the known
    names, if there is no such runner.
    """
    known = {runner.casefold(): runner for runner in RUNNERS}
    folded = name.casefold()
    if not (runner := known.get(folded, name if "." in name else "")):
        near = difflib.get_close_matches(f"{folded.removesuffix('runner')}runner", known, 1)
        guess = f"did you mean {known[near[0]]}? Known:" if near else "known:"
        raise ValueError(
            f"no such runner: {name!r}; {guess} {', '.join(RUNNERS[:_SHOWN])}, or the full name of a class"
        )
    return IN_PROCESS if runner == DIRECT else runner


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


NUMBERS = (errno.ENOSPC, errno.EDQUOT)
TEXTS = r"No space left on device|Disk quota exceeded"  # errors of workers arrive as tracebacks


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
    if found := _WORKER_ERROR.findall(text):
        return str(found[-1]).strip()
    if shortage := _SHORTAGE.search(text):
        return f"a worker process stopped: {_explain(shortage[0])}"
    if missing := _NOT_FETCHED.search(text):
        what, url, why = missing.groups()
        return f"the runner's {what} cannot be downloaded from {url}: {why.strip('<>')}"
    return ""


def find_shortage(error: BaseException) -> str:
    """Returns one line about a shortage of disk space, memory or threads, or about a path that cannot be
    used, that caused an error; "" for other errors.
    """
    if isinstance(error, OSError) and error.errno in (*_SHORT_OF, *_UNUSABLE):
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


_SHORT_OF = (*NUMBERS, errno.EFBIG, errno.EMFILE, errno.ENFILE)
_UNUSABLE = (errno.EACCES, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTDIR)  # paths
_SHORTAGE = re.compile(
    r"\w*MemoryError\b|Cannot allocate memory|failed to map segment|can't start new thread"
    rf"|{TEXTS}|File too large|Too many open files|Symlink loop from .*"
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
        names = name_some(failed, SHOWN_FAILURES)
        raise BuildError(f"{len(failed):,} of {count:,} {what}: {names}; {remedy}")
