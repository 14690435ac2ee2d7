"""Parses the head of a Project Gutenberg file, which describes its book.

The head has one of three forms, from the newest to the oldest:

* lines "Title: …" with indented continuation lines, which may contain further authors;
* the same lines without indentation; a field ends at an empty line;
* in the nineties, title and author in the first line, "*The Project Gutenberg Etext of X, by Y*", and again
  above the line with the date, "October, 1993 [Etext #84]".

The head ends at the line "*** START OF …" or at the start of the "small print" (the licence). The rest of the
file is not read, because it may contain the numbers of other books.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from corpusmill.transforms.books.language_names import parse_languages
from corpusmill.transforms.books.title_page import transcribed_edition
from corpusmill.transforms.files.records import BookHeader

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
    date = fields.get("release date") or fields.get("posting date") or _line_of(head, number)
    return BookHeader(
        number=int(number[1]) if number else int(named[1]) if named else 0,
        title=told.title,
        authors=told.authors,
        languages=parse_languages(_in_one_line(fields.get("language", []))),
        encoding=declared_encoding(head),
        release_date=parse_date(date[0] if date else ""),
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


def _line_of(head: str, found: re.Match[str] | None) -> list[str]:
    if not found:
        return []
    return [head[head.rfind("\n", 0, found.start()) + 1 : found.start()]]


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
