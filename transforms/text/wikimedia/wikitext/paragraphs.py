"""From lines to paragraphs.

Blank lines part paragraphs; a single newline is a blank. Lists, indented lines, rulers and what
is left of tables and templates are no running prose and go.
"""

import re
from collections.abc import Iterator

from transforms.text.wikimedia.wikitext.marks import BREAK, FORMULA_END, FORMULA_START, HOLE
from transforms.text.wikimedia.wikitext.quotes import strip_quotes
from transforms.text.wikimedia.wikitext.tags import decode_entities

# A line that begins with a blank is preformatted: code and diagrams, or, in the dumps seen, prose
# whose author let a blank slip in. Nobody writes lines of code as long as that prose.
_MAX_CODE_LINE = 80
_PREFORMATTED = re.compile(rf"\n [^\n]{{0,{_MAX_CODE_LINE - 2}}}(?=\n)")
_NOT_PROSE = re.compile(r"\n[ \t]*(?:[*#:;|!]|\{\||----)[^\n]*")
# A line of its own that left nothing (an infobox, an image) parts paragraphs like a blank line.
_HOLE_LINE = re.compile(rf"\n[ \t{HOLE}]+(?=\n)")
_FORMULA_LINE = re.compile(
    rf"\n[ \t]*(?:{FORMULA_START}[^\n{FORMULA_START}]*{FORMULA_END}[ \t.,;]*)+(?=\n)"
)
# "January | February | March": links in a row, for the eye and the mouse.
_SEPARATOR = re.compile(r" (?:[|•·] )+| [|•·]$")
_MIN_LINKS = 3
_MAX_LINK = 40  # characters
_WORD = re.compile(r"[^\W_]")
_BLANK_LINES = re.compile(r"\n\s*\n")


def drop_preformatted(text: str) -> str:
    """Remove the lines that begin with a blank, unless they are too long to be code."""
    if "\n " not in text and not text.startswith(" "):
        return text
    return _PREFORMATTED.sub("\n", f"\n{text}\n")[1:-1]


def split_paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text without other markup than apostrophes and entities."""
    text = f"\n{text}\n".replace(BREAK, "\n\n")
    text = _NOT_PROSE.sub("\n", text)
    if HOLE in text:
        text = _HOLE_LINE.sub("\n", text)
    if FORMULA_END in text:
        text = _FORMULA_LINE.sub("\n", text)
    if "''" in text:
        text = "\n".join(map(strip_quotes, text.split("\n")))
    text = decode_entities(text)
    for block in _BLANK_LINES.split(text):
        paragraph = " ".join(block.split())
        if _is_prose(paragraph):
            yield paragraph


def _is_prose(paragraph: str) -> bool:
    if not _WORD.search(paragraph):
        return False
    if " | " not in paragraph and " • " not in paragraph and " · " not in paragraph:
        return True
    links = _SEPARATOR.split(paragraph)
    return len(links) < _MIN_LINKS or any(len(link) > _MAX_LINK for link in links)
