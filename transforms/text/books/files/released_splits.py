"""The splits of PG-19 as it was released, and tables by which a user gives splits of his own."""

import csv
import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources

from transforms.text.fingerprint import SPLITS

BOOK_ID, SPLIT = "book_id", "split"

_TABLE = "released_splits.toml"
_ID = re.compile(r"[1-9][0-9]{0,9}")
_SYNONYMS = {name: name for name in SPLITS} | {"dev": "validation", "valid": "validation"}
_DETAIL_CHARACTERS = 100


class MalformedSplitsError(ValueError):
    """A table of splits that cannot be understood."""

    def __init__(self, line: int, message: str):
        super().__init__(f"line {line}: {message}")
        self.line, self.message = line, message

    def __reduce__(self) -> tuple[object, ...]:
        return MalformedSplitsError, (self.line, self.message)


def released_split(book_id: int) -> str | None:
    """ "validation" or "test"; None for the books of the train split, and those that were not released.

    These two are told apart by metadata.csv: it names the books of all three.
    """
    return released_splits().get(book_id)


@functools.cache
def released_splits() -> Mapping[int, str]:
    """Ebook number → split, of the 150 books that are not in the train split."""
    text = resources.files(__package__).joinpath(_TABLE).read_text("utf-8")
    return {
        book_id: split for split, book_ids in tomllib.loads(text).items() for book_id in book_ids
    }


def read_split_lines(lines: Iterable[bytes]) -> Mapping[int, str]:
    """Ebook number → split of a TSV or CSV file: its header names book_id and split, and may name more.

    "dev" and "valid" are taken for validation. Raises MalformedSplitsError for anything else that is no
    split, and for a book with two of them.
    """
    rows = list(_rows(lines))
    _, names = rows[0] if rows else (1, [])
    if names.count(BOOK_ID) != 1 or names.count(SPLIT) != 1:
        shown = str(names)[:_DETAIL_CHARACTERS]
        raise MalformedSplitsError(
            1, f"the header has to name {BOOK_ID} and {SPLIT}, and has {shown}"
        )
    splits: dict[int, str] = {}
    for line, row in rows[1:]:
        if len(row) != len(names):
            raise MalformedSplitsError(
                line, f"{len(row)} fields, not {len(names)} as in the header"
            )
        book_id, split = _check(line, row[names.index(BOOK_ID)], row[names.index(SPLIT)])
        if splits.setdefault(book_id, split) != split:
            raise MalformedSplitsError(
                line, f"{book_id} is in {split}, and in {splits[book_id]} above"
            )
    return splits


def _check(line: int, book_id: str, split: str) -> tuple[int, str]:
    if not _ID.fullmatch(book_id):
        shown = book_id[:_DETAIL_CHARACTERS]
        raise MalformedSplitsError(line, f"{BOOK_ID} is {shown!r}, and must be a positive number")
    if split not in _SYNONYMS:
        shown = split[:_DETAIL_CHARACTERS]
        raise MalformedSplitsError(line, f"{SPLIT} is {shown!r}, none of {', '.join(_SYNONYMS)}")
    return int(book_id), _SYNONYMS[split]


def _rows(lines: Iterable[bytes]) -> Iterable[tuple[int, list[str]]]:
    """(line, fields without the blanks around them); empty lines are passed over."""
    decoded = []
    for number, line in enumerate(lines, start=1):
        try:
            decoded.append(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError as error:
            raise MalformedSplitsError(number, f"not UTF-8: {error}") from None
    reader = csv.reader(
        decoded, delimiter="\t" if decoded and "\t" in decoded[0] else ",", strict=True
    )
    try:
        for row in reader:
            if row:
                yield reader.line_num, [field.strip() for field in row]
    except csv.Error as error:
        raise MalformedSplitsError(reader.line_num, str(error)) from None
