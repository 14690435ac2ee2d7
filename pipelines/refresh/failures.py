"""Describes errors in one line for the log of a refresh."""

import json
import re
from collections.abc import Callable, Iterator, Sequence

from corpusmill.pipelines.refresh.remote import hide_passwords
from corpusmill.pipelines.run.publish import TargetError
from corpusmill.transforms.files import full_disk
from corpusmill.transforms.files.builds.ledger import AccountingError
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.open_input import InputError
from corpusmill.transforms.files.stores import StoreError, free_bytes

INTERRUPTED = "interrupted; the next run continues where this one stopped"

_TELLING = (BuildError, InputError, TargetError, StoreError, AccountingError, ValueError)
_IN_THE_FILE: Sequence[
    tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]
] = (  # pairs (flag of a command, key of refresh.toml)
    (re.compile(r"--workers (\d+)"), r"workers = \1"),
    (re.compile(r"--runner (\w+)"), r'runner = "\1"'),
    (re.compile(r"--workers\b"), "workers"),
    (re.compile(r"--ignore-memory\b"), "ignore_memory = true"),
    (re.compile(r"--accept ([\w -]+)"), lambda found: f"accept = {json.dumps(found[1].split())}"),
)
_DISK_FULL = re.compile(full_disk.TEXTS)


def is_expected(error: BaseException) -> bool:
    """Returns True if the error's message explains it to users, so that no traceback is needed."""
    return isinstance(error, _TELLING) or is_disk_full(error)


def is_disk_full(error: BaseException) -> bool:
    """Returns True if a full disk caused the error. Errors of workers are recognised by their text."""
    return any(
        getattr(one, "errno", None) in full_disk.NUMBERS or _DISK_FULL.search(str(one))
        for one in _chain(error)
    )


def describe(error: BaseException, folders: Sequence[str]) -> str:
    """Returns a description of an error in one line, without passwords.

    Args:
      folders: output folders. If a disk is full, the free disk space of these folders is reported.
    """
    if is_disk_full(error):
        room = ", ".join(
            f"{folder} has {free:,} bytes left"
            for folder in folders
            if (free := free_bytes(folder)) is not None
        )
        return f"the disk is full: {room}; nothing is lost: free some space, and the next run continues"
    text = hide_passwords(str(error))
    for flag, setting in _IN_THE_FILE:
        text = flag.sub(setting, text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if isinstance(error, _TELLING):
        return " ".join(lines)
    return f"{type(error).__name__}: {lines[-1] if lines else 'see the traceback'}"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error:
        yield error
        error = error.__cause__ or error.__context__
