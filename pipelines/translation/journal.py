"""The journal of a language: an append-only record of packets, imports, checks and reviews.

Each entry is a folder. It is written under a temporary name and then renamed to the next number, so there are
no incomplete entries. To add an entry, a process locks the journal before reading it, and unlocks it when the
entry is added.
"""

import contextlib
import datetime
import getpass
import pathlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from corpusmill.pipelines.translation.entry_facts import HEAD, check_facts
from corpusmill.pipelines.translation.files import fill_folder, read_bytes
from corpusmill.transforms.files import file_lock
from corpusmill.transforms.files.builds.build_manifest import to_json
from corpusmill.transforms.files.disk_sync import sync
from corpusmill.transforms.files.open_input import InputError, parse_json
from corpusmill.transforms.files.safe_files import make_beside

_ENTRY = "entry.json"
_UNFINISHED = ".unfinished-"


class Entry(NamedTuple):
    """An entry of a journal."""

    number: int  # from 1, in the order of arrival
    folder: pathlib.Path
    kind: str  # packet, import, check, sheets, review or verdict
    round: int  # from 1; 0 before the first packet
    time: str  # UTC, "2026-11-22T01:23:45Z"
    by: str  # name of the person
    facts: Mapping[str, Any]  # depend on the kind, see entry_facts.py

    @property
    def name(self) -> str:
        """Number of the entry with four digits: "0003"."""
        return self.folder.name


class Draft(NamedTuple):
    """The content of an entry that is not in the journal yet."""

    kind: str
    round: int
    facts: Mapping[str, Any]
    files: Mapping[str, bytes]  # name → content; a name may have one folder


def now() -> str:
    """Returns the current time in UTC, such as "2026-11-22T01:23:45Z". No other function in this package
    reads the clock.
    """
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def user() -> str:
    """Returns the name of the user who runs this process; "" if it is unknown."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def name_of(number: int) -> str:
    """Returns the name of the entry with this number: "0003"."""
    return f"{number:04}"


def read_entries(folder: pathlib.Path) -> list[Entry]:
    """Returns the entries of a journal in order; an empty list if there is no journal.

    Raises InputError for a damaged journal.
    """
    try:
        names = [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return []
    numbers = sorted(int(name) for name in names if name.isascii() and name.isdigit())
    if numbers != list(range(1, len(numbers) + 1)):
        gap = next(place for place, number in enumerate(numbers, 1) if place != number)
        raise InputError(str(folder), f"entry {name_of(gap)} is missing, but later entries exist")
    return [_read_entry(folder / name_of(number), number) for number in numbers]


def _read_entry(folder: pathlib.Path, number: int) -> Entry:
    path = folder / _ENTRY
    facts = parse_json(str(path), read_bytes(path))
    try:
        check_facts(facts, number)
    except ValueError as error:
        raise InputError(str(path), f"is damaged: {error}") from None
    head = {name: facts.pop(name) for name in HEAD}
    return Entry(number, folder, **head, facts=facts)


@contextlib.contextmanager
def locked(folder: pathlib.Path) -> Iterator[None]:
    """Locks a journal during the `with` block, after waiting for other processes.

    Removes the unfinished entries of killed processes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with file_lock.locked(folder, waits=True):
        for leftover in folder.glob(f"{_UNFINISHED}*"):
            shutil.rmtree(leftover, ignore_errors=True)
        yield


def append(
    folder: pathlib.Path, by: str, last: int, make_draft: Callable[[int], Draft]
) -> tuple[Entry, Draft]:
    """Adds an entry to a journal, which the caller must have locked. Returns the entry and its content.

    Args:
      by: name of the person who adds the entry.
      last: number of the last entry that was read.
      make_draft: function that returns the content for an entry number. It is called again with the next
        number if another process has added an entry in the meantime, which can happen on a file system
        without locks.
    """
    number = last + 1
    while True:
        draft = make_draft(number)
        building = make_beside(folder, _UNFINISHED)
        try:
            time = now()
            facts = {"kind": draft.kind, "round": draft.round, "time": time, "by": by}
            facts |= draft.facts
            content = to_json(facts).encode("utf-8")
            fill_folder(building, {**draft.files, _ENTRY: content})
            target = folder / name_of(number)
            if not _renamed(building, target):
                number += 1
                continue
            sync(folder)
            entry = Entry(number, target, draft.kind, draft.round, time, by, draft.facts)
            return entry, draft
        finally:
            shutil.rmtree(building, ignore_errors=True)


def _renamed(building: pathlib.Path, target: pathlib.Path) -> bool:
    """Renames the folder `building` to `target`. Returns True if it was renamed.

    Returns False if a folder with content already has the name `target`; it is never replaced.
    """
    try:
        building.rename(target)
    except OSError:
        if target.exists():
            return False
        raise
    return True
