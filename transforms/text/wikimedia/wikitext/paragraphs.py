"""From lines to paragraphs.

Blank lines part paragraphs; a single newline is a blank. Lists, indented lines, rulers and what
is left of tables and templates are no running prose and go.
"""

import re
from collections.abc import Iterator

from transforms.text.wikimedia.wikitext.marks import FORMULA_END, FORMULA_START, HOLE
from transforms.text.wikimedia.wikitext.quotes import strip_quotes
from transforms.text.wikimedia.wikitext.tags import decode_entities

_NOT_PROSE = re.compile(r"\n[ \t]*(?:[*#:;|!]|\{\||----)[^\n]*")
_BLANK_LINES = re.compile(r"\n\s*\n")
_FORMULA_LINE = re.compile(
    rf"\n[ \t]*(?:{FORMULA_START}[^\n{FORMULA_START}]*{FORMULA_END}[ \t.,;]*)+(?=\n)"
)


def split_paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text without other markup than apostrophes and entities."""
    text = _NOT_PROSE.sub("\n", f"\n{text}\n")
    if FORMULA_END in text:
        text = _FORMULA_LINE.sub("\n", text)
    if "''" in text:
        text = "\n".join(map(strip_quotes, text.split("\n")))
    text = decode_entities(text)
    for block in _BLANK_LINES.split(text):
        paragraph = " ".join(block.split())
        if paragraph.strip(HOLE + " "):
            yield paragraph
