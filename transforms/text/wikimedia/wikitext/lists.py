"""Tell the lists that finish a sentence from those that are data.

Lists go, but for what a sentence announces with a colon or a comma: without it the sentence says
nothing. Each item is a paragraph of its own. So are the lines of a verse, a quotation or an example
that is indented, the terms and definitions of a glossary, and formulas. A list of sources stays out,
and so does a long one of names: filmographies, members, villages. A label of one or two words goes
with its list, as a heading without text.
"""

import re

from transforms.text.wikimedia.wikitext.marks import (
    FORMULA_END,
    FORMULA_START,
    GUARD,
    HOLE,
    SECTION,
)

_BLANK = f" \t\u00a0{HOLE}{GUARD}"
_TAG = rf"</?[A-Za-z][^<>\n{SECTION}]*+>"
_BLANK_LINE = rf"(?:[{_BLANK}]|{_TAG})*+"
_IS_BLANK = re.compile(_BLANK_LINE)
_MAX_BLANK_LINES = 8
_FORMULA = rf"(?:{FORMULA_START}[^\n{FORMULA_END}]*+{FORMULA_END}[ \t.,;]*+)++"
# The first character is looked at first: of most lines no more is read.
_LINES = re.compile(
    rf"\n(?=[*#:;{FORMULA_START}])((?:(?:[*#:;][^\n]*+|{_FORMULA})\n(?:{_BLANK_LINE}\n)*+)+)"
)
# What may close the sentence after its colon; a comma goes on with the next line as well.
_OPEN_END = re.compile(rf"[:：,、，](?:[{_BLANK}'\"»”’)\]]|&nbsp;|{_TAG})*+$")
_MAX_END = 80  # characters
_LIST = re.compile(r"^:*[*#]", re.MULTILINE)
_MARKS = re.compile(r"^[*#:;]+[ \t]*", re.MULTILINE)
_FORMULA_MARKS = {ord(FORMULA_START): None, ord(FORMULA_END): None}
_NO_SENTENCE = ("*", "#", ":", ";", "|", "!", "{|", SECTION)
_WIDE = re.compile("[\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]")
_SOURCE = re.compile(r"://|\bISBN\b|\bISSN\b")
_OPENING = "'\"«„“‘([ "
_MIN_WORDS = 3  # of a sentence: "See also:", "Examples:" announce nothing
_MIN_WIDE = 8  # characters of East Asian scripts
_MAX_NAMES = 50  # items of a list of names
_MIN_SENTENCE = 60  # characters of an item that is more than a name; one of East Asia counts twice


def keep_announced_lists(text: str) -> str:
    """Return the text with what finishes a sentence as paragraphs, and without labels of other lists."""
    pieces: list[str] = []
    position = 0
    for match in _LINES.finditer(text):
        start, end = _line_before(text, match.start())
        if not _OPEN_END.search(text, max(start, end - _MAX_END), end):
            continue
        line = text[start:end].strip(_BLANK)
        if not line or line.startswith(_NO_SENTENCE):
            continue
        items = [item for item in _MARKS.sub("", match[1]).split("\n") if item.strip(_BLANK)]
        if _stays(line, items, marked=len(_LIST.findall(match[1]))):
            shown = "".join(f"{GUARD}{item}\n\n" for item in items).translate(_FORMULA_MARKS)
            pieces += (text[position:end], "\n\n", shown)
            position = match.end()
        elif not _is_sentence(line):
            pieces += (text[position:start], "\n")
            position = match.end()
    pieces.append(text[position:])
    return "".join(pieces)


def _line_before(text: str, end: int) -> tuple[int, int]:
    """Return start and end of the last line that holds something, if it is near."""
    start = text.rfind("\n", 0, end) + 1
    for _ in range(_MAX_BLANK_LINES):
        if start == 0 or not _IS_BLANK.fullmatch(text, start, end):
            break
        end = start - 1
        start = text.rfind("\n", 0, end) + 1
    return start, end


def _stays(line: str, items: list[str], *, marked: int) -> bool:
    """Returns True if the items after a line with a colon are shown; `marked` of them are those of a list."""
    if 2 * sum(1 for item in items if _SOURCE.search(item)) >= len(items):
        return False
    if 2 * marked < len(items):
        return True
    if len(items) > _MAX_NAMES and 2 * sum(map(_is_long, items)) < len(items):
        return False
    return _is_sentence(line) or 2 * sum(map(_goes_on, items)) > len(items)


def _is_sentence(line: str) -> bool:
    return len(line.split(None, _MIN_WORDS)) >= _MIN_WORDS or len(_WIDE.findall(line)) >= _MIN_WIDE


def _is_long(item: str) -> bool:
    return len(_WIDE.sub("xx", item)) >= _MIN_SENTENCE


def _goes_on(item: str) -> bool:
    """Returns True if an item begins as the rest of a sentence does."""
    return item.lstrip(_OPENING)[:1].islower()
