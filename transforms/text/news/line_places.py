"""Finding lines by places in a text, and putting other lines in their stead.

Text is looked at in frames, so that each character has neighbours: a line feed, the lines, each with its
line feed, and one more line feed. In arrays it is a row of codes, bytes or code points.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.unsignedinteger[Any]]
Places = NDArray[np.intp]

LINE_FEED = 10


def frame(block: bytes) -> bytes:
    """The block with line feeds around it."""
    return b"\n%b\n" % block


def unframe(text: bytes) -> bytes:
    """The block in a frame."""
    return text[1:-1]


def line_feeds_of(codes: Codes) -> Places:
    """Places of the line feeds: that before the first line, those of the lines, and the last one."""
    return np.flatnonzero(codes == LINE_FEED)


def line_feeds_in(text: bytes) -> Places:
    """The same, of a framed text."""
    return line_feeds_of(np.frombuffer(text, np.uint8))


def lines_at(places: Places, line_feeds: Places) -> list[int]:
    """Indices of the lines that the places lie in, ascending, each once. A line feed ends its line."""
    lines: list[int] = np.unique(np.searchsorted(line_feeds, places) - 1).tolist()
    return lines


def take_lines(text: bytes, line_feeds: Places, lines: Sequence[int]) -> list[bytes]:
    """Some lines of a framed text, without their line feeds."""
    return [text[start:end] for start, end in _bounds(line_feeds, lines)]


def put_lines(
    text: bytes, line_feeds: Places, lines: Sequence[int], instead: Sequence[bytes]
) -> bytes:
    """The framed text with other lines in place of some, which are named by ascending indices."""
    parts = []
    last = 0
    for (start, end), line in zip(_bounds(line_feeds, lines), instead, strict=True):
        parts += [text[last:start], line]
        last = end
    parts.append(text[last:])
    return b"".join(parts)


def _bounds(line_feeds: Places, lines: Sequence[int]) -> Iterator[tuple[int, int]]:
    starts = line_feeds[:-1][lines] + 1
    ends = line_feeds[1:][lines]
    return zip(starts.tolist(), ends.tolist(), strict=True)
