"""Reads the catalogue of Project Gutenberg as one CSV table, `pg_catalog.csv`.

The table is described at https://www.gutenberg.org/ebooks/offline_catalogs.html. It has a header line, then
one row per ebook. Fields with commas, quotation marks or line feeds are quoted. Several values of a field are
separated by semicolons. Columns are found by their names in the header, since exports differ in their order.
"""

import csv
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from corpusmill.transforms.files.records import Author, CatalogEntry

NUMBER = "Text#"
COLUMNS = (NUMBER, "Type", "Title", "Language", "Authors", "Subjects", "Bookshelves")
"""The columns that are read; other columns are ignored."""

_BETWEEN_VALUES = ";"
_DETAIL_CHARACTERS = 100
_ID = re.compile(r"[1-9][0-9]{0,9}")
_ROLE = re.compile(r"(.*\S) \[([^][]*)\]", re.DOTALL)  # "Doe, John, 1743-1826 [Translator]"
_YEAR = r"([0-9]{1,4})\??( BCE| B\.C\.)?"
_LIFE = re.compile(rf"(.*\S), (?:{_YEAR})?-(?:{_YEAR})?", re.DOTALL)  # "Doe, John, 1743?-1826"
_LANGUAGE = re.compile(r"([A-Za-z]{2,3})(?:-[A-Za-z0-9-]+)?")  # "en", "nah", "zh-TW"


class BadRow(NamedTuple):
    """An invalid row of the catalogue table."""

    line: int  # its first line; the header is line 1
    message: str


class NotACatalogError(Exception):
    """Raised if a file does not begin with the header of the catalogue."""


def read_catalog_lines(lines: Iterable[bytes]) -> Iterator[CatalogEntry | BadRow]:
    """Yields the entries of the catalogue table. `lines` must include the line ends.

    After a missing or superfluous quotation mark, one BadRow may stand for several rows: the row with the
    mistake, and the rows after it.

    Raises NotACatalogError if the first line is not the header.
    """
    rows = _read_rows(lines)
    _, names = next(rows, (1, ()))
    if isinstance(names, str):
        raise NotACatalogError(f"the first line is not the header of the catalogue: {names}")
    places = _find_columns(names)
    for line, row in rows:
        if isinstance(row, str):
            yield BadRow(line, row)
        elif len(row) != len(names):
            yield BadRow(line, f"expected {len(names)} fields as in the header, found {len(row)}")
        elif not _ID.fullmatch(row[places[NUMBER]]):
            shown = row[places[NUMBER]][:_DETAIL_CHARACTERS]
            yield BadRow(line, f"{NUMBER} must be a positive number, not {shown!r}")
        else:
            yield _entry_of({name: row[place] for name, place in places.items()})


def parse_authors(field: str) -> tuple[Author, ...]:
    """Parses a list of authors such as "Shelley, Mary, 1797-1851; Doe, John [Translator]".

    Repeated authors are dropped.
    """
    return tuple(dict.fromkeys(map(parse_author, split_values(field))))


def parse_author(text: str) -> Author:
    """Parses one person, such as "Shelley, Mary, 1797-1851".

    Words other than the years of life and the role remain in the name.

    A question mark after a year is ignored. If the year of death is BC, so is the year of birth.
    """
    with_role = _ROLE.fullmatch(text)
    name, role = with_role.groups() if with_role else (text, "")
    life = _LIFE.fullmatch(name)
    if life is None or not (life[2] or life[4]):
        return Author(name, role=role)
    died_before_christ = bool(life[5])
    return Author(
        name=life[1],
        birth_year=_year(life[2], bool(life[3]) or died_before_christ),
        death_year=_year(life[4], died_before_christ),
        role=role,
    )


def parse_language(code: str) -> str:
    """Returns the ISO 639 code of a language tag: "zh" for "zh-TW". Other texts are returned unchanged."""
    found = _LANGUAGE.fullmatch(code)
    return found[1].lower() if found else code


def split_values(field: str) -> list[str]:
    """Splits a field at semicolons. Returns the values without line breaks; empty values are omitted."""
    values = (one_line(value) for value in field.split(_BETWEEN_VALUES))
    return [value for value in values if value]


def one_line(text: str) -> str:
    """Replaces each run of white space by one space."""
    return " ".join(text.split())


def in_order(values: Iterable[str]) -> tuple[str, ...]:
    """Returns the values sorted and without repetitions, since their order in the catalogue has no
    meaning.
    """
    return tuple(sorted(set(values)))


def _year(digits: str | None, is_before_christ: bool) -> int:
    year = int(digits or 0)
    return -year if is_before_christ else year


def _entry_of(row: dict[str, str]) -> CatalogEntry:
    return CatalogEntry(
        book_id=int(row[NUMBER]),
        kind=one_line(row["Type"]),
        title=one_line(row["Title"]),
        authors=parse_authors(row["Authors"]),
        languages=in_order(map(parse_language, split_values(row["Language"]))),
        subjects=in_order(split_values(row["Subjects"])),
        bookshelves=in_order(split_values(row["Bookshelves"])),
    )


def _find_columns(header: Sequence[str]) -> dict[str, int]:
    for name in COLUMNS:
        if header.count(name) != 1:
            shown = ",".join(header)[:_DETAIL_CHARACTERS]
            message = (
                f"the first line is not the header of the catalogue: expected one column {name},"
                f" found {shown!r}"
            )
            raise NotACatalogError(message)
    return {name: header.index(name) for name in COLUMNS}


def _read_rows(lines: Iterable[bytes]) -> Iterator[tuple[int, list[str] | str]]:
    """Yields (line number, fields) for each row, or (line number, message) if the row is invalid.

    The number is that of the row's first line, counted from 1. Empty lines are skipped.
    """
    decoded = (line.decode("utf-8", "surrogateescape") for line in lines)
    header = next(decoded, "").removeprefix("\ufeff")
    reader = csv.reader(itertools.chain([header], decoded), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
            "".join(row).encode("utf-8")
        except StopIteration:
            return
        except csv.Error as error:
            yield line, str(error)
        except UnicodeEncodeError:
            yield line, "not UTF-8"
        else:
            if row:
                yield line, row
