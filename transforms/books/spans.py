"""Removes parts of a text that are given as spans (start, end)."""

from collections.abc import Iterable

from corpusmill.transforms.books.paragraphs import line_end, line_start

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
