"""Returns the splits of the PG-19 release, and reads splits from a user's table."""

import csv
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from corpusmill.transforms.books.released import MalformedTableError, decode_lines
from corpusmill.transforms.files.fingerprint import SPLITS
from corpusmill.transforms.files.toml_tables import read_table

BOOK_ID, SPLIT = "book_id", "split"

_TABLE = "released_splits.toml"
_ID = re.compile(r"[1-9][0-9]{0,9}")
_SYNONYMS = {name: name for name in SPLITS} | {"dev": "validation", "valid": "validation"}
_DETAIL_CHARACTERS = 100


@functools.cache
def released_splits() -> Mapping[int, str]:
    """Returns ebook number → "validation" or "test", for the 150 books that are not in the train split.

    The books of the train split are the other books in metadata.csv.
    """
    table = read_table(__package__, _TABLE)
    return {book_id: split for split, book_ids in table.items() for book_id in book_ids}


def read_split_lines(lines: Iterable[bytes]) -> Mapping[int, str]:
    """Reads a TSV or CSV file with the columns book_id and split. Returns ebook number → split.

    Other columns are ignored. "dev" and "valid" mean validation. Raises MalformedTableError for an unknown
    split, and for a book with two different splits.
    """
    rows = _rows(lines)
    _, names = next(rows, (1, []))
    if names.count(BOOK_ID) != 1 or names.count(SPLIT) != 1:
        shown = str(names)[:_DETAIL_CHARACTERS]
        problem = f"the header must have the columns {BOOK_ID} and {SPLIT}, found {shown}"
        raise MalformedTableError(f"line 1: {problem}")
    splits: dict[int, str] = {}
    for line, row in rows:
        try:
            book_id, split = _check(row, names)
            if splits.setdefault(book_id, split) != split:
                raise ValueError(
                    f"book {book_id} is in {split}, but an earlier line has it in {splits[book_id]}"
                )
        except ValueError as error:
            raise MalformedTableError(f"line {line}: {error}") from None
    return splits


def _check(row: Sequence[str], names: Sequence[str]) -> tuple[int, str]:
    if len(row) != len(names):
        raise ValueError(f"expected {len(names)} fields as in the header, found {len(row)}")
    book_id, split = (row[names.index(name)] for name in (BOOK_ID, SPLIT))
    if not _ID.fullmatch(book_id):
        shown = book_id[:_DETAIL_CHARACTERS]
        raise ValueError(f"{BOOK_ID} must be a positive number, not {shown!r}")
    if split not in _SYNONYMS:
        shown = split[:_DETAIL_CHARACTERS]
        raise ValueError(f"{SPLIT} is {shown!r}; expected one of {', '.join(_SYNONYMS)}")
    return int(book_id), _SYNONYMS[split]


def _rows(lines: Iterable[bytes]) -> Iterator[tuple[int, list[str]]]:
    """Parses the lines of a TSV or CSV file. Yields (line number, fields without surrounding white space).

    Empty lines are skipped.
    """
    decoded = [text for _, text in decode_lines(lines)]
    delimiter = "\t" if decoded and "\t" in decoded[0] else ","
    reader = csv.reader(decoded, delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num, [field.strip() for field in row]
    except csv.Error as error:
        raise MalformedTableError(f"line {reader.line_num}: {error}") from None
