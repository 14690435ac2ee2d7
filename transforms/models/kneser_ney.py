"""Computes interpolated modified Kneser-Ney smoothing (Chen and Goodman 1998), like KenLM's lmplz.

    p(w | h) = (a(h w) - D(a(h w))) / a(h) + share(h) p(w | h')

w is a word, h its context (the words before it), and h' is h without its first word. a(h w) is an adjusted
count (see count_grams.py), and a(h) is the sum of a(h w) over all words w. share(h) is the sum of the
subtracted discounts D, divided by a(h). The unigrams are interpolated with 1 / V, where V is the number of
words that can be predicted, including <UNK> and </S>, but not <S>. Pruned n-grams are included in a(h) and in
the discounts. Their whole probability is added to share(h).
"""

from typing import NamedTuple

import numpy as np

from corpusmill.transforms.models.count_grams import MOST_TALLIED, Tally, is_kept
from corpusmill.transforms.models.gram_tables import (
    BACKOFFS,
    PROBABILITIES,
    START,
    UNKNOWN,
    WEIGHTS,
    Int64s,
    Table,
    group_rows,
    look_up_suffixes,
    make_table,
    take_rows,
)

FALLBACK = (0.0, 0.5, 1.0, 1.5)
"""Discounts of lmplz --discount_fallback, used if discounts cannot be estimated from the Tally."""


class Discounts(NamedTuple):
    """The discounts that are subtracted from the adjusted counts of the n-grams of one order."""

    of_count: tuple[float, ...]  # discounts for counts 0, 1, 2, and 3 or more
    is_fallback: bool = False  # True if the text has too few n-grams to estimate them


def estimate_discounts(tally: Tally) -> Discounts:
    """Estimates the discounts by equation (26) of Chen and Goodman 1998."""
    seen = (0, *tally.of_count)
    if not all(seen[1:]):
        return Discounts(FALLBACK, True)
    y = seen[1] / (seen[1] + 2 * seen[2])
    found = [j - (j + 1) * y * seen[j + 1] / seen[j] for j in range(1, MOST_TALLIED)]
    if not all(0 <= discount <= j for j, discount in enumerate(found, 1)):
        return Discounts(FALLBACK, True)
    return Discounts((0.0, *found))


def weigh(table: Table, discounts: Discounts, most_cut: int) -> tuple[Table, Table]:
    """Subtracts discounts from adjusted counts, and divides each result by the total count of its context.

    The total count of a context is the sum of the adjusted counts of all n-grams with this context.

    Returns two tables. The first has the n-grams that are not pruned, with the columns WEIGHTS: the part of
    the probability that comes from the n-gram itself, and the factor of the probability of its suffix. The
    second has their contexts with their back-off factors (the columns BACKOFFS).

    Args:
      table: n-grams of an order of 2 or more, with the columns ADJUSTED_COUNTS (count and adjusted count). It
        must have all n-grams of each context.
      discounts: the discounts of the order.
      most_cut: largest count of the n-grams that are pruned.
    """
    order, starts = group_rows(table["words"][:, :-1])
    table = take_rows(table, order)
    sizes = np.diff(starts, append=len(table))
    adjusted, kept = table["adjusted"], is_kept(table, most_cut)
    discount = np.array(discounts.of_count)[np.minimum(adjusted, 3)]
    share = np.zeros(len(starts))
    for count in range(1, len(discounts.of_count)):
        has_count = kept & (np.minimum(adjusted, 3) == count)
        share += discounts.of_count[count] * _add_up(has_count.astype(np.int64), starts)
    share += _add_up(np.where(kept, 0, adjusted), starts)
    whole = _add_up(adjusted, starts)
    share /= whole
    weights = (adjusted - discount) / np.repeat(whole, sizes)
    weighed = make_table(table["words"], WEIGHTS, weights, np.repeat(share, sizes))
    contexts = make_table(table["words"][starts, :-1], BACKOFFS, share)
    return weighed[kept], contexts


def _add_up(values: Int64s, starts: Int64s) -> Int64s:
    """Returns the sum of each run of values; runs begin at `starts`."""
    return np.add.reduceat(values, starts) if len(starts) else values[:0]


def vocabulary_size(tally: Tally, *, has_unknown: bool) -> int:
    """Returns V, the number of words that can be predicted, including </S> and <UNK>.

    Args:
      tally: the tally of the unigrams.
      has_unknown: True if <UNK> is in the text.
    """
    return tally.grams + (not has_unknown)


def estimate_unigrams(table: Table, tally: Tally, discounts: Discounts, size: int) -> Table:
    """Returns the unigrams of a table, with their probabilities (the columns PROBABILITIES).

    Args:
      table: some or all unigrams, with the columns ADJUSTED_COUNTS.
      tally: the tally of all unigrams.
      discounts: the discounts of unigrams.
      size: the result of `vocabulary_size`.
    """
    ones, twos = tally.of_count[:2]
    seen = (0, ones, twos, tally.grams - ones - twos)
    left = sum(map(float.__mul__, discounts.of_count, map(float, seen))) / tally.adjusted
    discount = np.array(discounts.of_count)[np.minimum(table["adjusted"], 3)]
    own = (table["adjusted"] - discount) / tally.adjusted
    return make_table(table["words"], PROBABILITIES, own + left / size)


def further_unigrams(tally: Tally, discounts: Discounts, size: int, *, has_unknown: bool) -> Table:
    """Returns the unigrams that are not in the text, with the columns PROBABILITIES.

    These unigrams are <S>, whose probability is 1, and <UNK> if the text does not have it.

    Args:
      tally: the tally of all unigrams.
      discounts: the discounts of unigrams.
      size: the result of `vocabulary_size`.
      has_unknown: True if <UNK> is in the text.
    """
    nothing = make_table(np.array([[UNKNOWN]], np.uint32), (("adjusted", "<i8"),), 0)
    unknown = estimate_unigrams(nothing, tally, discounts, size)
    start = make_table(np.array([[START]], np.uint32), PROBABILITIES, 1.0)
    return start if has_unknown else np.concatenate([unknown, start])


def interpolate(weighed: Table, shorter: Table) -> Table:
    """Interpolates the weights of n-grams with the probabilities of their suffixes.

    Returns the n-grams with their probabilities (the columns PROBABILITIES).

    Args:
      weighed: the n-grams with their weights, as returned by `weigh`.
      shorter: all suffixes of the n-grams, which are one word shorter, with their probabilities.

    Raises ValueError if a suffix is missing.
    """
    rows = look_up_suffixes(weighed["words"], shorter["words"])
    probabilities = weighed["weight"] + weighed["share"] * shorter["probability"][rows]
    return make_table(weighed["words"], PROBABILITIES, probabilities)
