"""Decodes the bytes of a Project Gutenberg file.

Old and new files have different encodings, and the declared encoding is often wrong: many files were
converted to UTF-8 but still declare "ISO-8859-1". So the bytes are tested first, in this order:

1. a byte order mark (UTF-8, UTF-16, UTF-32);
2. UTF-8, if the whole file is valid UTF-8: text in another encoding is practically never valid UTF-8;
3. UTF-8 with invalid bytes, if most characters beyond ASCII are valid UTF-8: such files were joined from two
  files. The invalid bytes are decoded as Windows-1252;
4. the declared encoding, such as ISO-8859-2, Big5 or KOI8-R, if all bytes are valid in it. If ASCII, UTF-8,
  ISO-8859-1 or Windows-1252 is declared, the declaration is ignored;
5. Windows-1252. It has all printable characters of ISO-8859-1, so it is also right for texts in ISO-8859-1.
  The five bytes that Windows-1252 does not define are decoded as in ISO-8859-1.

Line ends become line feeds: CR LF, CR alone, and CR CR LF, which is CR LF converted twice. A page break (form
feed or vertical tab) becomes a line feed as well. Control characters are removed: NUL, the end-of-file mark
of DOS, and others that have no meaning in a text and break the file formats of corpora. A byte order mark
inside the text, where files were joined, is removed, too. Characters U+0080 to U+009F come from Windows-1252
that was converted as ISO-8859-1; they become dashes and quotation marks again.

Chooses one of several files of the same book.

Project Gutenberg has up to three files of a book, in ASCII, in an 8-bit encoding and in UTF-8, and keeps
older releases. File names are not reliable: the file "84-0.txt" should be UTF-8, but may be ASCII. So files
are compared by their content. The chosen file has, in order of importance:

1. the richest encoding: Unicode text that is not only ASCII; then 8-bit; then ASCII, which has lost accents,
  dashes and quotation marks;
2. the newest release date in the head;
3. the largest number of characters;
4. the smallest fingerprint of the text, which does not depend on compression. Of files with the same text,
  the one whose name is first in alphabetical order is chosen.

Parses the head of a Project Gutenberg file, which describes its book.

The head has one of three forms, from the newest to the oldest:

* lines "Title: …" with indented continuation lines, which may contain further authors;
* the same lines without indentation; a field ends at an empty line;
* in the nineties, title and author in the first line, "*The Project Gutenberg Etext of X, by Y*", and again
  above the line with the date, "October, 1993 [Etext #84]".

The head ends at the line "*** START OF …" or at the start of the "small print" (the licence). The rest of the
file is not read, because it may contain the numbers of other books.
"""

import codecs
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..files.compression import is_binary, is_html
from ..files.records import BookFile, BookHeader, Reason
from .catalog import parse_languages
from .title_page import transcribed_edition

_FORMS = ("ASCII", "8-bit", "Unicode")


def choose_file(files: Sequence[BookFile]) -> tuple[BookFile, list[tuple[BookFile, str]]]:
    """Chooses one of several files of a book.

    Returns the chosen file, and (file, reason for not choosing it) for each other file, in order of
    preference. The result does not depend on the order of `files`.

    Args:
      files: one or more files of the same book.
    """
    taken, *others = sorted(files, key=_preference)
    return taken, [(other, _reason(taken, other)) for other in others]


def _preference(file: BookFile) -> tuple[object, ...]:
    # The newest date first; "2004" after all dates in 2004.
    date = [*(-int(part) for part in file.header.release_date.split("-") if part), 0, 0, 0][:3]
    last = file.encoding, file.header
    return -_richness(file), date, -file.characters, file.digest, file.name, *last


def _richness(file: BookFile) -> int:
    """Returns 2 if the file is encoded in Unicode, 1 for an 8-bit encoding and 0 for ASCII."""
    if file.encoding == "ascii":
        return 0
    return 2 if file.encoding.startswith("utf-") and "+" not in file.encoding else 1


def _reason(taken: BookFile, other: BookFile) -> str:
    if _richness(taken) != _richness(other):
        return f"{taken.name} is {_FORMS[_richness(taken)]}, this is {_FORMS[_richness(other)]}"
    if taken.header.release_date != other.header.release_date:
        dates = [file.header.release_date or "undated" for file in (taken, other)]
        return f"{taken.name} is of {dates[0]}, this of {dates[1]}"
    if taken.characters != other.characters:
        return f"{taken.name} has {taken.characters:,} characters, this {other.characters:,}"
    return f"{taken.name} has the same date and length"


HEAD_CHARACTERS = 30_000
"""Largest length of a head. The longest small print has half as many characters."""

_UNMARKED_HEAD_CHARACTERS = 10_000
_HEAD_END = re.compile(r"^[ \t]*(?:\*{2,} ?(?:START|END)\b|\*END\*)", re.MULTILINE | re.IGNORECASE)
_FIELD = re.compile(r"^ {0,3}([A-Z][A-Za-z]+(?: [A-Za-z]+){0,3}) ?:(?:\s+(.*))?$")
_NUMBER = re.compile(
    r"\[ *e-?(?:book|text)s? *(?:(?:#|no\.?|number) *)*(\d{1,6}) *\]", re.IGNORECASE
)
_NAMED = re.compile(r"\bshould be named (\d{1,6})(?:-\w)?\.(?:txt|zip)\b", re.IGNORECASE)
_NUMBER_NAME = re.compile(r"(?:pg)?(\d{1,6})(?:-(?:[0-9a-z]|images|utf-?8))?", re.IGNORECASE)
_SUFFIX = re.compile(r"\.(?:txt|utf-?8|gz|bz2|xz|zip)$", re.IGNORECASE)
_ENCODING = re.compile(
    r"^ {0,3}cha[rt]acter set(?: encoding)? ?: *(\S.*?)\s*$", re.MULTILINE | re.IGNORECASE
)  # seven files of the early 10,000s misspell it

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_MONTH = "|".join(_MONTHS)
_DATE = re.compile(
    rf"\b(?:(?P<iso>\d{{4}}-\d\d-\d\d)"
    rf"|(?P<month>{_MONTH})\W*(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\W+)?(?P<year>\d{{4}})"
    rf"|(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\W+(?P<month2>{_MONTH})\W*(?P<year2>\d{{4}})"
    r"|(?P<only>(?:19|20)\d\d))\b",
    re.IGNORECASE,
)

_TITLE_LINE = re.compile(
    r"(?:\bthe )?project gutenberg(?:['’]s)?,? e-?(?:text|book)s?(?: of|,|:)? (.+)", re.IGNORECASE
)
_BY = re.compile(r"^(.+?),? by ([A-Z].*)$", re.DOTALL)
_BY_LINE = re.compile(r"^by\s+(\S.*)$", re.IGNORECASE | re.DOTALL)
_OTHER_HANDS = re.compile(
    r"^(?:(?:newly )?(?:trans\w+|edited|illustrated|compiled|adapted|retold|arranged)\b.* )?(?:by|from)\b"
    r"|^(?:trans\w+|edited|illustrated|compiled|adapted|retold)\b",
    re.IGNORECASE,
)
_BOILERPLATE = re.compile(r"information is included below|donations", re.IGNORECASE)
_MOST_BLOCKS = 4


class _Named(NamedTuple):
    title: str = ""
    authors: tuple[str, ...] = ()


def parse_header(text: str) -> BookHeader:
    """Parses the head of a file. The lines of the text must end with line feeds."""
    head = head_of(text)
    fields = _parse_fields(head)
    number = _NUMBER.search(head)
    named = _NAMED.search(head)
    told = _Named(_in_one_line(fields.get("title", [])), _authors(fields.get("author", [])))
    if not told.title:
        above = _parse_above(head, number.start()) if number else _Named()
        first = _parse_first_line(head)
        told = _Named(above.title or first.title, told.authors or above.authors or first.authors)
    line = head[head.rfind("\n", 0, number.start()) + 1 : number.start()] if number else ""
    date = fields.get("release date") or fields.get("posting date") or [line]
    return BookHeader(
        number=int(number[1]) if number else int(named[1]) if named else 0,
        title=told.title,
        authors=told.authors,
        languages=parse_languages(_in_one_line(fields.get("language", []))),
        encoding=declared_encoding(head),
        release_date=parse_date(date[0]),
        original_publication=_in_one_line(fields.get("original publication", []))
        or transcribed_edition(text),
    )


def head_of(text: str) -> str:
    """Returns the part of a file before its book.

    If no line marks the end of this part, the first 10,000 characters are returned.
    """
    end = _HEAD_END.search(text, 0, HEAD_CHARACTERS)
    return text[: end.start() if end else _UNMARKED_HEAD_CHARACTERS]


def declared_encoding(head: str) -> str:
    """Returns the encoding that the head of a file declares, as written there; "" if it declares none."""
    found = _ENCODING.search(head)
    return found[1] if found else ""


def number_in_name(name: str) -> int:
    """Returns the ebook number in a file name such as "84-0.txt" or "pg84.txt.utf8"; 0 for other names."""
    base = name.rpartition("/")[2]
    while shorter := _SUFFIX.sub("", base):
        if shorter == base:
            break
        base = shorter
    found = _NUMBER_NAME.fullmatch(base)
    return int(found[1]) if found else 0


def parse_date(text: str) -> str:
    """Finds the first date in a text and returns it in ISO 8601 format; "" if there is no date.

    The result may have no month or no day: "2004" or "1993-10".
    """
    found = _DATE.search(text)
    if not found:
        return ""
    if found["iso"] or found["only"]:
        return str(found["iso"] or found["only"])
    year, day = found["year"] or found["year2"], found["day"] or found["day2"]
    month = _MONTHS.index((found["month"] or found["month2"]).lower()) + 1
    return f"{year}-{month:02}" + (f"-{int(day):02}" if day else "")


def _parse_fields(head: str) -> dict[str, list[str]]:
    """Parses the fields of a head. Returns name of the field, in lower case, → its lines.

    If a field is repeated, only its first occurrence counts, except for "author", where all are used.
    """
    fields: dict[str, list[str]] = {}
    lines: list[str] | None = None  # lines of the current field
    for line in head.split("\n"):
        found = _FIELD.match(line)
        if found:
            name = found[1].lower()
            is_new = name not in fields or name == "author"
            lines = fields.setdefault(name, []) if is_new else []
            lines.append(found[2] or "")
        elif not line.strip() or line.lstrip().startswith("["):
            lines = None
        elif lines is not None:
            lines.append(line.strip())
    return fields


def _authors(lines: list[str]) -> tuple[str, ...]:
    """Returns the authors in the lines of a field, normally one per line.

    A line that ends in ",", "&" or "and" continues on the next line.
    """
    authors: list[str] = []
    for line in lines:
        line = " ".join(line.split())
        if authors and authors[-1].endswith((",", "&", " and")):
            authors[-1] += f" {line}"
        elif line:
            authors.append(line)
    return tuple(dict.fromkeys(authors))


def _parse_above(head: str, number: int) -> _Named:
    """Finds title and authors in the paragraphs above the line with the date and ebook number.

    `number` is the position of the ebook number in `head`. What is not found is empty in the result.
    """
    authors: tuple[str, ...] = ()
    for block in _blocks_above(head, number):
        by = _BY_LINE.match(block[0])
        if by:
            authors = (_person(" ".join([by[1], *block[1:]])),)
        elif _OTHER_HANDS.match(block[0]):
            continue
        elif _BOILERPLATE.search(" ".join(block)):
            break
        else:
            by = _BY_LINE.match(block[-1]) if len(block) > 1 else None
            title = _in_one_line(block[:-1] if by else block)
            whole = _TITLE_LINE.search(title)
            if whole:
                return _split_by(whole[1])
            return _Named(title, (_person(by[1]),) if by else authors)
    return _Named()


def _blocks_above(head: str, number: int) -> Iterator[list[str]]:
    """Yields the lines of each paragraph above the line with the ebook number, beginning with the nearest.

    `number` is the position of the ebook number in `head`.
    """
    above = head[: head.rfind("\n", 0, number) + 1].rstrip()
    for block in re.split(r"\n\s*\n", above)[: -_MOST_BLOCKS - 1 : -1]:
        lines = [line.strip(" \t*") for line in block.split("\n")]
        if any(lines):
            yield [line for line in lines if line]


def _parse_first_line(head: str) -> _Named:
    """Finds title and author in a line such as "The Project Gutenberg Etext of X, by Y".

    The line may continue on the next line. What is not found is empty in the result.
    """
    lines = [line.strip(" \t*") for line in head.split("\n")]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        found = _TITLE_LINE.match(line)
        if found:
            is_open = line.endswith((",", "-")) or bool(_BY_LINE.match(following))
            return _split_by(f"{found[1]} {following}" if is_open else found[1])
    return _Named()


def _split_by(title: str) -> _Named:
    title = _in_one_line([title])
    found = _BY.match(title)
    return _Named(found[1].rstrip(" ,"), (_person(found[2]),)) if found else _Named(title)


def _person(text: str) -> str:
    """Returns a name without a remark in brackets, as in "William Shakespeare [Collins edition]"."""
    return _in_one_line([text.split(" [")[0]])


def _in_one_line(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split()).strip(" *")


MIXED = "utf-8+cp1252"
"""The name of the encoding of a file that mixes UTF-8 and Windows-1252."""

_MARKS = (  # longer marks first: the mark of UTF-32 begins with the mark of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SINGLE_SCRIPT = re.compile(
    r"iso8859-(?:[2-9]|1\d)|cp(?:125[013-8]|437|85[02578]|86[0-69]|874|932|949|950)|mac-.+"
    r"|big5(?:hkscs)?|gb2312|gbk|gb18030|euc_.+|shift_jis.*|koi8-[rut]|tis-620|johab"
)
"""Python's names of codecs, except ISO-8859-1, ASCII and UTF-8, which are detected from the bytes."""
_WIDER = {
    "big5": "big5hkscs",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
"""Declared encoding → wider encoding that files use without declaring it. It includes the declared one."""

_WHITE = b" \t\r\n\f\v\0\x1a"
_BINARY_HEADS = (b"%PDF-", b"{\\rtf")
_HTML_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_STRAY = re.compile("[\udc80-\udcff]")
_NO_ASCII = re.compile(r"[^\x00-\x7f]")
_UNPRINTABLE = re.compile("[\0-\x08\x0e-\x1f\x7f-\x9f\ufeff]")
_PAGE_BREAKS = str.maketrans("\f\v", "\n\n")


_WINDOWS_1252 = {  # byte → character, for bytes from 0x80 on
    byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(0x80, 0x100)
}
_OF_STRAYS = {0xDC00 + byte: character for byte, character in _WINDOWS_1252.items()}
_OF_CONTROLS = {byte: _WINDOWS_1252[byte] for byte in range(0x80, 0xA0)}


class FileText(NamedTuple):
    """The decoded text of a file, and its encoding."""

    text: str
    # encoding with which it was decoded: "ascii", "utf-8", "cp1252", "big5hkscs", MIXED, …
    encoding: str


def decode_file(content: bytes) -> FileText | Reason:
    """Returns the text of a file, or the reason to reject it: "empty-file", "binary-file" or "html-page"."""
    if not content.strip(_WHITE):
        return Reason("empty-file", f"{len(content):,} bytes without a character")
    decoded = _decode_by_mark(content)
    if decoded is None:
        if is_binary(content) or content.startswith(_BINARY_HEADS):
            return Reason("binary-file", f"begins with {content[:8]!r}")
        decoded = _decode(content)
    if is_html(decoded.text[:HEAD_CHARACTERS]):
        title = _HTML_TITLE.search(decoded.text[:HEAD_CHARACTERS])
        return Reason("html-page", " ".join(title[1].split()) if title else "")
    text = tidy_text(decoded.text)
    if not text.strip():
        return Reason("empty-file", f"{len(content):,} bytes without a character")
    return FileText(text, "ascii" if text.isascii() else decoded.encoding)


def tidy_text(text: str) -> str:
    """Returns the text with line feeds as line ends and without control characters."""
    if "\r" in text:
        text = text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n")
    if "\f" in text or "\v" in text:
        text = text.translate(_PAGE_BREAKS)
    if _UNPRINTABLE.search(text):
        text = _UNPRINTABLE.sub("", text.translate(_OF_CONTROLS))
    return text


def _decode_by_mark(content: bytes) -> FileText | None:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            try:
                return FileText(content[len(mark) :].decode(encoding), encoding)
            except UnicodeDecodeError:
                return None
    return None


def _decode(content: bytes) -> FileText:
    has_mark = content.startswith(codecs.BOM_UTF8)
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        return FileText(content.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        pass
    text = content.decode("utf-8", "surrogateescape")  # invalid bytes become U+DC80 to U+DCFF
    strays = len(_STRAY.findall(text))
    others = len(_NO_ASCII.findall(text)) - strays
    if has_mark or others > strays:
        return FileText(text.translate(_OF_STRAYS), MIXED)
    for encoding in _declared_encodings(content):
        try:
            return FileText(content.decode(encoding), encoding)
        except UnicodeDecodeError:
            continue
    return FileText(content.decode("latin-1").translate(_OF_CONTROLS), "cp1252")


def _declared_encodings(content: bytes) -> list[str]:
    """Returns the encoding that the head of a file declares, followed by a superset of it if there is one.

    Returns [] if the head declares no encoding, or one that must be ignored, such as UTF-8 (see the module
    docstring).
    """
    try:
        name = codecs.lookup(declared_encoding(content[:HEAD_CHARACTERS].decode("latin-1"))).name
    except (LookupError, ValueError):
        return []
    if not _SINGLE_SCRIPT.fullmatch(name):
        return []
    return [name, *([_WIDER[name]] if name in _WIDER else [])]
