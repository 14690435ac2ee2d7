"""Makes the files for translators and reviewers: packets and sheets, and copies of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pipelines.translation import files
from pipelines.translation.journal import Entry


class Sent(NamedTuple):
    """The result of sending to a language."""

    code: str
    entry: Entry | None  # the packet or sheet that is out now; None where there is none
    message: str
    paths: Sequence[str] = ()  # of the files, or of their copies


def files_of(entry: Entry) -> dict[str, bytes]:
    """Name → content of the files of a packet or sheet. Raises InputError."""
    return {name: files.read_bytes(entry.folder / name) for name in entry.facts["files"]}


def paths_of(entry: Entry, contents: Mapping[str, bytes], to: str) -> list[str]:
    """Returns the paths of the files of an entry, or of their copies, which are made if `to` is a folder."""
    if to:
        return files.put_copies(to, contents)
    return [str(entry.folder / name) for name in contents]


def print_sent(sent: Iterable[Sent]) -> None:
    """A line for each language, and where its files are."""
    for one in sent:
        print(f"{one.code}: {one.message}")
        for path in one.paths:
            print(f"  {path}")
