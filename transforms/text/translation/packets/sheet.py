"""Packets as tables for a spreadsheet: tab-separated, every field in quotation marks.

Written without marks, as the tables of a project are, a sentence that begins with one would lose it when a
spreadsheet opens the file, and one that is never closed would swallow the rows below. What comes back is
quoted or not as the tool likes: Excel and LibreOffice put the fields in marks that need it, and double the
marks in them; Google Sheets puts none. Both look the same where a sentence is quoted speech. So the header
of the column that nobody can take away has marks in it, `target "fra"`, and shows what the tool does with
them: only then, or where the whole header is in marks, or with commas between the fields, are marks undone.
Else they are text, and for the checks to find.

A text that a spreadsheet would take for a formula has an apostrophe before it (see cells.py), which is taken
off when the table is read.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from transforms.text.files.cells import protect, unprotect
from transforms.text.translation.packets.records import (
    NO_NAME,
    Packet,
    PacketLine,
    PacketName,
    Returned,
    format_name,
    parse_name,
)
from transforms.text.translation.records import ReadError, Translation

ID, SOURCE, NOTES, PACKET = "id", "source", "notes", "packet"
_TARGET = re.compile(r'target(?: "([^"]*)")?')
_DELIMITERS = "\t,;"  # the last is the comma of Excel in half of Europe
_MARKED_TARGET = '"target ""'


def write_sheet(packet: Packet) -> str:
    """The table, a row a sentence, each line ended by a line feed.

    Raises ValueError for a packet that has no name (see `format_name`).
    """
    name = format_name(packet)
    target = f'target "{packet.language.code}"'
    columns = [ID, "article", "domain", "topic", "url", SOURCE, target, NOTES, PACKET]
    return write_quoted(columns, (_row(line, name) for line in packet.lines))


def write_quoted(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts for a spreadsheet, with a byte order mark: without it, Excel takes UTF-8 for its old
    code page.
    """
    stream = io.StringIO()
    stream.write("\ufeff")
    writer = csv.writer(stream, delimiter="\t", quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(map(protect, row) for row in rows)
    return stream.getvalue()


def _row(line: PacketLine, name: str) -> list[str]:
    source = line.source
    reasons = "; ".join(line.reasons)
    where = [source.id, source.article, source.domain, source.topic, source.url]
    return [*where, source.text, line.target, reasons, name]


def read_sheet(text: str, file: str) -> Returned:
    """The translations of a table that came back: tab-separated, or with commas or semicolons.

    Columns may be in any order, and all but `id` and the target may be gone. A row without a
    translation is one that is still to be done; a row may lack its last fields. Texts are to the letter, but
    for what spreadsheets do with quotation marks (see above). Lines are those of the file, also where a
    field has line ends in it.

    Raises ReadError for a table without those columns, a field whose quotation mark is not closed, a row
    that has more fields than the header, or none for the id, an id that is there twice, rows of two
    packets, and for NUL.
    """
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ReadError(line, "there is a NUL in it: UTF-16 without its byte order mark?")
    layout = find_layout(text.split("\n", 1)[0].removesuffix("\r"))
    name = NO_NAME._replace(language=layout.language)
    names = set[str]()
    sources: dict[str, str] = {}
    translations = []
    for line, row in read_rows(text, layout):
        id_ = row[ID]
        if not id_:
            raise ReadError(line, "a row without an id")
        if id_ in sources:
            raise ReadError(line, f"{id_} is there twice")
        sources[id_] = row.get(SOURCE, "")
        if row[layout.target]:
            translations.append(Translation(id_, row[layout.target], file, line))
        if row.get(PACKET):
            name = _same_name(names, row[PACKET], line)
    return Returned(*name, tuple(translations), sources if SOURCE in layout.columns else {})


class Layout(NamedTuple):
    """The format of a table."""

    delimiter: str
    is_marked: bool  # quotation marks around a field are not part of it
    columns: tuple[str, ...]
    target: str  # the column with the translations
    language: str  # code, of its header; "" where that does not tell


def find_layout(header: str) -> Layout:
    """The layout of a table, by its first line. Raises ReadError."""
    columns: tuple[str, ...] = ()
    for delimiter in _DELIMITERS:
        is_marked = delimiter != "\t" or header.startswith('"') or _MARKED_TARGET in header
        reader = csv.reader([header], delimiter=delimiter, quoting=_quoting(is_marked))
        try:
            fields = next(reader, [])
        except csv.Error:  # a carriage return inside
            continue
        columns = tuple(field.strip() for field in fields)
        targets = [found for found in map(_TARGET.fullmatch, columns) if found]
        if columns.count(ID) == 1 and len(targets) == 1:
            return Layout(delimiter, is_marked, columns, targets[0][0], targets[0][1] or "")
    raise ReadError(1, f"the header has to have id and target once each: {header[:200]!r}")


def _quoting(is_marked: bool) -> Literal[0, 3]:
    return csv.QUOTE_MINIMAL if is_marked else csv.QUOTE_NONE


def read_rows(text: str, layout: Layout) -> Iterator[tuple[int, Mapping[str, str]]]:
    """(line that it begins in, column → field) of each row that is not empty, without the header."""
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=layout.delimiter,
        quoting=_quoting(layout.is_marked),
        strict=True,
    )
    width = len(layout.columns)
    line = 1
    while True:
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise ReadError(line, f"the row that begins here: {error}") from error
        if fields is None:
            return
        if line > 1 and any(fields):
            if any(fields[width:]):
                message = f"{len(fields)} fields, and the header has {width}"
                raise ReadError(line, message)
            fields += [""] * (width - len(fields))
            yield line, dict(zip(layout.columns, map(unprotect, fields), strict=False))
        line = reader.line_num + 1


def _same_name(names: set[str], name: str, line: int) -> PacketName:
    names.add(name)
    if len(names) > 1:
        raise ReadError(line, f"rows of more than one packet: {', '.join(sorted(names))}")
    return parse_name(name)
