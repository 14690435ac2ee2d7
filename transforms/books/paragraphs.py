"""Splits a text, or a part of it, into paragraphs with their positions. Empty lines separate paragraphs."""

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
