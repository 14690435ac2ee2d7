"""Pinned splits: the split that an earlier release has an article's identity in.

A pin is (wikidata_id, split). Tables of them are TSV or CSV with a header line, or Arrow tables; other
columns may be beside the two. Splits are called train, validation and test; "dev" and "valid", as
many releases say, are taken for validation.
"""

import csv
import itertools
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

from transforms.text.fingerprint import SPLITS

ID, SPLIT = "wikidata_id", "split"

BUCKETS = 256
"""Pins are brought together with pages by this many parts of all identities: few keys, none of them
hot, and of a hundred million pins no worker holds more than half a million."""

_SYNONYMS = {name: name for name in SPLITS} | {"dev": "validation", "valid": "validation"}
_IDENTITY = re.compile(r"Q[1-9][0-9]{0,17}|[a-z0-9_]+:[0-9]{1,18}")
_SPLIT_OF_FILE = re.compile(rf"({'|'.join(SPLITS)})-\d+-of-\d+\.parquet")
_DETAIL_CHARACTERS = 100

Pin = tuple[str, str]  # identity ("Q64", or "ukwiki:1088" of builds without Wikidata), split


class MalformedPinsError(ValueError):
    """A table of pins that cannot be understood. `place` is a line (1 is the header) or a row."""

    def __init__(self, place: str, message: str):
        super().__init__(f"{place}: {message}")
        self.place, self.message = place, message


class ConflictingPinsError(ValueError):
    """An identity that is pinned to two splits, and where."""

    def __init__(self, identity: str, first: tuple[str, str], second: tuple[str, str]):
        super().__init__(f"{identity} is pinned to {second[0]}, but to {first[0]} in {first[1]}")
        self.identity, self.first, self.second = identity, first, second


def check_pin(identity: str, split: str, place: str) -> Pin:
    """The pin with the split's usual name. Raises MalformedPinsError.

    An id in another notation would match nothing, and the pin would be lost without a word.
    """
    if not _IDENTITY.fullmatch(identity):
        shown = identity[:_DETAIL_CHARACTERS]
        raise MalformedPinsError(place, f"{ID} is {shown!r}, not like 'Q64' or 'ukwiki:1088'")
    name = _SYNONYMS.get(split)
    if name is None:
        shown = split[:_DETAIL_CHARACTERS]
        raise MalformedPinsError(place, f"{SPLIT} is {shown!r}, none of {', '.join(_SYNONYMS)}")
    return identity, name


def read_pin_lines(lines: Iterable[bytes]) -> Iterator[Pin]:
    """The pins of a TSV or CSV file. Raises MalformedPinsError with the number of the line.

    The header decides: with a tab in it, lines are split at tabs, and quotation marks
    mean nothing but for those around a whole field; else at commas, as RFC 4180 has it.
    """
    decoded = _decode(lines)
    header = next(decoded, "").removeprefix("\ufeff")
    rows = _rows(itertools.chain([header], decoded), "\t" if "\t" in header else ",")
    names = next(rows, (1, []))[1]
    id_at, split_at = _places(names)
    for line, row in rows:
        if not row:
            continue
        if len(row) != len(names):
            message = f"{len(row)} fields, where the header names {len(names)}"
            raise MalformedPinsError(f"line {line}", message)
        yield check_pin(row[id_at], row[split_at], f"line {line}")


def _decode(lines: Iterable[bytes]) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            raise MalformedPinsError(f"line {number}", f"not UTF-8: {error}") from error


def _places(header: Sequence[str]) -> tuple[int, int]:
    if header.count(ID) != 1 or header.count(SPLIT) != 1:
        shown = str(list(header))[:_DETAIL_CHARACTERS]
        message = f"the header has to name {ID} and {SPLIT}, and has {shown}"
        raise MalformedPinsError("line 1", message)
    return header.index(ID), header.index(SPLIT)


def _rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line, fields without the spaces around them)."""
    if delimiter == "\t":
        for number, line in enumerate(lines, start=1):
            fields = line.rstrip("\r\n")
            yield number, [_unquoted(field) for field in fields.split("\t")] if fields else []
        return
    reader = csv.reader(lines, strict=True)
    try:
        for row in reader:
            yield reader.line_num, [field.strip() for field in row]
    except csv.Error as error:
        raise MalformedPinsError(f"line {reader.line_num}", str(error)) from error


def _unquoted(field: str) -> str:
    field = field.strip()
    is_quoted = len(field) > 1 and field[0] == field[-1] == '"'
    return field[1:-1] if is_quoted else field


def check_columns(names: Sequence[str], split: str = "") -> list[str]:
    """The columns to read of an Arrow table with these columns, whose rows are of `split` if it is given.

    Raises MalformedPinsError where one of them is not there.
    """
    wanted = [ID] if split else [ID, SPLIT]
    missing = [name for name in wanted if name not in names]
    if missing:
        raise MalformedPinsError("schema", f"no column {missing[0]} among {', '.join(names)}")
    return wanted


def pins_of_table(table: pa.Table, split: str = "") -> Iterator[Pin]:
    """The pins of an Arrow table. Raises MalformedPinsError with the row, counted from 1.

    Columns may be of text in any of Arrow's types, or of its UTF-8 bytes.
    """
    columns = []
    for name in check_columns(table.column_names, split):
        try:
            columns.append(table[name].cast(pa.string()).to_pylist())
        except pa.ArrowException as error:
            message = f"{name} is not text but {table[name].type}: {error}"
            raise MalformedPinsError("schema", message) from error
    splits = itertools.repeat(split) if split else columns[1]
    for row, (identity, name) in enumerate(zip(columns[0], splits, strict=False), start=1):
        yield check_pin(identity or "", name or "", f"row {row}")


def split_of_file(name: str) -> str | None:
    """The split of a file of a finished build: "test" of "test-00000-of-00002.parquet"."""
    found = _SPLIT_OF_FILE.fullmatch(name)
    return found[1] if found else None


def bucket_of(identity: str) -> int:
    """Returns the bucket in which an identity and its pin meet."""
    return zlib.crc32(identity.encode()) % BUCKETS


def pack_pins(pins: Iterable[Pin]) -> dict[int, bytes]:
    """Bucket → its pins as lines of bytes, each once, in a fixed order."""
    lines: dict[int, list[str]] = {}
    for identity, split in sorted(set(pins)):
        lines.setdefault(bucket_of(identity), []).append(f"{identity}\t{split}")
    return {bucket: "\n".join(of_bucket).encode() for bucket, of_bucket in lines.items()}


def unpack_pins(blocks: Iterable[tuple[str, bytes]]) -> Mapping[str, str]:
    """Identity → split of blocks of (file that they are from, packed pins).

    Raises ConflictingPinsError if two have different splits of one identity.
    """
    splits: dict[str, tuple[str, str]] = {}
    for file, block in sorted(blocks):
        for line in block.decode().splitlines():
            identity, _, split = line.partition("\t")
            known = splits.setdefault(identity, (split, file))
            if known[0] != split:
                raise ConflictingPinsError(identity, known, (split, file))
    return {identity: split for identity, (split, _) in splits.items()}
