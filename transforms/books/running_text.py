"""Rejects texts that are not running text (digits, file names, lists) and texts that are too short."""

import dataclasses
import re
from collections.abc import Sequence

from corpusmill.transforms.books.samples import take_samples
from corpusmill.transforms.files.records import Book, Reason

MIN_LETTERS = 0.79
"""Smallest share of letters among the characters that are not white space.

Prose has 0.9 and more, plays and poems with many notes 0.8; a book on logic with diagrams has 0.73, a
glossary 0.62, a page of digits 0.
"""

WORD_LETTERS = 2.5, 8.0
"""Smallest and largest average number of letters per word. English books have 3.6 to 5."""

SENTENCE_WORDS = 200
"""Largest number of words per mark that ends a sentence.

Prose has 15 to 40, verse and the writing of children up to 100; lists of words, names or files have nearly
no such marks.
"""

MAX_REPEATED = 0.5
"""Largest share of repeated lines among the lines that are not short. Books of songs reach 0.2."""

MIN_TOKENS = 20
"""Smallest number of tokens in a text. Shorter texts are only notes, such as where the book can be found."""

MIN_WORDS = 200
"""Default of TooShort.

The paper on PG-19 does not define "short texts", and its release does not show a limit: it has The Story of
a Fierce Bad Rabbit, of 225 words, and lacks longer books of the same series.
"""

_REPEATED_FROM_CHARACTERS = 20
_LETTERS = re.compile(r"[^\W\d_]+")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)\]_*]*(?=\s|--|—|$)")


def malformed(book: Book, text: str) -> Reason | None:
    """Returns None for running text, otherwise the reason `malformed`, which says what is wrong."""
    samples = take_samples(text)
    problem = (
        _too_few_tokens(text) or _no_words(samples) or _no_sentences(samples) or _repeats(text)
    )
    return Reason("malformed", problem) if problem else None


def _too_few_tokens(text: str) -> str:
    tokens = len(text[: 100 * MIN_TOKENS].split())
    return f"{tokens} tokens in all" if tokens < MIN_TOKENS else ""


def _no_words(samples: Sequence[str]) -> str:
    printed = sum(len(part) for sample in samples for part in sample.split())
    words = [word for sample in samples for word in _LETTERS.findall(sample)]
    letters = sum(map(len, words))
    if letters < MIN_LETTERS * printed:
        return f"{letters / printed:.2f} of the characters are letters"
    shortest, longest = WORD_LETTERS
    if not shortest <= letters / len(words) <= longest:
        return f"words have {letters / len(words):.1f} letters"
    return ""


def _no_sentences(samples: Sequence[str]) -> str:
    words = sum(len(sample.split()) for sample in samples)
    sentences = sum(len(_SENTENCE_END.findall(sample)) for sample in samples)
    if words > SENTENCE_WORDS * (sentences + 1):
        return f"{sentences} sentences end in {words} words"
    return ""


def _repeats(text: str) -> str:
    lines = [
        line for line in map(str.strip, text.split("\n")) if len(line) >= _REPEATED_FROM_CHARACTERS
    ]
    repeated = len(lines) - len(set(lines))
    if repeated > MAX_REPEATED * len(lines):
        return f"{repeated} of {len(lines)} lines are there before"
    return ""


@dataclasses.dataclass(frozen=True)
class TooShort:
    """Rejects books with fewer than `min_words` words. Words are separated by white space.

    Raises ValueError if `min_words` is negative.
    """

    min_words: int = MIN_WORDS

    def __post_init__(self) -> None:
        if self.min_words < 0:
            raise ValueError(f"min_words must be 0 or more, not {self.min_words}")

    def __call__(self, book: Book, text: str) -> Reason | None:
        """Returns the reason `too-short` if the text has fewer than `min_words` words, otherwise None."""
        words = len(text.split())
        return Reason("too-short", f"{words} words") if words < self.min_words else None
