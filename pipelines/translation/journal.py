"""The journal of a language: an append-only record of packets, imports, checks and reviews.

Each entry is a folder. It is written under a temporary name and then renamed to the next number, so there are
no incomplete entries. To add an entry, a process locks the journal before reading it, and unlocks it when the
entry is added.

Defines the facts that a journal entry of each kind contains, and their types.

Reads and writes files of a project. Errors name the file; a killed process leaves no incomplete file.

Reads and copies the files that are sent to translators and reviewers: packets and review sheets.
"""

import contextlib
import datetime
import getpass
import hashlib
import os
import pathlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import msgspec

from corpusmill.transforms.files import write_files
from corpusmill.transforms.files.builds.manifest import to_json
from corpusmill.transforms.files.markup import read_table
from corpusmill.transforms.files.read_files import InputError, check_regular, parse_json, read_text
from corpusmill.transforms.files.records import ReadError
from corpusmill.transforms.files.write_files import make_beside, sync

from ..run.publish import TargetError

Fraction = Annotated[str, msgspec.Meta(pattern="^[0-9]+(/[1-9][0-9]*)?$")]


class _Head(msgspec.Struct):
    kind: str
    round: int
    time: str
    by: str


HEAD = _Head.__struct_fields__
"""Names of the facts that every entry has."""


class _Facts(msgspec.Struct):
    """The facts of one kind of journal entry.

    An entry may contain more facts, which no program reads.
    """

    def others(self) -> Sequence[int]:
        """Returns the numbers of the earlier entries that this entry refers to."""
        return ()


class _File(msgspec.Struct):
    name: str
    sha256: str


class _Packet(_Facts):
    why: str
    ids: list[str]
    files: dict[str, str]
    editing: bool = False  # the sentences are translated, and another translator edits them


class _Import(_Facts):
    base: int
    file: _File
    lines: int
    empty: int
    first: int
    same: int
    changed: int
    corrected: int
    disputed: int
    late: int
    corrects: list[int] = []
    refused: int = 0

    def others(self) -> Sequence[int]:
        return [self.base, *self.corrects]


class _Rules(msgspec.Struct):
    error: dict[str, int]
    warning: dict[str, int]


class Waiver(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The decision of a person to accept a finding. It is valid until the text of the line changes."""

    id: str  # "" for findings about the whole file
    rule: str
    text_sha256: str  # hash of the escaped text; "" for the whole file
    because: str
    by: str


class _Check(_Facts):
    digest: str
    errors: int
    warnings: int
    waived: int
    rules: _Rules
    waivers: list[Waiver] = []


class _Sheets(_Facts):
    reviewer: str
    sample_digest: str
    lines: int
    files: dict[str, str]


class _Review(_Facts):
    reviewer: str
    reviewed: list[str]
    errors: int
    sample_digest: str
    file: _File


class _Verdict(_Facts):
    accepted: bool
    accepted_from: Fraction
    shown: str
    sample_digest: str
    sample: list[str]
    sentences_major_or_critical: int
    sentences_critical: int
    sentences_unnatural: int
    reviews: list[int]

    def others(self) -> Sequence[int]:
        return self.reviews


_FACTS: Mapping[str, type[_Facts]] = {
    "packet": _Packet,
    "import": _Import,
    "check": _Check,
    "sheets": _Sheets,
    "review": _Review,
    "verdict": _Verdict,
}


def read_bytes(path: pathlib.Path) -> bytes:
    """Reads a file. Raises InputError if it cannot be read, or is a pipe or a device."""
    check_regular(str(path))
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(str(path), error.strerror or str(error)) from None


def read_rows(
    path: pathlib.Path, columns: Sequence[str], *, for_people: bool = True
) -> list[dict[str, Any]]:
    """Reads a table of a journal entry. Returns column → value for each row; the column `line` has numbers.

    Raises InputError for a damaged table.
    """
    try:
        table = read_table(read_text(str(path)), columns, for_people=for_people)
        return [
            {name: int(row[name]) if name == "line" else row[name] for name in columns}
            for _, row in table
        ]
    except (ReadError, ValueError) as error:
        raise InputError(str(path), f"is damaged: {error}") from None


@contextlib.contextmanager
def naming(path: str | pathlib.Path) -> Iterator[None]:
    """Replaces a ReadError in the `with` block by an InputError that names the file."""
    try:
        yield
    except ReadError as error:
        place = f"{path}, line {error.line}" if error.line else str(path)
        raise InputError(place, error.message) from None


def describe(path: pathlib.Path, data: bytes) -> dict[str, Any]:
    """Returns the name, size and SHA-256 of a received file, for an entry of the journal."""
    return {"name": path.name, "bytes": len(data), "sha256": sha256_of(data)}


def sha256_of(data: bytes) -> str:
    """Returns the SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def fill_folder(folder: pathlib.Path, files: Mapping[str, bytes]) -> None:
    """Writes new files to a folder, and syncs them to the disk.

    Args:
      files: name → content. A name may contain one subfolder.
    """
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    for place in {folder, *((folder / name).parent for name in files)}:
        sync(place)


def check_copies(folder: str, files: Mapping[str, bytes]) -> None:
    """Raises TargetError if a folder has a file with the same name as one of `files`, but with
    other content.
    """
    paths = {pathlib.Path(folder) / name: data for name, data in files.items()} if folder else {}
    taken = [
        path.name
        for path, data in paths.items()
        if path.exists() and not (path.is_file() and path.read_bytes() == data)
    ]
    if taken:
        raise TargetError(
            f"{folder} already contains a different {', '.join(taken)}; use another folder with --to"
        )


def put_copies(folder: str, files: Mapping[str, bytes]) -> list[str]:
    """Writes copies of files to a folder, which is created if missing. Returns the paths of the copies.

    Each file is written atomically. Existing files are never overwritten.

    Args:
      files: name → content.

    Raises TargetError if the folder has a file with the same name and other content, or cannot be written.
    """
    place = pathlib.Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with write_files.locked(place, waits=True):
            check_copies(folder, files)
            for name, data in files.items():
                _put(place / name, data)
    except FileExistsError:
        raise TargetError(f"{folder}: not a folder, or another process is writing to it") from None
    except OSError as error:
        raise TargetError(f"{folder}: {error.strerror}") from None
    return [str(place / name) for name in files]


def _put(path: pathlib.Path, data: bytes) -> None:
    """Writes a file unless it exists. The caller must hold the lock of the folder."""
    beside = path.with_name(f".{path.name}.part")
    beside.unlink(missing_ok=True)  # left by a killed process
    if path.exists():
        return
    try:
        beside.write_bytes(data)
        os.link(beside, path)  # fails if the name is taken; a rename would replace the file
    finally:
        beside.unlink(missing_ok=True)


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
    facts: Mapping[str, Any]  # depend on the kind

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
        kind = msgspec.convert(facts, _Head).kind
        told = msgspec.convert(facts, _FACTS.get(kind, _Facts))  # an unknown kind has only a head
        if not all(0 < other < number for other in told.others()):
            before = f"one of the {number - 1} entries before it"
            raise ValueError(f"the entry refers to an entry that is not {before}")
    except (msgspec.ValidationError, ValueError) as error:  # half a surrogate pair: ValueError
        raise InputError(str(path), f"is damaged: {error}") from None
    return Entry(number, folder, **{name: facts.pop(name) for name in HEAD}, facts=facts)


@contextlib.contextmanager
def locked(folder: pathlib.Path) -> Iterator[None]:
    """Locks a journal during the `with` block, after waiting for other processes.

    Removes the unfinished entries of killed processes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with write_files.locked(folder, waits=True):
        for leftover in folder.glob(f"{_UNFINISHED}*"):
            shutil.rmtree(leftover, ignore_errors=True)
        yield


def append(folder: pathlib.Path, by: str, last: int, make_draft: Callable[[int], Draft]) -> Entry:
    """Adds an entry to a journal, which the caller must have locked. Returns the entry.

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
            target = folder / name_of(number)
            entry = Entry(number, target, draft.kind, draft.round, now(), by, draft.facts)
            facts = {**{name: getattr(entry, name) for name in HEAD}, **draft.facts}
            fill_folder(building, {**draft.files, _ENTRY: to_json(facts).encode("utf-8")})
            try:
                building.rename(target)
            except OSError:
                if not target.exists():
                    raise
                number += 1  # a folder with content already has the name; it is never replaced
                continue
            sync(folder)
            return entry
        finally:
            shutil.rmtree(building, ignore_errors=True)


class Sent(NamedTuple):
    """The result of sending a packet or a review sheet for one language."""

    code: str
    entry: Entry | None  # the current packet or sheet; None if there is none
    message: str
    paths: Sequence[str] = ()  # paths of the files, or of their copies


def paths_of(entry: Entry, to: str) -> list[str]:
    """Copies the files of a packet or review sheet to the folder `to`, and returns the paths of the copies.

    If `to` is "", copies nothing, and returns the paths of the files in the folder of the entry.

    Raises InputError if a file cannot be read, and TargetError if a copy cannot be written, or would replace
    a file with other content.
    """
    contents = {name: read_bytes(entry.folder / name) for name in entry.facts["files"]}
    return put_copies(to, contents) if to else [str(entry.folder / name) for name in contents]


def print_sent(sent: Iterable[Sent]) -> None:
    """Prints a line for each language, and the paths of its files."""
    for one in sent:
        print(f"{one.code}: {one.message}")
        for path in one.paths:
            print(f"  {path}")
