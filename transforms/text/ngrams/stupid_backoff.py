"""Stupid Backoff (Brants et al. 2007), normalised as by Chelba et al. 2013, section 4.1.

    S(w | h) = c(h w) / c(h), or 0.4 S(w | h') where the model does not have h w
    p(w | h) = S(w | h) / Z(h), Z(h) the sum of S(w | h) over all words

h' is h without its first word, c counts in the text, and c(h) is the sum of c(h w) over all words. That is a
back-off model: what h w the model does not have gets 0.4 Z(h') / Z(h) of p(w | h'). Whatever it has of an
order, it has the end of, so that

    Z(h) = own(h) + 0.4 (Z(h') - used(h))

with own(h) and used(h) the sums of S(w | h) and S(w | h') over the words w with which it has h w.
"""

import numpy as np

from transforms.text.ngrams.count_grams import is_kept
from transforms.text.ngrams.gram_tables import (
    START,
    UNKNOWN,
    WEIGHTS,
    Table,
    Words,
    group_rows,
    look_up,
    make_table,
    take_rows,
)

FACTOR = 0.4
FREQUENCIES = (("frequency", "<f8"),)  # S of an n-gram that the model has
USED = (("used", "<i8"),)  # the same of its end, as a whole number of 2**-62: sums are exact
OWN = (("own", "<f8"),)  # of a context
LEFT = (("left", "<f8"),)  # of a context, own - 0.4 used
SCALES = (("scale", "<f8"), ("backoff", "<f8"))  # of a context, Z and what it gives to its end

_UNITS = float(2**62)


def divide_by_contexts(table: Table, most_cut: int) -> tuple[Table, Table]:
    """(n-grams that are kept with their FREQUENCIES, contexts with OWN).

    Args:
      table: of ADJUSTED_COUNTS, with all n-grams of each context.
    """
    order, starts = group_rows(table["words"][:, :-1])
    table = take_rows(table, order)
    counts, kept = table["count"], is_kept(table, most_cut)
    whole = np.add.reduceat(counts, starts) if len(starts) else counts
    own = np.add.reduceat(np.where(kept, counts, 0), starts) if len(starts) else counts
    sizes = np.diff(starts, append=len(table))
    found = make_table(table["words"], FREQUENCIES, counts / np.repeat(whole, sizes))
    contexts = make_table(table["words"][starts, :-1], OWN, own / whole)
    return found[kept], contexts[own > 0]


def divide_unigrams(table: Table) -> Table:
    """FREQUENCIES of all words. An unknown word counts once where the text has none.

    Args:
      table: of ADJUSTED_COUNTS, all unigrams.
    """
    has_unknown = bool((table["words"] == UNKNOWN).any())
    words = table["words"] if has_unknown else np.append(table["words"], [[UNKNOWN]], axis=0)
    counts = table["count"] if has_unknown else np.append(table["count"], 1)
    return make_table(words.astype(np.uint32), FREQUENCIES, counts / counts.sum())


def start_of_sentence() -> Table:
    """FREQUENCIES of <S>, which is never predicted and has 1."""
    return make_table(np.array([[START]], np.uint32), FREQUENCIES, 1.0)


def use_shorter(words: Words, shorter: Table) -> Table:
    """USED of n-grams.

    Args:
      shorter: FREQUENCIES that have all their ends.
    Raises ValueError for an end that is not there.
    """
    rows = look_up(words[:, 1:], shorter["words"])
    if np.any(rows < 0):
        raise ValueError("a model has an n-gram, and not the end of it")
    return make_table(words, USED, np.rint(shorter["frequency"][rows] * _UNITS).astype(np.int64))


def leave_over(used: Table, own: Table) -> Table:
    """LEFT of contexts.

    Args:
      used: of all n-grams that the model has of these contexts.
    """
    order, starts = group_rows(used["words"][:, :-1])
    if not len(starts):
        return make_table(own["words"], LEFT, own["own"])
    sums = np.add.reduceat(used["used"][order], starts) / _UNITS
    contexts = used["words"][order[starts], :-1]
    rows = look_up(own["words"], contexts)
    return make_table(own["words"], LEFT, own["own"] - FACTOR * sums[rows])


def scale_contexts(left: Table, shorter: Table) -> Table:
    """SCALES of contexts.

    Args:
      shorter: SCALES that have all their ends; of contexts of one word, whose end is nothing, none.
    """
    if left["words"].shape[1] == 1:
        given = np.full(len(left), FACTOR)
    else:
        given = FACTOR * shorter["scale"][look_up(left["words"][:, 1:], shorter["words"])]
    scale = left["left"] + given
    return make_table(left["words"], SCALES, scale, given / scale)


def weigh_by_scales(found: Table, scales: Table) -> Table:
    """WEIGHTS of n-grams: their probabilities, without a share of the shorter n-gram.

    Args:
      found: FREQUENCIES of n-grams.
      scales: SCALES of all their contexts.
    """
    rows = look_up(found["words"][:, :-1], scales["words"])
    return make_table(found["words"], WEIGHTS, found["frequency"] / scales["scale"][rows], 0.0)
