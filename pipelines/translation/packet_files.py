"""Packets: sets of sentences that are sent to translators as a file, and the files that come back.

Reads translations from a file with one line per sentence, such as "fra.devtest" of FLORES-101.

A packet is a set of sentences that is sent to a translator as a file. The guidelines follow section 3.2 of
Goyal et al. 2022.

Writes and reads packets as tables for spreadsheet programs: tab-separated, every field in quotation marks.

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

An apostrophe is put before a text that a spreadsheet program would interpret as a formula (see markup.py).
The apostrophe is removed when the table is read.
"""

import codecs
import csv
import io
import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from types import MappingProxyType
from typing import Literal, NamedTuple
from urllib.parse import quote, unquote

from corpusmill.transforms.files.markup import protect, unprotect
from corpusmill.transforms.files.records import ReadError, SourceSentence, Translation

from .target_languages import TargetLanguage

_NAME = re.compile(r"([^/]+)/([^/]+)/round([1-9][0-9]{0,5})/packet([1-9][0-9]{0,5})")


class PacketLine(NamedTuple):
    """A sentence to translate."""

    source: SourceSentence
    target: str  # the present translation; "" if there is none yet
    reasons: tuple[str, ...]  # why it must be translated again, one line each


class Packet(NamedTuple):
    """Sentences that are sent to a translator together, in one file."""

    project: str
    language: TargetLanguage
    round: int  # number of the round, from 1
    number: int  # number of the packet's entry in the project's journal, from 1
    lines: tuple[PacketLine, ...]  # in the order of the source table
    editing: bool = False  # an editor corrects the present translations


class PacketName(NamedTuple):
    """The name of a packet, split into its parts. All parts are "" or 0 if a file has no packet name."""

    project: str
    language: str  # language code
    round: int
    number: int


NO_NAME = PacketName("", "", 0, 0)


class Returned(NamedTuple):
    """The content of a file that a translator has returned."""

    name: PacketName  # of the packet that the file answers
    # The translations of translated sentences only, in the order of the file.
    translations: tuple[Translation, ...]
    sources: Mapping[str, str] = MappingProxyType({})
    """Id → source text in the file, for all its sentences; empty if the file has no source texts.

    A source text that differs from the one that was sent shows that a single column was sorted."""


def format_name(packet: Packet) -> str:
    """Returns a packet's name, which is written into its files: "flores101/zho_simpl/round1/packet3"."""
    project, language = (quote(part, safe="") for part in (packet.project, packet.language.code))
    return f"{project}/{language}/round{packet.round}/packet{packet.number}"


def parse_name(name: str) -> PacketName:
    """Parses a name made by `format_name`. Returns NO_NAME (no part has a value) for any other text."""
    if not (found := _NAME.fullmatch(name)):
        return NO_NAME
    return PacketName(unquote(found[1]), unquote(found[2]), int(found[3]), int(found[4]))


_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def decode_utf8(data: bytes) -> str:
    """Decodes UTF-8. A byte order mark is kept as part of the text.

    Raises ReadError with the line and the position of the wrong byte if the data is not UTF-8.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        message = f"not UTF-8: {error.reason} (0x{byte:02x}), byte {error.start} of the file"
        raise ReadError(line, message) from error


def decode_sheet(data: bytes) -> str:
    """Decodes a table saved by a spreadsheet program, in UTF-8 or in UTF-16 with a byte order mark.

    The byte order mark is removed. Raises ReadError for other encodings. Code pages are never guessed,
    because a file does not say which one it uses.
    """
    if (encoding := _UTF16.get(data[:2])) is None:
        return decode_utf8(data).removeprefix("\ufeff")
    try:
        return data[2:].decode(encoding)
    except UnicodeDecodeError as error:
        line = data[2 : 2 + error.start].decode(encoding, "replace").count("\n") + 1
        message = f"not UTF-16: {error.reason}, byte {2 + error.start} of the file"
        raise ReadError(line, message) from error


def read_plain(text: str, file: str, ids: Sequence[str]) -> Returned:
    """Reads a file in which line n is the translation of the sentence ids[n].

    Only line feeds end a line. The texts are unchanged: spaces, empty lines, a byte order mark, U+0085 and
    U+2028 are kept. Carriage returns before line feeds are removed only if there is one before every line
    feed. The last line may lack its line feed.

    Args:
      text: the content of the file.
      file: the name of the file, which is stored in each Translation.
      ids: the ids of all sentences, in the order of the lines.

    Raises ReadError if the number of lines differs from the number of ids, or if a line contains a NUL
    character.
    """
    if text.count("\r\n") == text.count("\n"):
        text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if len(lines) != len(ids):
        raise ReadError(0, f"expected {len(ids)} lines, one per sentence; found {len(lines)}")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ReadError(line, "the line has a NUL character: remove it")
    translations = (
        Translation(id_, line, file, number)
        for number, (id_, line) in enumerate(zip(ids, lines, strict=True), 1)
    )
    return Returned(NO_NAME, tuple(translations))


SUFFIX = "-guidelines.md"


def write_guidelines(packet: Packet, name: str) -> bytes:
    """Returns the guidelines for the packet's target language, as Markdown in UTF-8.

    Args:
      packet: the packet that the guidelines accompany.
      name: the name of the packet's files, without the suffix; it is mentioned in the guidelines.
    """
    text = resources.files(__package__).joinpath("guidelines.md").read_text("utf-8")
    of_translators, of_editors = text.split("\n====\n")
    filled = (of_editors if packet.editing else of_translators).format(
        language=packet.language.name, name=name, sentences=f"{len(packet.lines):,}"
    )
    return filled.encode("utf-8")


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
    rows = (
        [getattr(line.source, field) for field in (ID, "article", "domain", "topic", "url", "text")]
        for line in packet.lines
    )
    answers = ([line.target, "; ".join(line.reasons), name] for line in packet.lines)
    return write_quoted(columns, map(operator.add, rows, answers))


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
        remedy = "if the file is UTF-16, save it with a byte order mark, or as UTF-8"
        raise ReadError(line, f"the line has a NUL character; {remedy}")
    layout = find_layout(text.split("\n", 1)[0].removesuffix("\r"))
    if "severity" in layout.columns:
        raise ReadError(1, "this is a review sheet: import it with `review --import`")
    name = NO_NAME._replace(language=layout.language)
    names = set[str]()
    sources: dict[str, str] = {}
    translations = []
    for line, row in read_rows(text, layout):
        if not (id_ := row[ID]):
            raise ReadError(line, "the row has no id")
        if id_ in sources:
            raise ReadError(line, f"the id {id_} occurs twice: remove one of the rows")
        sources[id_] = row.get(SOURCE, "")
        if row[layout.target]:
            translations.append(Translation(id_, row[layout.target], file, line))
        if row.get(PACKET):
            names.add(row[PACKET])
            if len(names) > 1:
                message = f"expected rows of one packet; found {', '.join(sorted(names))}"
                raise ReadError(line, message)
            name = parse_name(row[PACKET])
    return Returned(name, tuple(translations), sources if SOURCE in layout.columns else {})


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
            message = f"the row that begins in this line cannot be read: {error}"
            raise ReadError(line, message) from error
        if fields is None:
            return
        if line > 1 and any(fields):
            if any(fields[width:]):
                message = f"expected {width} fields, as in the header; found {len(fields)}"
                raise ReadError(line, message)
            fields += [""] * (width - len(fields))
            yield line, dict(zip(layout.columns, map(unprotect, fields), strict=False))
        line = reader.line_num + 1
