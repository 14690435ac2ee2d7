"""Tables that people edit: tab-separated, a header, a row a line, text unchanged.

A text that a spreadsheet would take for a formula has an apostrophe before it (see cells.py), but in tables
that only this program reads. Nothing is quoted. A tab, line feed, carriage return or backslash in a field is
written `\\t`, `\\n`, `\\r` or `\\\\`, so that a row is a line. What a spreadsheet adds (quotation marks
around a field, doubled ones in it) stays, and is for the checks to find.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from transforms.text.files.cells import protect, unprotect
from transforms.text.translation.records import ReadError

_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_TO_ESCAPE = re.compile(r"[\\\t\n\r]")
_ESCAPED = re.compile(r"\\([\\tnr])")
_MEANING = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}


def write_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, for_people: bool = True
) -> str:
    """The table, every line ended by a line feed.

    Raises ValueError for a row that has not as many fields as there are columns, and for a single column.
    """
    lines = (_line(row, len(columns), for_people) for row in (columns, *rows))
    return "".join(lines)


def _line(row: Sequence[str], width: int, for_people: bool) -> str:
    if len(row) != width:
        raise ValueError(f"a row of {len(row)} fields in a table of {width} columns: {row!r}")
    if width < 2:
        raise ValueError("a table has two columns or more: an empty field would be a blank line")
    fields = map(protect, row) if for_people else row
    return (
        "\t".join(_TO_ESCAPE.sub(lambda sign: _ESCAPES[sign[0]], field) for field in fields) + "\n"
    )


def read_table(
    text: str, needed: Sequence[str], *, for_people: bool = True
) -> Iterator[tuple[int, Mapping[str, str]]]:
    """(line, column → field) of each row; blank lines are passed over. Columns may be in any order.

    A byte order mark and CRLF, as spreadsheets write them, are taken for what they are. Raises ReadError
    where a needed column is not there, or a row has more or fewer fields than the header.
    """
    lines = text.removeprefix("\ufeff").split("\n")
    columns = _fields(lines[0])
    missing = [name for name in needed if name not in columns]
    if missing:
        raise ReadError(1, f"no column {', '.join(missing)}; there are {', '.join(columns)}")
    for number, line in enumerate(lines[1:], 2):
        if not line.rstrip("\r"):
            continue
        fields = _fields(line)
        if len(fields) != len(columns):
            raise ReadError(number, f"{len(fields)} fields, and the header has {len(columns)}")
        cells = map(unprotect, fields) if for_people else fields
        yield number, dict(zip(columns, cells, strict=True))


def _fields(line: str) -> list[str]:
    fields = line.removesuffix("\r").split("\t")
    return [_ESCAPED.sub(lambda sign: _MEANING[sign[1]], field) for field in fields]
