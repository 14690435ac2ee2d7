"""Defines what an audit finds in a page, and adds up the counts of many pages.

Finds the words of a text in any script, and classifies the characters of words and punctuation.
"""

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

CLASSES = {
    "template": "a template in a sentence left nothing",
    "dropped-aside": "a template in brackets left nothing, and the brackets were removed with it",
    "empty-brackets": "brackets or quotation marks around nothing, or around loose punctuation",
    "punctuation": "a space before a stop or comma, or two of them, that the source does not have",
    "no-beginning": "a paragraph that begins in the middle of a sentence",
    "no-end": "a paragraph that announces something which does not follow",
    "dropped-words": "words in a paragraph that are not in the text",
    "dropped-paragraph": "prose that is not in the text",
    "dropped-quotation": "prose in a template that is alone on its line",
    "added-words": "words of an image, reference or table, or markup, in the text",
    "before-block": "a paragraph that announces a table, an image or code, which are not text",
    "unknown-value": "a whole sentence with a template is missing: its value is not in this dump",
}
"""Class of holes → the problem that a reader sees."""

NO_HOLES = ("before-block", "unknown-value")
"""Classes that are listed, but not counted as holes: no prose is missing, or only whole sentences."""

MARK = "▮"
"""Marks the place in an excerpt where something is missing or wrong."""


_OF_TEMPLATES = ("template", "dropped-aside", "dropped-quotation")


class Hole(NamedTuple):
    """A finding: a position at which the text of a page in the corpus differs from its wikitext."""

    kind: str  # one of CLASSES
    template: str  # name of the template at the place; "" for none
    source: str  # an excerpt of the wikitext around the place
    text: str  # an excerpt of the text, with MARK at the place


class Uses(NamedTuple):
    """Counts of a template's uses in running text: those that left text in the corpus, and the others."""

    shown: int = 0
    nothing: int = 0  # no text, at a place where a value is possible
    notes: int = 0  # no text, at a place of notes: after a word or a full stop


class Comparison(NamedTuple):
    """The differences between the wikitext of a page and its text in the corpus, with counts."""

    paragraphs: int  # of the text
    source_words: int  # in running text that could be compared
    found_words: int  # number of these that are in the text
    holes: Sequence[Hole]
    uses: Mapping[str, Uses]  # by template


class AuditedPage(NamedTuple):
    """A page of the audited sample. If the page could not be audited, it has a reason and no findings."""

    page_id: int
    title: str
    reason: str  # "" for a page that was audited; "too-long", "too-slow" or "parser-ended"
    comparison: Comparison


NOTHING = Comparison(0, 0, 0, (), {})


def add_uses(pages: Iterable[Mapping[str, Uses]]) -> dict[str, Uses]:
    """Adds up the counts of pages. Returns name of a template → its counts in all pages."""
    sums: dict[str, Counter[str]] = {}
    for page in pages:
        for name, uses in page.items():
            sums.setdefault(name, Counter()).update(uses._asdict())
    return {name: Uses(**counts) for name, counts in sums.items()}


def is_note(uses: Uses) -> bool:
    """Returns True if a template leaves no text because it is a note, such as a footnote mark.

    Of its uses without text, at least half must be at positions where notes are usual.
    """
    return uses.notes >= max(uses.nothing, 1)


def counts_as_hole(hole: Hole, uses: Mapping[str, Uses]) -> bool:
    """Returns True if a finding is a hole: something is missing in the corpus text.

    A template that left no text is not a hole if it is a note, such as a footnote mark (see `is_note`).

    Args:
      hole: the finding.
      uses: name of a template → its counts in all pages.
    """
    is_doubtful = hole.kind in _OF_TEMPLATES and hole.template in uses
    return not (is_doubtful and is_note(uses[hole.template]))


_SPACELESS = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)


_CODES = (code for code in range(0x300, 0x20000) if unicodedata.category(chr(code))[0] == "M")
_RUNS = [[*run] for _, run in itertools.groupby(enumerate(_CODES), lambda one: one[1] - one[0])]
_MARKS = "".join(f"{chr(run[0][1])}-{chr(run[-1][1])}" for run in _RUNS)
"""The combining marks, which `\\w` does not match, as ranges: `re` tries single characters one by one."""

_WORD = re.compile(
    f"[{_SPACELESS}]|(?:(?![{_SPACELESS}])[^\\W_]|[{_MARKS}])+(?:['’ʼ](?![{_SPACELESS}])[^\\W\\d_]+)?"
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
