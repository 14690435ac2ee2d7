"""Removes parts of a text that are given as spans (start, end).

Splits a text, or a part of it, into paragraphs with their positions. Empty lines separate paragraphs.

Matches opening and closing brackets.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple


class Paragraph(NamedTuple):
    """Consecutive lines that are not empty."""

    start: int  # start of its first line
    end: int  # position after its last character, before the line feed
    gap: int  # number of empty lines before it, within the part
    text: str  # with the line feeds inside


def split_paragraphs(text: str, start: int = 0, end: int | None = None) -> list[Paragraph]:
    """Returns the paragraphs of text[start:end]. The first and the last line may be incomplete."""
    stop = len(text) if end is None else min(end, len(text))
    paragraphs: list[Paragraph] = []
    first = last = -1
    gap = 0
    for line_start, line_end in _lines(text, start, stop):
        if not text[line_start:line_end].isspace() and line_start < line_end:
            first = line_start if first < 0 else first
            last = line_end
            continue
        if first >= 0:
            paragraphs.append(Paragraph(first, last, gap, text[first:last]))
            first, gap = -1, 0
        gap += 1
    if first >= 0:
        paragraphs.append(Paragraph(first, last, gap, text[first:last]))
    return paragraphs


def line_start(text: str, position: int) -> int:
    """Returns the start of the line that contains `position`."""
    return text.rfind("\n", 0, position) + 1


def line_end(text: str, position: int) -> int:
    """Returns the end of the line that contains `position`, before its line feed."""
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def lines_with(text: str, words: Iterable[str]) -> set[int]:
    """Returns the starts of the lines that contain one of the words."""
    starts = set()
    for word in words:
        at = text.find(word)
        while at >= 0:
            starts.add(line_start(text, at))
            at = text.find(word, line_end(text, at))
    return starts


def _lines(text: str, start: int, stop: int) -> list[tuple[int, int]]:
    lines = []
    while start < stop:
        end = text.find("\n", start, stop)
        end = stop if end < 0 else end
        lines.append((start, end))
        start = end + 1
    return lines


Span = tuple[int, int]  # (start, end) in characters

_MAX_INDENT = 300  # spaces before the first character of a line
_AT_THE_START = 1 << 30  # the start of the text counts as this many empty lines


def cut_out(text: str, spans: Iterable[Span]) -> str:
    """Returns the text without the given spans, which may overlap."""
    kept = []
    at = 0
    for start, end in sorted(spans):
        if start > at:
            kept.append(text[at:start])
        at = max(at, end)
    kept.append(text[at:])
    return "".join(kept)


def with_blank_lines(text: str, start: int, end: int) -> Span:
    """Extends a span that is alone on its lines to whole lines, and to the empty lines before or after it.

    The shorter of the two runs of empty lines is included. The longer one stays in the text, since empty
    lines show where a chapter begins. A span that begins within a line is extended to the spaces after it if
    there is white space before it.
    """
    first = text.rfind("\n", max(start - _MAX_INDENT, 0), start) + 1
    if text[max(first, start - _MAX_INDENT) : start].strip() or not (first or start < _MAX_INDENT):
        return start, end + _blanks(text, end) * text[start - 1].isspace()
    last = text.find("\n", end, end + _MAX_INDENT)
    last = min(end + _MAX_INDENT, len(text)) if last < 0 else last
    if text[end:last].strip() or last - end == _MAX_INDENT:  # there is more text in the line
        return start, end + _blanks(text, end)
    above, blank_above = _blank_lines_above(text, first)
    below, blank_below = _blank_lines_below(text, min(last + 1, len(text)))
    if below == len(text) or blank_above >= blank_below:
        return first, below
    return above, min(last + 1, len(text))


def _blanks(text: str, start: int) -> int:
    """Returns the number of consecutive spaces at the position `start`."""
    near = text[start : start + _MAX_INDENT]
    return len(near) - len(near.lstrip(" "))


def _blank_lines_above(text: str, start: int) -> tuple[int, int]:
    """Returns the start of the empty lines before the line that begins at `start`, and their number.

    The start of the text counts as very many empty lines.
    """
    count = 0
    while start:
        above = line_start(text, start - 1)
        if text[above : start - 1].strip():
            return start, count
        start = above
        count += 1
    return 0, max(count, _AT_THE_START)


def _blank_lines_below(text: str, start: int) -> tuple[int, int]:
    """Returns the end of the empty lines that begin at `start`, and their number."""
    count = 0
    while start < len(text):
        end = line_end(text, start)
        if text[start:end].strip():
            return start, count
        start = min(end + 1, len(text))
        count += 1
    return start, count


def any_of(patterns: Iterable[re.Pattern[str]]) -> re.Pattern[str]:
    """Returns a pattern that matches wherever one of the patterns does: one is faster than many."""
    sources = [
        f"(?{'i' * bool(one.flags & re.I)}{'m' * bool(one.flags & re.M)}:"
        f"{re.sub(r'^[(][?][a-z]+[)]', '', one.pattern)})"
        for one in patterns
    ]
    return re.compile("|".join(sources))


_BRACKETS = re.compile(r"[\[\]{}]")
_CLOSED_BY = {"]": "[", "}": "{"}


def match_brackets(text: str) -> dict[int, int]:
    """Returns position of an opening bracket, "[" or "{", → position after its closing bracket.

    Opening brackets without a closing one are left out. Brackets and braces are matched independently.
    """
    open_at: dict[str, list[int]] = {"[": [], "{": []}
    closed = {}
    for found in _BRACKETS.finditer(text):
        bracket = found.group()
        if bracket in open_at:
            open_at[bracket].append(found.start())
        elif starts := open_at[_CLOSED_BY[bracket]]:
            closed[starts.pop()] = found.end()
    return closed
