"""Finds the lines of a block that the rules in punctuation.py may change: about one in seven lines of news.

The rules change only lines that contain certain characters, which this module lists. So all other lines are
skipped.
"""

import numpy as np

from corpusmill.transforms.news.line_places import Codes, Places, lines_at

_SINGLE_MARKS = b"\r()"
_PAIRED_MARKS = (b"  ", b" :", b" ;", b" %", b"''")
_ENGLISH_PAIRS = (b'",', b'".')
_OTHER_PAIRS = (b',"', b'."')


def lines_to_normalize(text: bytes, line_feeds: Places, language: str) -> list[int]:
    """Returns the ascending indexes of the lines that the rules in punctuation.py may change.

    All lines with characters beyond ASCII are included.

    Args:
      text: lines that end with a line feed, with an additional line feed before the first and after the
        last line.
      line_feeds: positions of all line feeds in `text`.
      language: the language code of the text.
    """
    codes: Codes = np.frombuffer(text, np.uint8)
    marks = np.zeros(len(codes), np.bool_)
    for mark in _SINGLE_MARKS:
        if mark in text:
            marks |= codes == mark
    if not text.isascii():
        marks |= codes >= 0x80
    for first, second in (*_PAIRED_MARKS, *_language_pairs(language)):
        marks[1:] |= (codes[:-1] == first) & (codes[1:] == second)
    return lines_at(np.flatnonzero(marks), line_feeds)


def _language_pairs(language: str) -> tuple[bytes, ...]:
    if language == "en":
        return _ENGLISH_PAIRS
    return () if language in ("cs", "cz") else _OTHER_PAIRS
