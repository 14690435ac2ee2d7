"""Measures the layout of a text: the shares of verse, of speech in plays, and of lists.

Lines of verse begin with a capital letter, lines of prose only by chance. (First lines of paragraphs are not
counted.) In the English prose that we measured, 3 to 30 % of the lines begin with a capital letter, in books
of verse 80 % or more. For speech see speech.py.

A share is the part of all characters that belongs to verse, speech or lists. White space at the start and end
of lines does not count.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from corpusmill.transforms.books.speech import measure_speech

CAPITAL_LINES = 0.75
"""Smallest share of a stanza's lines, without the first, that begin with a capital letter."""

MAX_VERSE_CHARACTERS = 100
"""Largest average length of the lines of a stanza."""

LISTED_LINES = 0.5
"""Smallest share of lines that end in figures in a list: a table of contents, an index, a table."""

SPACED_LINES = 4
"""Smallest number of consecutive short paragraphs that are verse with an empty line after each line."""

UNENDED = 0.35
"""Smallest share of paragraphs in such verse that end in the middle of a sentence.

Paragraphs of prose hardly ever do.
"""

CAPITALS_OF_VERSE = 0.5
"""Smallest result of `capitals_of` for a book of verse.

In a book of verse, paragraphs of two and three lines may be stanzas, too.
"""

_SHORT_CHARACTERS = 170

_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_CAPITAL = re.compile(r"[\W_]*[A-Z]")
_FIGURE_AT_END = re.compile(r"\d[\W_]*$")
_UNENDED = re.compile(r"[a-zà-ÿ,;][”’\"']?$|(?:--|—)$")


class Shape(NamedTuple):
    """The shares of a text that are verse, speech and lists, and its numbers of characters and speakers."""

    characters: int
    verse: float  # share of characters in stanzas
    speech: float  # share of characters in speeches
    speakers: int  # number of different speakers
    listed: float  # share of characters in lists and tables


def measure_shape(text: str) -> Shape:
    """Returns the shares of a text that are verse, speech and lists. The whole text is read."""
    paragraphs = list(paragraphs_of(text))
    sizes = [sum(map(len, map(str.strip, lines))) for lines in paragraphs]
    characters = sum(sizes)
    if not characters:
        return Shape(0, 0.0, 0.0, 0, 0.0)
    width = width_of(paragraphs)
    is_verse_book = capitals_of(paragraphs) >= CAPITALS_OF_VERSE
    is_listed = [is_list(lines) for lines in paragraphs]
    is_versed = [
        not listed and is_stanza(lines, width, is_verse_book)
        for lines, listed in zip(paragraphs, is_listed, strict=True)
    ]
    for start, end in spaced_lines(paragraphs):
        is_versed[start:end] = [not listed for listed in is_listed[start:end]]
    speech = measure_speech(paragraphs)
    return Shape(
        characters,
        verse=sum(size for size, yes in zip(sizes, is_versed, strict=True) if yes) / characters,
        speech=speech.characters / characters,
        speakers=speech.speakers,
        listed=sum(size for size, yes in zip(sizes, is_listed, strict=True) if yes) / characters,
    )


def paragraphs_of(text: str) -> Iterator[list[str]]:
    """Yields the lines of each paragraph, without trailing white space. Empty lines separate paragraphs."""
    for paragraph in _BLANK_LINES.split(text):
        lines = [line.rstrip() for line in paragraph.split("\n")]
        lines = [line for line in lines if line]
        if lines:
            yield lines


def width_of(paragraphs: Sequence[Sequence[str]]) -> int:
    """Returns the 90th percentile of the lengths of all lines, in characters; 0 if there are no lines."""
    lengths = sorted(len(line.strip()) for lines in paragraphs for line in lines)
    return lengths[len(lengths) * 9 // 10] if lengths else 0


def capitals_of(paragraphs: Sequence[Sequence[str]]) -> float:
    """Returns the share of lines that begin with a capital letter.

    First lines of paragraphs are not counted.
    """
    capital = sum(_capitals_in(lines[1:]) for lines in paragraphs)
    return capital / max(1, sum(len(lines) - 1 for lines in paragraphs))


def is_stanza(lines: Sequence[str], width: int, is_verse_book: bool = False) -> bool:
    """Returns True if a paragraph is verse: its lines are short, and most begin with a capital letter.

    Two or three lines of prose often begin with capital letters by chance. So outside a book of verse, such
    a short paragraph must meet one more condition: at the end of each line but the last, there is room for
    the first word of the next line.

    Args:
      lines: the lines of the paragraph.
      width: the line length of the text, from `width_of`.
      is_verse_book: True if the book consists of verse.
    """
    rest = lines[1:]
    if not rest or sum(map(len, lines)) > MAX_VERSE_CHARACTERS * len(lines):
        return False
    if _capitals_in(rest) < CAPITAL_LINES * len(rest):
        return False
    return len(rest) > 2 or is_verse_book or _is_broken_early(lines, width)


def _capitals_in(lines: Sequence[str]) -> int:
    return sum(1 for line in lines if _CAPITAL.match(line))


def _is_broken_early(lines: Sequence[str], width: int) -> bool:
    return all(
        len(line.strip()) + 1 + len(following.split(maxsplit=1)[0]) <= width
        for line, following in pairwise(lines)
    )


def is_list(lines: Sequence[str]) -> bool:
    """Returns True if a paragraph is a list or a table: at least half of its lines end in digits.

    A paragraph of one line is not a list. Poems with numbered lines are not lists either, because only every
    fifth or tenth line of them ends in a number.
    """
    figures = sum(1 for line in lines if _FIGURE_AT_END.search(line[-4:]))
    return len(lines) > 1 and figures >= LISTED_LINES * len(lines)


def spaced_lines(paragraphs: Sequence[Sequence[str]]) -> Iterator[tuple[int, int]]:
    """Finds verse that has an empty line after each line, so that each line is a paragraph.

    Yields (index of the first paragraph, index after the last paragraph) for each such piece of verse.
    """
    place = 0
    for is_short, run in groupby(paragraphs, key=_is_short):
        lines = list(run)
        end = place + len(lines)
        if is_short and len(lines) >= SPACED_LINES:
            unended = sum(1 for one in lines if _UNENDED.search(one[-1]))
            if unended >= UNENDED * len(lines):
                yield place, end
        place = end


def _is_short(lines: Sequence[str]) -> bool:
    return len(lines) <= 2 and sum(map(len, lines)) <= _SHORT_CHARACTERS
