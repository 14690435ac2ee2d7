"""Writes and reads packets as tables for spreadsheet programs: tab-separated, every field in quotation marks.

Without quotation marks around the fields, a spreadsheet program would remove a quotation mark at the
beginning of a sentence. If there is no closing mark, the program would read the following rows as part of the
same field.

In the returned file, quoting depends on the program. Excel and LibreOffice quote some fields and double the
quotation marks in them; Google Sheets quotes no fields. If a whole sentence is quoted speech, the sentence
alone does not show whether its quotation marks are text or were added by the program. So the header of the
target column contains quotation marks, `target "fra"`, which reveal whether the program quotes. The
reader removes the quotation marks around fields in three cases: this header is quoted, or the header line
begins with a quotation mark, or commas or semicolons separate the fields. In all other cases quotation marks
are text, and the checks report superfluous ones.

An apostrophe is put before a text that a spreadsheet program would interpret as a formula (see cells.py). The
apostrophe is removed when the table is read.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from corpusmill.pipelines.translation.packets_records import (
    NO_NAME,
    Packet,
    PacketLine,
    PacketName,
    Returned,
    format_name,
    parse_name,
)
from corpusmill.transforms.files.cells import protect, unprotect
from corpusmill.transforms.files.translation_records import ReadError, Translation

ID, SOURCE, NOTES, PACKET = "id", "source", "notes", "packet"
_TARGET = re.compile(r'target(?: "([^"]*)")?')
_DELIMITERS = "\t,;"  # Excel writes the semicolon in many European countries
_MARKED_TARGET = '"target ""'


def write_sheet(packet: Packet) -> str:
    """Returns a packet as a table with one row per sentence. Each line ends with a line feed.

    Raises ValueError if the packet's name is invalid (see `format_name`).
    """
    name = format_name(packet)
    target = f'target "{packet.language.code}"'
    columns = [ID, "article", "domain", "topic", "url", SOURCE, target, NOTES, PACKET]
    return write_quoted(columns, (_row(line, name) for line in packet.lines))


def write_quoted(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a tab-separated table for a spreadsheet program, with all fields quoted.

    The table begins with a byte order mark; otherwise Excel would not read it as UTF-8.
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
    """Reads the translations in a returned table, separated by tabs, commas or semicolons.

    Columns may be in any order; only `id` and the column of translations are required. A row may lack its
    last fields. Rows without a translation are skipped, because they have not been translated yet. Texts are
    unchanged, except for quotation marks that the spreadsheet program added (see the module docstring). Line
    numbers are those of the file, even if fields contain line breaks.

    Args:
      text: the content of the file that has the table.
      file: the name of the file, which is stored in each Translation.

    Raises ReadError in these cases: a required column is missing, a quotation mark around a field is not
    closed, a row has no id, a row has more fields than the header, an id occurs twice, rows belong to
    different packets, or the table contains a NUL character.
    """
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ReadError(
            line,
            "the line has a NUL character; if the file is UTF-16, save it with a byte order mark,"
            " or as UTF-8",
        )
    layout = find_layout(text.split("\n", 1)[0].removesuffix("\r"))
    name = NO_NAME._replace(language=layout.language)
    names = set[str]()
    sources: dict[str, str] = {}
    translations = []
    for line, row in read_rows(text, layout):
        id_ = row[ID]
        if not id_:
            raise ReadError(line, "the row has no id")
        if id_ in sources:
            raise ReadError(line, f"the id {id_} occurs twice: remove one of the rows")
        sources[id_] = row.get(SOURCE, "")
        if row[layout.target]:
            translations.append(Translation(id_, row[layout.target], file, line))
        if row.get(PACKET):
            name = _same_name(names, row[PACKET], line)
    return Returned(*name, tuple(translations), sources if SOURCE in layout.columns else {})


class Layout(NamedTuple):
    """The format of a returned table, as detected from its header."""

    delimiter: str
    is_marked: bool  # fields are quoted; the quotation marks are removed
    columns: tuple[str, ...]
    target: str  # name of the column with the translations
    language: str  # code from the header of that column; "" if there is none


def find_layout(header: str) -> Layout:
    """Detects the layout of a table from its first line.

    Raises ReadError if the id or target column is missing.
    """
    columns: tuple[str, ...] = ()
    for delimiter in _DELIMITERS:
        is_marked = delimiter != "\t" or header.startswith('"') or _MARKED_TARGET in header
        reader = csv.reader([header], delimiter=delimiter, quoting=_quoting(is_marked))
        try:
            fields = next(reader, [])
        except csv.Error:  # a carriage return inside the header
            continue
        columns = tuple(field.strip() for field in fields)
        targets = [found for found in map(_TARGET.fullmatch, columns) if found]
        if columns.count(ID) == 1 and len(targets) == 1:
            return Layout(delimiter, is_marked, columns, targets[0][0], targets[0][1] or "")
    raise ReadError(
        1, f"the header needs one column `id` and one column `target`; found {header[:200]!r}"
    )


def _quoting(is_marked: bool) -> Literal[0, 3]:
    return csv.QUOTE_MINIMAL if is_marked else csv.QUOTE_NONE


def read_rows(text: str, layout: Layout) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yields (line number, column → field) for each non-empty row after the header.

    The line number is that of the row's first line in the file.

    Raises ReadError if a row has too many fields or an unclosed quotation mark.
    """
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
            raise ReadError(
                line, f"the row that begins in this line cannot be read: {error}"
            ) from error
        if fields is None:
            return
        if line > 1 and any(fields):
            if any(fields[width:]):
                message = f"expected {width} fields, as in the header; found {len(fields)}"
                raise ReadError(line, message)
            fields += [""] * (width - len(fields))
            yield line, dict(zip(layout.columns, map(unprotect, fields), strict=False))
        line = reader.line_num + 1


def _same_name(names: set[str], name: str, line: int) -> PacketName:
    names.add(name)
    if len(names) > 1:
        raise ReadError(line, f"expected rows of one packet; found {', '.join(sorted(names))}")
    return parse_name(name)
