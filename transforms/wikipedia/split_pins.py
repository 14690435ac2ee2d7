"""Reads pinned splits, by which articles keep the split that they had in an earlier release.

A pin is (wikidata_id, split). Tables of pins are TSV or CSV with a header line, or Arrow tables; other
columns are ignored. Splits are named train, validation and test; "dev" and "valid", the names in many
releases, mean validation.
"""

import csv
import itertools
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

from corpusmill.transforms.files.fingerprint import SPLITS

ID, SPLIT = "wikidata_id", "split"

BUCKETS = 256
"""Number of buckets of identities. Pins are joined with pages by bucket, so that there are few keys of about
the same size: with a hundred million pins, no worker holds more than half a million.
"""

_SYNONYMS = {name: name for name in SPLITS} | {"dev": "validation", "valid": "validation"}
_IDENTITY = re.compile(r"Q[1-9][0-9]{0,17}|[a-z0-9_]+:[0-9]{1,18}")
_SPLIT_OF_FILE = re.compile(rf"({'|'.join(SPLITS)})-\d+-of-\d+\.parquet")
_DETAIL_CHARACTERS = 100

Pin = tuple[str, str]  # identity ("Q64", or "ukwiki:1088" of builds without Wikidata), split


class MalformedPinsError(ValueError):
    """Raised if a table of pins is invalid. `place` is a line (1 is the header) or a row."""

    def __init__(self, place: str, message: str):
        super().__init__(f"{place}: {message}")
        self.place, self.message = place, message


class ConflictingPinsError(ValueError):
    """Raised if an article is pinned to two splits.

    `first` and `second` are (split, file of the pin). The message names both splits, and the file of the
    first.
    """

    def __init__(self, identity: str, first: tuple[str, str], second: tuple[str, str]):
        super().__init__(f"{identity} is pinned to {second[0]}, but to {first[0]} in {first[1]}")
        self.identity, self.first, self.second = identity, first, second


def check_pin(identity: str, split: str, place: str) -> Pin:
    """Checks a pin, and returns it with "train", "validation" or "test" as its split.

    `identity` must be like "Q64" or "ukwiki:1088". An id in another notation would match no page, and its pin
    would be ignored without an error. Raises MalformedPinsError, which names `place`, if the id or the split
    is invalid.
    """
    if not _IDENTITY.fullmatch(identity):
        shown = identity[:_DETAIL_CHARACTERS]
        raise MalformedPinsError(
            place, f"{ID} is {shown!r}; expected an id like 'Q64' or 'ukwiki:1088'"
        )
    name = _SYNONYMS.get(split)
    if name is None:
        shown = split[:_DETAIL_CHARACTERS]
        raise MalformedPinsError(
            place, f"{SPLIT} is {shown!r}; expected one of {', '.join(_SYNONYMS)}"
        )
    return identity, name


def read_pin_lines(lines: Iterable[bytes]) -> Iterator[Pin]:
    """Yields the pins of a TSV or CSV file.

    Raises MalformedPinsError, which names the line, for an invalid line. The header is line 1.

    If the header has a tab, fields are separated by tabs, and quotation marks are removed only around whole
    fields. Otherwise the file is CSV (RFC 4180).
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
            message = f"expected {len(names)} fields as in the header, found {len(row)}"
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
        message = f"the header must have the columns {ID} and {SPLIT}, found {shown}"
        raise MalformedPinsError("line 1", message)
    return header.index(ID), header.index(SPLIT)


def _rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yields (line number, fields without surrounding spaces) for each line."""
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
    """Returns the names of the columns to read from an Arrow table.

    These are the columns of the id and of the split. Raises MalformedPinsError if one of them is missing.

    Args:
      names: names of all columns of the table.
      split: the split of all rows, if it is known. Then no column of splits is needed. "" if it is unknown.
    """
    wanted = [ID] if split else [ID, SPLIT]
    missing = [name for name in wanted if name not in names]
    if missing:
        raise MalformedPinsError(
            "schema", f"there is no column {missing[0]}; the columns are {', '.join(names)}"
        )
    return wanted


def pins_of_table(table: pa.Table, split: str = "") -> Iterator[Pin]:
    """Yields the pins of an Arrow table.

    Raises MalformedPinsError, which names the row (counted from 1), for an invalid row.

    Columns may have any string or binary (UTF-8) type of Arrow. For `split` see `check_columns`.
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
    """Returns the split in the name of a Parquet file: "test" for "test-00000-of-00002.parquet".

    Returns None for names of another form.
    """
    found = _SPLIT_OF_FILE.fullmatch(name)
    return found[1] if found else None


def bucket_of(identity: str) -> int:
    """Returns the number of the bucket in which `pack_pins` puts the pin of the article with this id."""
    return zlib.crc32(identity.encode()) % BUCKETS


def pack_pins(pins: Iterable[Pin]) -> dict[int, bytes]:
    """Groups pins by bucket (see `bucket_of`). Returns bucket → its pins as UTF-8 lines.

    The lines are sorted and without repetitions.
    """
    lines: dict[int, list[str]] = {}
    for identity, split in sorted(set(pins)):
        lines.setdefault(bucket_of(identity), []).append(f"{identity}\t{split}")
    return {bucket: "\n".join(of_bucket).encode() for bucket, of_bucket in lines.items()}


def unpack_pins(blocks: Iterable[tuple[str, bytes]]) -> Mapping[str, str]:
    """Returns id of the article → split, for all pins in `blocks`.

    A block is (name of the file from which the pins were read, pins packed by `pack_pins`). Raises
    ConflictingPinsError if an article has pins to different splits.
    """
    splits: dict[str, tuple[str, str]] = {}
    for file, block in sorted(blocks):
        for line in block.decode().splitlines():
            identity, _, split = line.partition("\t")
            known = splits.setdefault(identity, (split, file))
            if known[0] != split:
                raise ConflictingPinsError(identity, known, (split, file))
    return {identity: split for identity, (split, _) in splits.items()}
