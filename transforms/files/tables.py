"""Writes and reads tab-separated tables that people may edit. They have a header and one row per line.

An apostrophe is put before a text that a spreadsheet program would interpret as a formula (see cells.py),
except in tables that only corpusmill reads. Fields are not quoted. A tab, line feed, carriage return or
backslash in a field is written `\\t`, `\\n`, `\\r` or `\\\\`, so that each row is one line. Quotation marks
that a spreadsheet program adds around or inside a field are read as text, and reported by the checks.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from corpusmill.transforms.files.cells import protect, unprotect
from corpusmill.transforms.files.translation_records import ReadError

_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_TO_ESCAPE = re.compile(r"[\\\t\n\r]")
_ESCAPED = re.compile(r"\\([\\tnr])")
_MEANING = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}


def write_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, for_people: bool = True
) -> str:
    """Returns the text of a table. Every line ends with a line feed.

    Args:
      columns: the header.
      rows: the fields of each row.
      for_people: True to put an apostrophe before texts that a spreadsheet program would interpret as
        formulas. False for a table that only corpusmill reads.

    Raises ValueError if a row does not have one field per column, or if the table has only one column.
    """
    lines = (_line(row, len(columns), for_people) for row in (columns, *rows))
    return "".join(lines)


def _line(row: Sequence[str], width: int, for_people: bool) -> str:
    if len(row) != width:
        raise ValueError(f"expected a row of {width} fields, found {len(row)}: {row!r}")
    if width < 2:
        raise ValueError(
            "a table must have at least two columns: with one, an empty field would be an empty line"
        )
    fields = map(protect, row) if for_people else row
    return (
        "\t".join(_TO_ESCAPE.sub(lambda sign: _ESCAPES[sign[0]], field) for field in fields) + "\n"
    )


def read_table(
    text: str, needed: Sequence[str], *, for_people: bool = True
) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yields (line number, column → field) for each row. Columns may be in any order.

    Empty lines, a byte order mark and the carriage returns of CRLF are ignored.

    Args:
      text: the text of the table.
      needed: names of columns that the table must have.
      for_people: the value with which `write_table` was called. If it is True, the apostrophes before texts
        that look like formulas are removed.

    Raises ReadError if a needed column is missing, or a row has more or fewer fields than the header.
    """
    lines = text.removeprefix("\ufeff").split("\n")
    columns = _fields(lines[0])
    missing = [name for name in needed if name not in columns]
    if missing:
        raise ReadError(1, f"missing columns: {', '.join(missing)}; found {', '.join(columns)}")
    for number, line in enumerate(lines[1:], 2):
        if not line.rstrip("\r"):
            continue
        fields = _fields(line)
        if len(fields) != len(columns):
            raise ReadError(
                number, f"expected {len(columns)} fields, as in the header; found {len(fields)}"
            )
        cells = map(unprotect, fields) if for_people else fields
        yield number, dict(zip(columns, cells, strict=True))


def _fields(line: str) -> list[str]:
    fields = line.removesuffix("\r").split("\t")
    return [_ESCAPED.sub(lambda sign: _MEANING[sign[1]], field) for field in fields]
