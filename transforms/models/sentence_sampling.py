"""Divides documents into paragraphs, and samples the sentences of several languages.

The number of sentences from each language gives a larger share to small languages. The method is temperature
sampling (Arivazhagan et al. 2019; Goyal et al. 2022, FLORES-101, section 5.2). If a language has n sentences,
its share of the sample is proportional to (n / Σn)^(1/T). T = 1 keeps the proportions, and a large T makes
the shares nearly equal. FLORES-101 uses T = 5.

The sentences are sampled deterministically and in little memory. The rank of a sentence is the fingerprint of
the seed and the sentence's text. To sample k of n sentences, each sentence is used k // n times, and the
sentences with the k % n smallest ranks are used once more. (Sampling with replacement would also use each
sentence k / n times on average.) Copies of a sentence have the same rank; any of them may be used once more.

The largest rank whose sentence is used once more is called the last rank. It is found in two passes, so that
no worker keeps all ranks. The first pass counts the ranks in each of 4,096 ranges of equal size. The second
pass collects the ranks of the range that contains the last rank.
"""

import decimal
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..files.text import fingerprint
from ..wikitext.article_markers import parse_article

_BLANK_LINES = re.compile(r"\n[ \t\r]*\n\s*")


def paragraphs_of_article(text: str) -> Iterator[str]:
    """Returns the paragraphs of a Wiki-40B article, without its title and headings."""
    _, sections = parse_article(text)
    return (paragraph for section in sections for paragraph in section.paragraphs)


def paragraphs_of_book(text: str) -> list[str]:
    """Returns the paragraphs of a book, which are separated by empty lines."""
    return _BLANK_LINES.split(text)


PARAGRAPHS: Mapping[str, Callable[[str], Iterable[str]]] = {
    "article": paragraphs_of_article,
    "book": paragraphs_of_book,
    "lines": str.splitlines,  # each line is a paragraph
}
"""Name of a format → function that splits a text into paragraphs."""


# Decimal roots are the same on every machine. At this precision rounding does not change any count.
_CONTEXT = decimal.Context(prec=50)


class Share(NamedTuple):
    """The number of sentences of a language, and its share in a sample of the sentences of many languages."""

    sentences: int  # n: number of available sentences
    probability: float  # p: share of the language in the sample
    wanted: int  # k: number of sampled sentences

    @property
    def times(self) -> int:
        """The number of times that every sentence of the language is used; some are used one more time."""
        return self.wanted // self.sentences if self.sentences else 0

    @property
    def once_more(self) -> int:
        """The number of sentences of the language that are used one more time than the others."""
        return self.wanted % self.sentences if self.sentences else 0


def share_out(counts: Mapping[str, int], temperature: str, total: int) -> dict[str, Share]:
    """Divides a sample of `total` sentences among languages.

    Returns language → its share, sorted by language.

    Shares are rounded by the largest remainder method. If remainders are equal, the first language gets more.
    The share of a language without sentences is 0.

    Args:
      counts: language → number of available sentences.
      temperature: T, written as a decimal number.
      total: the number of sentences in the sample.

    Raises ValueError if the temperature is not a positive number, or if no language has a sentence.
    """
    power = _CONTEXT.divide(Decimal(1), check_temperature(temperature))
    weights = {
        name: Fraction(_CONTEXT.power(Decimal(n), power)) if n else Fraction(0)
        for name, n in sorted(counts.items())
    }
    if not (whole := sum(weights.values())):
        raise ValueError("there is no sentence to learn from")
    exact = {name: weight / whole * total for name, weight in weights.items()}
    wanted = {name: int(share) for name, share in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (wanted[name] - exact[name], name))
    for name in by_remainder[: total - sum(wanted.values())]:
        wanted[name] += 1
    return {
        name: Share(counts[name], float(weights[name] / whole), wanted[name]) for name in weights
    }


def check_temperature(temperature: str) -> Decimal:
    """Parses a temperature. Raises ValueError if it is not a positive number."""
    try:
        number = Decimal(temperature)
    except decimal.InvalidOperation:
        raise ValueError(f"temperature must be a positive number, not {temperature!r}") from None
    if not number.is_finite() or number <= 0:
        raise ValueError(f"temperature must be a positive number, not {temperature!r}")
    return number


Ranks = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]

RANGES = 1 << 12  # ranges of ranks, of equal size
HELD_OUT = 2_000
"""Number of sentences to hold out of a language without a validation split.

Only sentences that are not sampled are held out, so there may be fewer. Whole ranges of ranks are held out,
so there may also be a few more.
"""

_SHIFT = np.uint64(64 - 12)


class LastRange(NamedTuple):
    """For one language, the range of ranks that contains the last rank.

    The last rank is the largest rank of the sentences that are used one time more than the others.
    """

    share: Share
    number: int  # number of the range with the last rank; -1 if no sentence is used once more
    before: int  # number of sentences in the ranges before that range
    held_out_from: int  # first range that is held out; RANGES if none is


class Choice(NamedTuple):
    """The rule that decides which sentences of a language are sampled, how often, and which are held out."""

    share: Share
    last: int  # the last rank; sentences with smaller ranks are used once more; 0 if none are
    copies: int  # number of sentences with rank `last` that are used once more
    # sentences with this rank or a greater one are held out; 1 << 64 if none are
    held_out_from: int


def rank_sentences(sentences: Sequence[str], seed: int) -> Ranks:
    """Returns the rank of each sentence.

    The rank is the `fingerprint` of the seed (in decimal), a tab and the sentence.
    """
    ranks = (fingerprint(f"{seed}\t{sentence}") for sentence in sentences)
    return np.fromiter(ranks, np.uint64, len(sentences))


def count_ranges(ranks: Ranks) -> Counts:
    """Returns how many ranks of sentences are in each of the 4,096 ranges of equal size."""
    return np.bincount(_ranges_of(ranks), minlength=RANGES).astype(np.int64)


def _ranges_of(ranks: Ranks) -> npt.NDArray[Any]:
    return (ranks >> _SHIFT).astype(np.int64)


def find_last_range(counts: Counts, share: Share, hold_out: int = 0) -> LastRange:
    """Finds the range that contains the last rank of a language.

    The last rank is the largest rank of the sentences that are used one time more than the others.

    Args:
      counts: the number of ranks in each range, as returned by `count_ranges`.
      share: the numbers of available and of sampled sentences of the language.
      hold_out: number of sentences to hold out of those that are not sampled. Whole ranges are held out,
        beginning with the one of the greatest ranks, until they have that many sentences. The range of the
        last rank and those before it are never held out.
    """
    behind = np.cumsum(counts)  # sentences up to the end of each range
    found, before = -1, 0
    if share.once_more:
        found = int(np.searchsorted(behind, share.once_more))
        before = int(behind[found - 1]) if found else 0
    held_out_from = RANGES
    if hold_out and not share.times:
        upwards = np.cumsum(counts[::-1])  # sentences from each range on, the last range first
        ranges = int(np.searchsorted(upwards, hold_out)) + 1
        held_out_from = max(RANGES - ranges, found + 1)
    return LastRange(share, found, before, held_out_from)


def ranks_in_range(ranks: Ranks, last: LastRange) -> Ranks:
    """Returns the ranks that are in the range `last.number`."""
    in_range: Ranks = ranks[_ranges_of(ranks) == last.number]
    return in_range


def choose(last: LastRange, ranks: Ranks) -> Choice:
    """Finds the last rank, and returns the rule by which sentences of a language are sampled or held out.

    The last rank is the largest rank of the sentences that are used one time more than the others.

    Args:
      last: the range of ranks that contains the last rank.
      ranks: the ranks of all sentences in this range, in any order.
    """
    held_out_from = last.held_out_from << int(_SHIFT)
    if last.number < 0:
        return Choice(last.share, 0, 0, held_out_from)
    place = last.share.once_more - last.before  # position of the last rank in its range, from 1
    rank = np.sort(ranks)[place - 1]
    return Choice(last.share, int(rank), place - int(np.sum(ranks < rank)), held_out_from)


def is_once_more(ranks: Ranks, choice: Choice) -> npt.NDArray[np.bool_]:
    """Returns a mask of the ranks that are smaller than the last rank, `choice.last`.

    Sentences with these ranks are used one time more than those with greater ranks than the last rank.
    """
    return ranks < np.uint64(choice.last)


def is_last(ranks: Ranks, choice: Choice) -> npt.NDArray[np.bool_]:
    """Returns a mask of the ranks that are equal to the last rank, `choice.last`.

    Copies of a sentence have the same rank. Of those with the last rank, `choice.copies` are used as often
    as sentences with smaller ranks, and the others one time less.
    """
    return ranks == np.uint64(choice.last) if choice.copies else np.zeros(len(ranks), np.bool_)


def is_held_out(ranks: Ranks, choice: Choice) -> npt.NDArray[np.bool_]:
    """Returns a mask of the ranks whose sentences are held out: they are not sampled."""
    if choice.held_out_from >= 1 << 64:
        return np.zeros(len(ranks), np.bool_)
    return ranks >= np.uint64(choice.held_out_from)
