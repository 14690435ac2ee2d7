"""Packets: sets of sentences that are sent to translators as a file, and the files that come back.

Reads translations from a file with one line per sentence, such as "fra.devtest" of FLORES-101.

A packet is a set of sentences that is sent to a translator as a file. The guidelines follow section 3.2 of
Goyal et al. 2022.

Writes packets as tables for spreadsheet programs: tab-separated, every field in quotation marks. Reads the
tables that come back: text in the encodings in which spreadsheets save it, and workbooks (.xlsx).

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
import contextlib
import csv
import io
import operator
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import resources
from types import MappingProxyType
from typing import Any, Literal, NamedTuple
from urllib.parse import quote, unquote

from corpusmill.transforms.files.markup import protect, read_toml, unprotect
from corpusmill.transforms.files.records import ReadError, SourceSentence, Translation

from .target_languages import TargetLanguage, find_language

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


class Fault(NamedTuple):
    """A line of a returned file that cannot be imported."""

    id: str  # "" if the line has none, or none of its own
    line: int
    message: str


class Returned(NamedTuple):
    """The content of a file that a translator has returned."""

    name: PacketName  # of the packet that the file answers
    # The translations of translated sentences only, in the order of the file.
    translations: tuple[Translation, ...]
    sources: Mapping[str, str] = MappingProxyType({})
    """Id → source text in the file, for all its sentences; "" if the file has no source texts.

    A source text that differs from the one that was sent shows that a single column was sorted."""
    faults: tuple[Fault, ...] = ()
    tag: str = ""  # the target language that an XLIFF document names
    encoding: str = ""  # "" for Unicode


class Lines:
    """Collects the lines of a returned file.

    If an id occurs twice with different texts, none of its lines is imported.

    Args:
      file: the name of the file, which is stored in each Translation.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._rows: dict[str, list[tuple[int, str, str | None]]] = {}
        self._faults: list[Fault] = []

    def refuse(self, id_: str, line: int, message: str) -> None:
        """Adds a line that cannot be imported."""
        self._faults.append(Fault(id_, line, message))

    def add(self, id_: str, line: int, source: str, text: str | None) -> None:
        """Adds a line. `text` is None if it is not translated."""
        if id_:
            self._rows.setdefault(id_, []).append((line, source, text))
        else:
            self.refuse("", line, "the row has no id")

    def returned(self, name: PacketName, tag: str = "") -> Returned:
        """Returns all lines."""
        places: dict[str, list[int]] = {
            id_: [row[0] for row in rows] for id_, rows in self._rows.items()
        }
        for one in self._faults:
            places.setdefault(one.id, []).append(one.line)
        translations, sources = [], {}
        for id_, ((line, source, text), *others) in self._rows.items():
            if len(places[id_]) > 1 + len(others) or any(
                row[1:] != (source, text) for row in others
            ):
                for number, *_ in self._rows[id_]:
                    also = min({*places[id_]} - {number}, default=number)
                    self.refuse(
                        id_, number, f"the id {id_} is also in line {also}: remove the wrong row"
                    )
                continue
            for row in others:
                self.refuse("", row[0], f"repeats {id_}, which is in line {line}: remove it")
            sources[id_] = source
            if text is not None:
                translations.append(Translation(id_, text, self._file, line))
        faults = tuple(sorted(self._faults, key=lambda one: one.line))
        return Returned(name, tuple(translations), sources, faults, tag)


def format_name(packet: Packet) -> str:
    """Returns a packet's name, which is written into its files: "flores101/zho_simpl/round1/packet3"."""
    project, language = (quote(part, safe="") for part in (packet.project, packet.language.code))
    return f"{project}/{language}/round{packet.round}/packet{packet.number}"


def parse_name(name: str) -> PacketName:
    """Parses a name made by `format_name`. Returns NO_NAME (no part has a value) for any other text."""
    if not (found := _NAME.fullmatch(name)):
        return NO_NAME
    return PacketName(unquote(found[1]), unquote(found[2]), int(found[3]), int(found[4]))


_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_NAMES = {"utf-8": "UTF-8", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}


def decode_as(data: bytes, encoding: str = "utf-8", skipped: int = 0) -> str:
    """Decodes text. A byte order mark of UTF-8 is kept as part of the text.

    Raises ReadError with the line and the position of the first wrong byte.

    Args:
      encoding: a name that Python knows.
      skipped: number of bytes at the beginning that are not text.
    """
    try:
        return data[skipped:].decode(encoding)
    except UnicodeDecodeError as error:
        start = skipped + error.start
        line = data[skipped:start].decode(encoding, "replace").count("\n") + 1
        byte = "" if skipped else f" (0x{data[start]:02x})"
        wrong = f"{error.reason}{byte}, byte {start} of the file"
        raise ReadError(line, f"not {_NAMES.get(encoding, encoding)}: {wrong}") from error


def decode_sheet(data: bytes) -> str:
    """Decodes a table saved by a spreadsheet program, in UTF-8 or in UTF-16 with a byte order mark.

    The byte order mark is removed. Raises ReadError for other encodings.
    """
    if encoding := _MARKS.get(data[:2]):
        return decode_as(data, encoding, 2)
    return decode_as(data).removeprefix("\ufeff")


def read_plain(text: str, file: str, ids: Sequence[str]) -> Returned:
    """Reads a file in which line n is the translation of the sentence ids[n].

    Only line feeds end a line. The texts are unchanged: spaces, empty lines, a byte order mark, U+0085 and
    U+2028 are kept. Carriage returns before line feeds are removed only if there is one before every line
    feed. The last line may lack its line feed.

    Args:
      text: the content of the file.
      file: the name of the file, which is stored in each Translation.
      ids: the ids of all sentences, in the order of the lines.

    Raises ReadError if the number of lines differs from the number of ids.
    """
    if text.count("\r\n") == text.count("\n"):
        text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if len(lines) != len(ids):
        raise ReadError(0, f"expected {len(ids)} lines, one per sentence; found {len(lines)}")
    read = Lines(file)
    for number, (id_, line) in enumerate(zip(ids, lines, strict=True), 1):
        read.add(id_, number, "", line)
    return read.returned(NO_NAME)


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
_TARGET = re.compile(r'target(?:\s+["“„«(]?([\w-]*)["”“»)]?)?', re.IGNORECASE)
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


def read_table_file(
    data: bytes,
    file: str,
    sources: Mapping[str, str],
    language: str = "",
    encoding: str = "",
) -> Returned:
    """Reads the translations in a returned table, in whatever encoding a spreadsheet has saved it.

    Unicode is recognised. Another encoding is one of those that spreadsheets use for the language: the one in
    which the most source texts are as they were sent, and then the one with the fewest signs and capitals
    within words. `encoding` of the result names it.

    Args:
      data: the content of the file; a workbook (.xlsx) is recognised by its first bytes.
      file: the name of the file, which is stored in each Translation.
      sources: id → source text of all sentences of the project.
      language: code of the language, if the user has named it.
      encoding: the encoding, if the user has named it.

    Raises ReadError as `read_sheet` does, and if several encodings give different texts and nothing decides.
    """
    if data.startswith(b"PK\x03\x04"):
        return _read_workbook(data, file)
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise ReadError(0, "is a workbook of an old format: save it as .xlsx, or as CSV in UTF-8")
    if encoding:
        text = decode_as(data, encoding).removeprefix("\ufeff")
        is_unicode = encoding.startswith("utf")
        return read_sheet(text, file)._replace(encoding="" if is_unicode else encoding)
    if data[:2] not in _MARKS and b"\0" in data:
        named = ["utf-16-le", "utf-16-be"]
    else:
        try:
            return read_sheet(decode_sheet(data), file)
        except ReadError as error:
            if data[:2] in _MARKS or not isinstance(error.__cause__, UnicodeDecodeError):
                raise
        named = encodings_of(read_sheet(data.decode("latin-1"), file).name.language or language)
    found = {}
    for name in named:
        with contextlib.suppress(UnicodeDecodeError, ReadError):
            found[name] = read_sheet(data.decode(name), file)
    return _decide(found, sources)


def encodings_of(code: str) -> list[str]:
    """Returns the encodings other than Unicode in which spreadsheets save texts of a language."""
    table = read_toml(__package__, "languages.toml")["encodings"]
    try:
        language = find_language(code)
    except ValueError:
        return []
    keys = (language.tag, language.tag.split("-")[0], *language.scripts)
    found: str = next((table[key] for key in keys if key in table), "")
    return found.split()


def _decide(found: Mapping[str, Returned], sources: Mapping[str, str]) -> Returned:
    """Returns the table in the right encoding. Raises ReadError if nothing decides which one is right."""
    same = {
        name: sum(sources.get(id_) == text for id_, text in returned.sources.items())
        for name, returned in found.items()
    }
    odd = {name: _odd_signs(found[name]) for name in found if same[name] == max(same.values())}
    best = sorted(
        (name for name in odd if odd[name] <= min(odd.values()) + _CHANCE), key=odd.__getitem__
    )
    texts = {name: frozenset(one.text for one in found[name].translations) for name in best}
    if len(set(texts.values())) == 1:
        foreign = sum(not sign.isascii() for text in texts[best[0]] for sign in text)
        if odd[best[0]] <= foreign * _MOST_ODD:
            return found[best[0]]._replace(encoding=best[0])
    told = "it is not Unicode, and its encoding is not known"
    if len(best) > 1:
        one, other = best[:2]
        first = (
            min(texts[one] - texts[other], default=""),
            min(texts[other] - texts[one], default=""),
        )
        told = f"it is {one} ({first[0]!r:.60}) or {other} ({first[1]!r:.60})"
    remedy = "save it as UTF-8 or .xlsx, or name its encoding with"
    raise ReadError(0, f"{told}: {remedy} --encoding {best[0] if best else 'NAME'}")


_CHANCE = 1  # so many more signs within words decide nothing
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, SyntaxError, TypeError, ValueError)
_DAMAGED_INSIDE = (AttributeError, LookupError, RuntimeError)  # of zipfile and openpyxl, too
_MOST_ODD = 0.1  # of all characters that are not ASCII
_ODD = r"""\p{Ll}\p{Lu} | [\p{S}--\p{Sk}]\p{L} | [\u2500-\u259F\p{Cc}\p{Co}]
    | \p{L}[\p{S}\p{No}\p{Ps}\p{Pe}\p{Po}--['’·&/.:@]]\p{L}
    | \p{Latin}[\p{L}\p{M}--[\p{Latin}\p{Inherited}]]"""


def _odd_signs(returned: Returned) -> int:
    """Counts what a wrong encoding makes of letters: capitals and signs within words, and controls."""
    import regex  # type: ignore[import-untyped]

    odd = regex.compile(f"(?V1x){_ODD}")
    found = (sign for one in returned.translations for sign in odd.findall(one.text))
    return sum(not sign.isascii() for sign in found)


def _read_workbook(data: bytes, file: str) -> Returned:
    """Reads the first sheet of a workbook (.xlsx) that has an id and a target column."""
    import openpyxl  # slow to import

    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True)
        sheets = [list(sheet.iter_rows()) for sheet in book.worksheets]
    except (*_DAMAGED, *_DAMAGED_INSIDE) as error:
        what = f"is not a workbook (.xlsx), or is damaged: {error}"
        raise ReadError(0, f"{what}; save it as .xlsx, or as CSV in UTF-8") from error
    header: list[str] = []
    for cells, *rows in filter(None, sheets):
        header = [_text_of(cell) for cell in cells]
        if layout := _layout_of(header, "", False):
            return _read_cells(rows, layout, file)
    raise ReadError(1, _NO_HEADER.format(header))


_NO_TEXT = {"b": "a truth value", "d": "a date", "e": "an error", "f": "a formula", "n": "a number"}


def _read_cells(rows: Iterable[Sequence[Any]], layout: "Layout", file: str) -> Returned:
    read, texts = Lines(file), []
    for line, cells in enumerate(rows, 2):
        row = dict.fromkeys(layout.columns, "")
        row |= zip(layout.columns, map(_text_of, cells), strict=False)
        kinds = dict(zip(layout.columns, (cell.data_type for cell in cells), strict=False))
        if row[layout.target] and (kind := _NO_TEXT.get(kinds[layout.target])):
            what = f"the spreadsheet has made {kind} of the translation ({row[layout.target]})"
            read.refuse(row[ID], line, f"{what}: type it again in a cell with the format Text")
        elif any(row.values()):
            texts.append((line, row))
    return _collect(texts, layout, read)


def _text_of(cell: Any) -> str:
    return "" if cell.value is None else unprotect(str(cell.value))


def read_sheet(text: str, file: str) -> Returned:
    """Reads the translations in a returned table, separated by tabs, commas or semicolons.

    Columns may be in any order; only `id` and the column of translations are required. A row may lack its
    last fields. Rows without a translation are skipped, because they have not been translated yet. Texts are
    unchanged, except for quotation marks that the spreadsheet program added (see the module docstring). Line
    numbers are those of the file, even if fields contain line breaks.

    Args:
      text: the content of the file that has the table.
      file: the name of the file, which is stored in each Translation.

    A row is a fault of the result in these cases: a quotation mark around a field is not closed, the row has
    no id, it has more fields than the header, or its id occurs twice.

    Raises ReadError if a required column is missing, if rows belong to different packets, or if the table
    contains a NUL character.
    """
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        remedy = "if the file is UTF-16, save it with a byte order mark, or as UTF-8"
        raise ReadError(line, f"the line has a NUL character; {remedy}")
    head = 2 if text.startswith("sep=") else 1  # a line in which Excel finds the delimiter
    header = text.split("\n", head)[head - 1 : head] or [""]
    layout = find_layout(header[0].removesuffix("\r"))
    if "severity" in layout.columns:
        raise ReadError(1, "this is a review sheet: import it with `review --import`")
    read = Lines(file)
    return _collect(read_rows(text, layout, head, read.refuse), layout, read)


def _collect(
    rows: Iterable[tuple[int, Mapping[str, str]]], layout: "Layout", read: Lines
) -> Returned:
    name = NO_NAME._replace(language=layout.language)
    names = set[str]()
    for line, row in rows:
        read.add(row[ID], line, row.get(SOURCE, ""), row[layout.target] or None)
        if row.get(PACKET):
            names.add(row[PACKET])
            if len(names) > 1:
                message = f"expected rows of one packet; found {', '.join(sorted(names))}"
                raise ReadError(line, message)
            name = parse_name(row[PACKET])
    return read.returned(name)


class Layout(NamedTuple):
    """The format of a returned table, as detected from its header."""

    delimiter: str
    is_marked: bool  # fields are quoted; the quotation marks are removed
    columns: tuple[str, ...]  # in lower case, except for the target
    target: str  # name of the column with the translations
    language: str  # code from the header of that column; "" if there is none


_NO_HEADER = "the header needs one column `id` and one column `target`; found {!r}"


def find_layout(header: str) -> Layout:
    """Detects the layout of a table from its first line.

    Raises ReadError if the id or target column is missing.
    """
    for delimiter in _DELIMITERS:
        is_marked = (
            delimiter != "\t" or header.startswith('"') or _MARKED_TARGET in header.casefold()
        )
        reader = csv.reader([header], delimiter=delimiter, quoting=_quoting(is_marked))
        try:
            fields = next(reader, [])
        except csv.Error:  # a carriage return inside the header
            continue
        if layout := _layout_of(fields, delimiter, is_marked):
            return layout
    raise ReadError(1, _NO_HEADER.format(header[:200]))


def _layout_of(fields: Iterable[str], delimiter: str, is_marked: bool) -> Layout | None:
    names = [field.strip() for field in fields]
    targets = [found for found in map(_TARGET.fullmatch, names) if found]
    columns = tuple(name if _TARGET.fullmatch(name) else name.casefold() for name in names)
    if columns.count(ID) != 1 or len(targets) != 1:
        return None
    return Layout(delimiter, is_marked, columns, targets[0][0], targets[0][1] or "")


def _quoting(is_marked: bool) -> Literal[0, 3]:
    return csv.QUOTE_MINIMAL if is_marked else csv.QUOTE_NONE


def _raise(_: str, line: int, message: str) -> None:
    raise ReadError(line, message)


def read_rows(
    text: str, layout: Layout, head: int = 1, refuse: Callable[[str, int, str], None] = _raise
) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yields (line number, column → field) for each non-empty row after the header.

    The line number is that of the row's first line in the file.

    Args:
      head: line of the header.
      refuse: is called with the id, the line and a message for a row that has too many fields or an unclosed
        quotation mark. After such a mark, reading continues in the next line. By default, raises ReadError.
    """
    lines = list(io.StringIO(text, newline=""))
    options = {"delimiter": layout.delimiter, "quoting": _quoting(layout.is_marked), "strict": True}
    width = len(layout.columns)
    begun, line = 0, 1
    reader = csv.reader(lines, **options)  # type: ignore[arg-type]
    while True:
        try:
            fields = next(reader, None)
        except csv.Error as error:
            cells = lines[line - 1].split(layout.delimiter)
            name = dict(zip(layout.columns, cells, strict=False)).get(ID, "").strip().strip('"')
            refuse(name, line, f"the row that begins in this line cannot be read: {error}")
            begun, line = line, line + 1
            reader = csv.reader(lines[begun:], **options)  # type: ignore[arg-type]
            continue
        if fields is None:
            return
        if line > head and any(fields):
            row = dict(zip(layout.columns, map(unprotect, fields), strict=False))
            if any(fields[width:]):
                message = f"expected {width} fields, as in the header; found {len(fields)}"
                refuse(row[ID], line, message)
            else:
                yield line, {**dict.fromkeys(layout.columns, ""), **row}
        line = begun + reader.line_num + 1
