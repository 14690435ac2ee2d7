"""Reads and copies the files that are sent to translators and reviewers: packets and review sheets."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from corpusmill.pipelines.translation import files
from corpusmill.pipelines.translation.journal import Entry


class Sent(NamedTuple):
    """The result of sending a packet or a review sheet for one language."""

    code: str
    entry: Entry | None  # the current packet or sheet; None if there is none
    message: str
    paths: Sequence[str] = ()  # paths of the files, or of their copies


def files_of(entry: Entry) -> dict[str, bytes]:
    """Returns file name → content for the files of a packet or review sheet.

    Raises InputError if a file cannot be read.
    """
    return {name: files.read_bytes(entry.folder / name) for name in entry.facts["files"]}


def paths_of(entry: Entry, contents: Mapping[str, bytes], to: str) -> list[str]:
    """Copies the files of a journal entry to the folder `to`, and returns the paths of the copies.

    If `to` is "", copies nothing, and returns the paths of the files in the folder of the entry.

    Args:
      entry: a packet or a review sheet.
      contents: name → content of each of its files.
      to: folder for the copies, or "".

    Raises TargetError if a copy cannot be written, or would replace a file with other content.
    """
    if to:
        return files.put_copies(to, contents)
    return [str(entry.folder / name) for name in contents]


def print_sent(sent: Iterable[Sent]) -> None:
    """Prints a line for each language, and the paths of its files."""
    for one in sent:
        print(f"{one.code}: {one.message}")
        for path in one.paths:
            print(f"  {path}")
