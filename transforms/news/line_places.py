"""Finds lines by their positions in a text, and replaces lines.

Texts are framed: they begin and end with an additional line feed, so that each character has neighbours. An
array stores a text as one number per byte or per code point.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.unsignedinteger[Any]]
Places = NDArray[np.intp]

LINE_FEED = 10


def frame(block: bytes) -> bytes:
    """Returns the block with a line feed before and after it."""
    return b"\n%b\n" % block


def unframe(text: bytes) -> bytes:
    """Returns a framed text without the two line feeds that `frame` has added."""
    return text[1:-1]


def line_feeds_of(codes: Codes) -> Places:
    """Returns the positions of all line feeds in a framed text, including the first and the last.

    Args:
      codes: the bytes or code points of the text.
    """
    return np.flatnonzero(codes == LINE_FEED)


def line_feeds_in(text: bytes) -> Places:
    """Returns the positions of all line feeds in a framed text, including the first and the last."""
    return line_feeds_of(np.frombuffer(text, np.uint8))


def lines_at(places: Places, line_feeds: Places) -> list[int]:
    """Returns the indexes of the lines that contain given positions. Each line is returned once, in order.

    A line feed belongs to the line that it ends.

    Args:
      places: positions in a framed text.
      line_feeds: the positions of all line feeds of the text.
    """
    lines: list[int] = np.unique(np.searchsorted(line_feeds, places) - 1).tolist()
    return lines


def take_lines(text: bytes, line_feeds: Places, lines: Sequence[int]) -> list[bytes]:
    """Returns the lines of a framed text at the indexes `lines`, without their line feeds."""
    return [text[start:end] for start, end in _bounds(line_feeds, lines)]


def put_lines(
    text: bytes, line_feeds: Places, lines: Sequence[int], instead: Sequence[bytes]
) -> bytes:
    """Returns a framed text in which some lines are replaced.

    Args:
      text: the framed text.
      line_feeds: the positions of its line feeds.
      lines: indexes of the lines to replace, ascending.
      instead: the new lines, without line feeds.
    """
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
