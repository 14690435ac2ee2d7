"""Cutting places out of a text."""

from collections.abc import Iterable

from transforms.text.books.stripping.paragraphs import line_end, line_start

Span = tuple[int, int]  # start and end

_MAX_INDENT = 300  # blanks: what has more of them before it does not begin a line
_AT_THE_START = 1 << 30  # blank lines: what the text begins with goes


def cut_out(text: str, spans: Iterable[Span]) -> str:
    """The text without these places, which may overlap."""
    kept = []
    at = 0
    for start, end in sorted(spans):
        if start > at:
            kept.append(text[at:start])
        at = max(at, end)
    kept.append(text[at:])
    return "".join(kept)


def with_blank_lines(text: str, start: int, end: int) -> Span:
    """A place grown to whole lines, if it has them to itself, and by the blank lines on one side of it.

    Of the blank lines before and after it more stay than go: they show where a chapter begins. A place within
    a line takes along the spaces after it, if there are spaces before it too.
    """
    first = text.rfind("\n", max(start - _MAX_INDENT, 0), start) + 1
    if text[max(first, start - _MAX_INDENT) : start].strip() or not (first or start < _MAX_INDENT):
        return start, end + _blanks(text, end) * text[start - 1].isspace()
    last = text.find("\n", end, end + _MAX_INDENT)
    last = min(end + _MAX_INDENT, len(text)) if last < 0 else last
    if text[end:last].strip() or last - end == _MAX_INDENT:  # the line goes on
        return start, end + _blanks(text, end)
    above, blank_above = _blank_lines_above(text, first)
    below, blank_below = _blank_lines_below(text, min(last + 1, len(text)))
    if below == len(text) or blank_above >= blank_below:
        return first, below
    return above, min(last + 1, len(text))


def _blanks(text: str, start: int) -> int:
    """Returns the number of spaces at a place."""
    near = text[start : start + _MAX_INDENT]
    return len(near) - len(near.lstrip(" "))


def _blank_lines_above(text: str, start: int) -> tuple[int, int]:
    """Returns the start and the number of the blank lines before a line. The text's start counts as many."""
    count = 0
    while start:
        above = line_start(text, start - 1)
        if text[above : start - 1].strip():
            return start, count
        start = above
        count += 1
    return 0, max(count, _AT_THE_START)


def _blank_lines_below(text: str, start: int) -> tuple[int, int]:
    """Returns the end and the number of the blank lines from a line on."""
    count = 0
    while start < len(text):
        end = line_end(text, start)
        if text[start:end].strip():
            return start, count
        start = min(end + 1, len(text))
        count += 1
    return start, count
