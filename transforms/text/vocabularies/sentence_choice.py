"""Chooses the sentences of a language to learn from: without chance or order, and no worker holds all of
them.

A sentence's rank is the fingerprint of the seed and its text. Of n sentences, k are wanted: each is taken
k // n times, and those with the k % n smallest ranks once more. This is what drawing with replacement comes
to on average, without its chance. Copies of a sentence share its rank; as they cannot be distinguished, any
of them may be the ones that are taken once more.

The last rank is found in two looks, so that nobody holds all ranks: how many there are in each range, then
those of the one range in which it lies.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from transforms.text.fingerprint import fingerprint
from transforms.text.vocabularies.temperature_sampling import Share

Ranks = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]

RANGES = 1 << 12  # of ranks, all of one size
HELD_OUT = 2_000
"""Sentences that a language without a validation split holds out, where so many are not learned from."""

_SHIFT = np.uint64(64 - 12)


class LastRange(NamedTuple):
    """The result of the first look at a language."""

    share: Share
    number: int  # of the range with the last sentence that is taken once more; -1 where none is
    before: int  # sentences in the ranges before
    held_out_from: int  # range; RANGES where nothing is held out


class Choice(NamedTuple):
    """The sentences of a language to learn from, and the number of times each is used."""

    share: Share
    last: int  # rank: those with smaller ones are taken once more; 0 where none is
    copies: int  # of the sentences with this rank, how many are taken once more
    held_out_from: int  # rank from which on sentences are held out; 1 << 64 where none is


def rank_sentences(sentences: Sequence[str], seed: int) -> Ranks:
    """The rank of each sentence: `fingerprint` of the seed in decimal digits, a tab and the text."""
    ranks = (fingerprint(f"{seed}\t{sentence}") for sentence in sentences)
    return np.fromiter(ranks, np.uint64, len(sentences))


def count_ranges(ranks: Ranks) -> Counts:
    """Returns the number of ranks in each range."""
    return np.bincount(_ranges_of(ranks), minlength=RANGES).astype(np.int64)


def _ranges_of(ranks: Ranks) -> npt.NDArray[Any]:
    return (ranks >> _SHIFT).astype(np.int64)


def find_last_range(counts: Counts, share: Share, hold_out: int = 0) -> LastRange:
    """Finds the range of the last sentence from the number of ranks in each range.

    Args:
      hold_out: how many to hold out of those that are not learned from: the ones of the fewest ranges that
        have so many, at the end; fewer where the ranges after the last sentence have not so many.
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
    """Those of the range in which the last sentence lies."""
    in_range: Ranks = ranks[_ranges_of(ranks) == last.number]
    return in_range


def choose(last: LastRange, ranks: Ranks) -> Choice:
    """The choice, from all ranks of that range, in any order."""
    held_out_from = last.held_out_from << int(_SHIFT)
    if last.number < 0:
        return Choice(last.share, 0, 0, held_out_from)
    place = last.share.once_more - last.before  # of the last one in its range, from 1
    rank = np.sort(ranks)[place - 1]
    return Choice(last.share, int(rank), place - int(np.sum(ranks < rank)), held_out_from)


def is_once_more(ranks: Ranks, choice: Choice) -> npt.NDArray[np.bool_]:
    """Returns a mask of the sentences that are taken once more, except those of the last rank."""
    return ranks < np.uint64(choice.last)


def is_last(ranks: Ranks, choice: Choice) -> npt.NDArray[np.bool_]:
    """Returns a mask of the sentences of the last rank: `copies` of them are taken once more."""
    none = np.zeros(len(ranks), np.bool_)
    return ranks == np.uint64(choice.last) if choice.copies else none


def is_held_out(ranks: Ranks, choice: Choice) -> npt.NDArray[np.bool_]:
    """Returns a mask of the sentences that are held out."""
    if choice.held_out_from >= 1 << 64:
        return np.zeros(len(ranks), np.bool_)
    return ranks >= np.uint64(choice.held_out_from)
