"""Counts lines, their words, bytes and characters, and how many lines have how many words."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from corpusmill.transforms.files.line_blocks import cut_block

_SHORT, _LONG, _WIDTH = 20, 100, 5
# Numbers of words at which classes begin. The histogram of README.corpus_generation ends with ">20".
_STARTS = np.array([*range(_SHORT + 1), *range(_SHORT + 1, _LONG + 2, _WIDTH)])
CLASSES = (
    *map(str, range(_SHORT + 1)),
    *(f"{start}-{start + _WIDTH - 1}" for start in range(_SHORT + 1, _LONG, _WIDTH)),
    f">{_LONG}",
)
"""Classes of the number of words in a line: "0", "1", … "20", "21-25", … "96-100", ">100"."""

_CHUNK_BYTES = 1 << 18  # bytes measured at a time: they fit in the processor's cache
_LINE_FEED, _BLANK = b"\n "
_Counts = npt.NDArray[np.int64]


class LineStats(NamedTuple):
    """The numbers of lines, words, bytes and characters of a text, and more statistics of its lines.

    For tokenised lines, the first four numbers are those that `wc -lwcm` prints.
    """

    lines: int = 0
    words: int = 0  # separated by one or more spaces (U+0020)
    bytes: int = 0  # with line feeds
    characters: int = 0  # code points as Perl counts them, with line feeds; some are not in Unicode
    longest_line_bytes: int = 0  # without its line feed
    lines_by_words: tuple[int, ...] = (0,) * len(CLASSES)
    """Number of lines in each of CLASSES."""

    def histogram(self) -> dict[str, int]:
        """Returns a mapping: class of line lengths in words, such as "21-25" → number of lines in it."""
        return histogram(self.lines_by_words)


def histogram(lines_by_words: Sequence[int]) -> dict[str, int]:
    """Returns a mapping: class of line lengths in words, such as "21-25" → number of lines in this class.

    `lines_by_words` has the numbers of lines, in the order of CLASSES.
    """
    return dict(zip(CLASSES, lines_by_words, strict=True))


def count_by_words(words: npt.ArrayLike) -> tuple[int, ...]:
    """Returns for each class of line lengths in words (CLASSES) the number of lines in this class.

    `words` has the number of words of each line.
    """
    classes = np.searchsorted(_STARTS, np.asarray(words, np.int64), "right") - 1
    return tuple(np.bincount(classes, minlength=len(CLASSES)).tolist())


def measure_lines(block: bytes) -> LineStats:
    """Returns the statistics of a block of lines (see line_blocks.py)."""
    return add_line_stats(map(_measure_chunk, cut_block(block, _CHUNK_BYTES)))


def _measure_chunk(block: bytes) -> LineStats:
    text = np.frombuffer(block, np.uint8)
    is_end = text == _LINE_FEED
    ends = np.flatnonzero(is_end)
    words = _words_per_line(is_end | (text == _BLANK), ends)
    return LineStats(
        lines=len(ends),
        words=int(words.sum()),
        bytes=len(text),
        characters=int(np.count_nonzero((text & 0b1100_0000) != 0b1000_0000)),
        longest_line_bytes=int(np.diff(ends, prepend=-1).max()) - 1,
        lines_by_words=count_by_words(words),
    )


def _words_per_line(is_between: npt.NDArray[np.bool_], ends: _Counts) -> _Counts:
    """Returns the number of words in each line. A word ends where a space or line feed follows.

    Args:
      is_between: True at each space and line feed.
      ends: positions of the line feeds.
    """
    ends_word = is_between[1:] > is_between[:-1]
    words_before = np.searchsorted(np.flatnonzero(ends_word), ends)
    return np.diff(words_before, prepend=0)


def add_line_stats(stats: Iterable[LineStats]) -> LineStats:
    """Adds up the statistics of several texts. Of their longest lines, the longest one is used."""
    columns = list(zip(LineStats(), *stats, strict=True))
    lines, words, size, characters = (sum(column) for column in columns[:4])
    by_words = tuple(sum(column) for column in zip(*columns[5], strict=True))
    return LineStats(lines, words, size, characters, max(columns[4]), by_words)
