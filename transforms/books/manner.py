"""Measures how much a text narrates, gives instructions, or lists quantities.

The frequencies of a few kinds of words are counted in samples of the text; see manner.toml.
"""

import functools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from corpusmill.transforms.files.toml_tables import read_table

_TABLE = "manner.toml"
_WORD = re.compile(r"[^\W\d_]+")
_NUMBERED = re.compile(r"^[ \t]*(?:\(?\d{1,4}[.)]|\([a-z]\))[ \t]", re.MULTILINE)
"""A numbered rule or step: "12. ", "(3) ", "(b) "."""


class Manner(NamedTuple):
    """Frequencies of words of narration, words of instruction, numbered lines and quantities in a text.

    All values are numbers per 1,000 words of the text.
    """

    narrating: float  # "he", "said"
    obliging: float  # "should", "must"
    numbered: float  # lines that begin with a number, or with a letter in parentheses
    measured: float  # "2 ounces", "half a pint"


def measure_manner(samples: Sequence[str]) -> Manner:
    """Returns the values of Manner for a text, from samples of it. All are 0 if the samples have no words."""
    words: Counter[str] = Counter()
    for sample in samples:
        words.update(_WORD.findall(sample.lower()))
    counts = (
        sum(words[word] for word in _words_of("narrating")),
        sum(words[word] for word in _words_of("obliging")),
        sum(len(_NUMBERED.findall(sample)) for sample in samples),
        _count_measured(samples, words),
    )
    return Manner(*(count * 1000 / max(1, words.total()) for count in counts))


def _count_measured(samples: Sequence[str], words: Mapping[str, int]) -> int:
    """Returns the number of quantities with a unit, such as "2 ounces".

    `words` is word → number of occurrences, for all words of the samples, in lower case.
    """
    measures = _words_of("measures")
    if not any(word in words or f"{word}s" in words for word in measures):
        return 0
    return sum(len(_measured_pattern().findall(sample)) for sample in samples)


@functools.cache
def _measured_pattern() -> re.Pattern[str]:
    numbers = "|".join(sorted(_words_of("numbers")))
    measures = "|".join(sorted(_words_of("measures")))
    return re.compile(
        rf"(?:[\d¼½¾] ?|\b(?:{numbers})[ -])(?:of an? |an? )?(?:{measures})s?\b", re.IGNORECASE
    )


@functools.cache
def _words_of(kind: str) -> frozenset[str]:
    return frozenset(read_table(__package__, _TABLE)[kind].split())
