"""Computes a feature vector for each line, from the words and character n-grams of the line.

The features are tf-idf weights, hashed into a fixed number of columns.
"""

import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Rows = npt.NDArray[np.float32]

_SMALLEST = np.finfo(np.float32).tiny
_COLUMNS = 8192  # hash collisions cost little, and rows stay short
_WORD_PIECES = (3, 4)
_UNSPACED_PIECES = (1, 2, 3)
_UNSPACED = frozenset("Hani Hira Kana Khmr Laoo Mymr Thai Tibt".split())
_WORD = re.compile(
    r"[^\W_]+(?:[\u0300-\u036f\u0900-\u0963\u0966-\u0dff\u1000-\u109f\u1780-\u17ff]+[^\W_]*)*"
)
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")


def has_no_blanks(scripts: Sequence[str]) -> bool:
    """Returns True if one of the scripts (ISO 15924 codes) is written without spaces between words."""
    return not _UNSPACED.isdisjoint(scripts)


def weigh_lines(lines: Sequence[str], is_unspaced: bool) -> Rows:
    """Returns one row per line: the tf-idf weights of its words and of the character n-grams of the words.

    The words and n-grams are hashed into 8,192 columns, and each row is normalised to length 1. A line
    without words has a row of zeros.

    Args:
      lines: the lines.
      is_unspaced: True if the script has no spaces between words.
    """
    counts = np.zeros((len(lines), _COLUMNS), np.float32)
    for row, line in enumerate(lines):
        for piece, count in Counter(_pieces(line, is_unspaced)).items():
            counts[row, zlib.crc32(piece.encode("utf-8", "surrogatepass")) % _COLUMNS] += count
    rarity = np.log((len(lines) + 1) / ((counts > 0).sum(axis=0) + 1))
    weights = np.log1p(counts, out=counts)  # in place, because 3,001 rows take 98 MB
    weights *= rarity.astype(np.float32)
    weights /= np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), _SMALLEST)
    return weights


def words_of(line: str) -> list[str]:
    """Returns the case-folded words of a line.

    In scripts without spaces, each run of letters counts as a word.
    """
    return _WORD.findall(unicodedata.normalize("NFKC", _INVISIBLE.sub("", line)).casefold())


def _pieces(line: str, is_unspaced: bool) -> Iterator[str]:
    for word in words_of(line):
        if is_unspaced:
            yield from _runs(word, _UNSPACED_PIECES)
        else:
            yield f"={word}"
            yield from _runs(f"^{word}$", _WORD_PIECES)


def _runs(word: str, lengths: Sequence[int]) -> Iterator[str]:
    for length in lengths:
        for start in range(max(len(word) - length, 0) + 1):
            yield word[start : start + length]
