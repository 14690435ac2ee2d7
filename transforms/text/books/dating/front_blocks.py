"""The front of a book in blocks: what is on a title page, detected from running text."""

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_LINES = 250  # of the front; a title page, its back and a preface are within
MAX_CHARACTERS = 40_000  # of the front: there are texts with a whole paragraph in a line

# A block is running text when it has as many characters as two full lines and more, and most of its lines
# are as long as those that were broken at a margin; an address or a list has shorter ones.
_MIN_PROSE_CHARACTERS = 150
_MIN_FULL_LINE = 50
_MIN_FULL_SHARE = 0.7

# So much of running text may stand before or on the title page: a motto, a note, a notice of rights.
_MAX_PROSE_BEFORE_TITLE = 1_200

_BLANKS = re.compile(r"[ \t\xa0]+")


class Block(NamedTuple):
    """Lines between blank lines."""

    lines: tuple[str, ...]  # without blanks at their ends
    is_prose: bool
    prose_before: int  # characters of running text before it


def is_on_title_page(block: Block) -> bool:
    """Returns True if the block is before the running text of the book."""
    return block.prose_before <= _MAX_PROSE_BEFORE_TITLE


def blocks_of_front(text: str) -> Iterator[Block]:
    """The blocks of the front of a book, in its order."""
    prose_characters = 0
    for lines in _split(text):
        characters = sum(len(_BLANKS.sub(" ", line)) for line in lines)
        is_prose = characters >= _MIN_PROSE_CHARACTERS and _is_full(lines)
        yield Block(lines, is_prose, prose_characters)
        if is_prose:
            prose_characters += characters


def _split(text: str) -> Iterator[tuple[str, ...]]:
    block: list[str] = []
    for line in text[:MAX_CHARACTERS].split("\n")[:MAX_LINES]:
        if stripped := line.strip():
            block.append(stripped)
        elif block:
            yield tuple(block)
            block = []
    if block:
        yield tuple(block)


def _is_full(lines: tuple[str, ...]) -> bool:
    """Returns True if most lines but the last are full."""
    but_last = lines[:-1] or lines
    full = sum(len(_BLANKS.sub(" ", line)) >= _MIN_FULL_LINE for line in but_last)
    return full >= _MIN_FULL_SHARE * len(but_last)
