"""Finds the words of a text in any script, and classifies the characters of words and punctuation."""

import re
import sys
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

_SPACELESS = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)


def _marks() -> str:
    """Returns character ranges for a regular expression: the combining marks, which `\\w` does not match."""
    ranges: list[list[int]] = []
    for code in range(0x300, min(sys.maxunicode, 0x20000)):
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


_WORD = re.compile(
    f"[{_SPACELESS}]|(?:(?![{_SPACELESS}])[^\\W_]|[{_marks()}])+(?:['’ʼ](?![{_SPACELESS}])[^\\W\\d_]+)?"
)
_IS_SPACELESS = re.compile(f"[{_SPACELESS}]")

SENTENCE_END = ".!?…。！？．।॥؟۔։"
CLAUSE_END = ",;:،؛、，；：·՝"
OPENING = "([{（［【〔「『《〈“„«‹‘"
CLOSING = ")]}）］】〕」』》〉”»›’\"'"


class Word(NamedTuple):
    """A word of a text. In scripts without spaces between words, it is a single character."""

    norm: str  # NFKC, in lower case
    start: int
    end: int


def words_of(text: str) -> list[Word]:
    """Returns the words of a text in order."""
    return [
        Word(unicodedata.normalize("NFKC", found[0]).casefold(), *found.span())
        for found in _WORD.finditer(text)
    ]


def is_spaceless(character: str) -> bool:
    """Returns True if a character belongs to a script that is written without spaces between words."""
    return bool(_IS_SPACELESS.match(character))


def is_letter(character: str) -> bool:
    """Returns True if a character is part of a word: a letter, a digit or a combining mark."""
    return bool(character) and unicodedata.category(character)[0] in "LMN"


def is_prose(text: str, words: Sequence[Word]) -> bool:
    """Returns True if a text may be a sentence.

    It must have a minimum number of words, and punctuation that ends sentences.
    """
    spaceless = sum(is_spaceless(text[word.start]) for word in words)
    return len(words) - spaceless / 2 >= 8 and any(mark in text for mark in SENTENCE_END)
