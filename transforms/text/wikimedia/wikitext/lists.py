"""Tell the lists that finish a sentence from those that are data.

Lists go, but for one that a sentence announces with a colon: without its items the sentence says
nothing. Each item is a paragraph of its own. A list of sources stays out, and so does a long one of
names: filmographies, members, villages.
"""

import re

from transforms.text.wikimedia.wikitext.marks import GUARD, HOLE, SECTION

_BLANK = f" \t{HOLE}{GUARD}"
# The colon, what may close the sentence after it, blank lines, and the lines of the list.
_COLONS = (":", "：")
_ANNOUNCED = [
    re.compile(
        rf"{colon}([ \t'\"»”’)\]{HOLE}]*+)\n(?:[{_BLANK}]*+\n)*+"
        rf"((?:[*#][^\n]*+\n(?:[{_BLANK}]*+\n)*+)+)"
    )
    for colon in _COLONS
]  # not one pattern: the fixed first character is found fast
_MARKS = re.compile(r"^[*#:;]+[ \t]*", re.MULTILINE)
_NO_SENTENCE = ("*", "#", ":", ";", "|", "!", "{|", SECTION)
_WIDE = re.compile("[\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]")
_SOURCE = re.compile(r"://|\bISBN\b|\bISSN\b")
_MIN_WORDS = 3  # of a sentence: "See also:", "Examples:" announce nothing
_MIN_WIDE = 8  # characters of East Asian scripts
_MAX_NAMES = 20  # items of a list of names
_MIN_SENTENCE = 60  # characters of an item that is more than a name; one of East Asia counts twice


def keep_announced_lists(text: str) -> str:
    """Return the text with the items of lists that finish a sentence as paragraphs."""
    if "\n*" not in text and "\n#" not in text:
        return text
    for colon, announced in zip(_COLONS, _ANNOUNCED, strict=True):
        if colon in text:
            text = announced.sub(_show, text)
    return text


def _show(match: re.Match[str]) -> str:
    text, start = match.string, match.start(1)
    line = text[text.rfind("\n", 0, start) + 1 : start].lstrip(_BLANK)
    if line.startswith(_NO_SENTENCE) or not _is_sentence(line) or _SOURCE.search(match[2]):
        return match[0]
    items = [item for item in _MARKS.sub("", match[2]).split("\n") if item.strip(_BLANK)]
    if len(items) > _MAX_NAMES and 2 * sum(map(_is_long, items)) < len(items):
        return match[0]
    shown = "".join(f"{GUARD}{item}\n\n" for item in items)
    return f"{text[start - 1]}{match[1]}\n\n{shown}"


def _is_sentence(line: str) -> bool:
    return len(line.split(None, _MIN_WORDS)) >= _MIN_WORDS or len(_WIDE.findall(line)) >= _MIN_WIDE


def _is_long(item: str) -> bool:
    return len(_WIDE.sub("xx", item)) >= _MIN_SENTENCE
