"""Divides the front of a book (the pages before the text) into blocks of lines, and detects running text."""

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_LINES = 250  # maximum lines of the front, which has the title page, its back and a preface
# maximum characters of the front: some texts have a whole paragraph in one line
MAX_CHARACTERS = 40_000

# A block is running text if it has at least the characters of two full lines, and most of its lines are as
# long as lines broken at a margin. The lines of an address or a list are shorter.
_MIN_PROSE_CHARACTERS = 150
_MIN_FULL_LINE = 50
_MIN_FULL_SHARE = 0.7

# Characters of running text before or on the title page: a motto, a note, a notice of rights.
_MAX_PROSE_BEFORE_TITLE = 1_200

_BLANKS = re.compile(r"[ \t\xa0]+")


class Block(NamedTuple):
    """Consecutive lines that are not empty."""

    lines: tuple[str, ...]  # without surrounding white space
    is_prose: bool  # running text
    prose_before: int  # characters of running text in earlier blocks


def is_on_title_page(block: Block) -> bool:
    """Returns True if a block is probably on the title page, judged by the running text before it.

    At most a short piece of running text, such as a motto, may be before the block.
    """
    return block.prose_before <= _MAX_PROSE_BEFORE_TITLE


def blocks_of_front(text: str) -> Iterator[Block]:
    """Yields the blocks of the front of a book, in order."""
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
    """Returns True if most lines of a block, except the last line, are as long as lines of running text."""
    but_last = lines[:-1] or lines
    full = sum(len(_BLANKS.sub(" ", line)) >= _MIN_FULL_LINE for line in but_last)
    return full >= _MIN_FULL_SHARE * len(but_last)
