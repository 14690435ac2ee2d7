"""Computes Stupid Backoff (Brants et al. 2007), normalised as in Chelba et al. 2013, section 4.1.

    S(w | h) = c(h w) / c(h), or 0.4 S(w | h') if the model does not have h w
    p(w | h) = S(w | h) / Z(h), where Z(h) is the sum of S(w | h) over all words

w is a word, h its context (the words before it), and h' is h without its first word. c(h w) is a count in the
text, and c(h) is the sum of c(h w) over all words w.

This is a back-off model: if it does not have h w, p(w | h) = 0.4 Z(h') / Z(h) p(w | h'). The model has all
suffixes of its n-grams, so that

    Z(h) = own(h) + 0.4 (Z(h') - used(h))

Here own(h) is the sum of S(w | h), and used(h) the sum of S(w | h'), over the words w for which the model has
h w.
"""

import numpy as np

from corpusmill.transforms.models.count_grams import is_kept
from corpusmill.transforms.models.gram_tables import (
    START,
    UNKNOWN,
    WEIGHTS,
    Table,
    Words,
    group_rows,
    look_up,
    look_up_suffixes,
    make_table,
    take_rows,
)

FACTOR = 0.4
FREQUENCIES = (("frequency", "<f8"),)  # S of an n-gram in the model
USED = (("used", "<i8"),)  # S of its suffix, as a multiple of 2**-62, so that sums are exact
OWN = (("own", "<f8"),)  # own(h) of a context h
LEFT = (("left", "<f8"),)  # own(h) - 0.4 used(h) of a context h
SCALES = (("scale", "<f8"), ("backoff", "<f8"))  # Z(h) of a context h, and its back-off factor

_UNITS = float(2**62)


def divide_by_contexts(table: Table, most_cut: int) -> tuple[Table, Table]:
    """Divides the counts of n-grams by the counts of their contexts.

    Returns two tables: the n-grams that are not pruned, with these quotients (the column FREQUENCIES), and
    their contexts, with the sum of the quotients of these n-grams (the column OWN).

    Args:
      table: n-grams with the columns ADJUSTED_COUNTS, of which only the counts are used. It must have all
        n-grams of each context.
      most_cut: largest count of the n-grams that are pruned.
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
    """Returns all unigrams with their relative frequencies in the text (the column FREQUENCIES).

    If <UNK> is not in the text, it is added with a count of 1.

    Args:
      table: all unigrams with the columns ADJUSTED_COUNTS, of which only the counts are used.
    """
    has_unknown = bool((table["words"] == UNKNOWN).any())
    words = table["words"] if has_unknown else np.append(table["words"], [[UNKNOWN]], axis=0)
    counts = table["count"] if has_unknown else np.append(table["count"], 1)
    return make_table(words.astype(np.uint32), FREQUENCIES, counts / counts.sum())


def start_of_sentence() -> Table:
    """Returns a table with one row: the unigram <S>, with the value 1 in the column FREQUENCIES."""
    return make_table(np.array([[START]], np.uint32), FREQUENCIES, 1.0)


def use_shorter(words: Words, shorter: Table) -> Table:
    """Returns n-grams with the column USED: the score S of the suffix, as a multiple of 2**-62.

    The suffix is the n-gram without its first word.

    Args:
      words: the n-grams, as ids of words.
      shorter: the suffixes of all n-grams, with their scores (the column FREQUENCIES).

    Raises ValueError if a suffix is missing.
    """
    rows = look_up_suffixes(words, shorter["words"])
    return make_table(words, USED, np.rint(shorter["frequency"][rows] * _UNITS).astype(np.int64))


def leave_over(used: Table, own: Table) -> Table:
    """Computes own(h) - 0.4 used(h) for each context h. Returns the contexts with the result (column LEFT).

    own(h) is the sum of S(w | h), and used(h) the sum of S(w | h'), over the words w that follow h in an
    n-gram of the model. S is the Stupid Backoff score, and h' is h without its first word.

    Args:
      used: all n-grams of the model with these contexts, with S(w | h') (the column USED).
      own: the contexts with own(h) (the column OWN).
    """
    order, starts = group_rows(used["words"][:, :-1])
    if not len(starts):
        return make_table(own["words"], LEFT, own["own"])
    sums = np.add.reduceat(used["used"][order], starts) / _UNITS
    contexts = used["words"][order[starts], :-1]
    rows = look_up(own["words"], contexts)
    return make_table(own["words"], LEFT, own["own"] - FACTOR * sums[rows])


def scale_contexts(left: Table, shorter: Table) -> Table:
    """Computes Z(h) and the back-off factor 0.4 Z(h') / Z(h) for each context h.

    Z(h) is the sum of the scores S(w | h) over all words w. h' is h without its first word. Returns the
    contexts with both values (the columns SCALES).

    Args:
      left: the contexts, as returned by `leave_over`.
      shorter: the suffixes h' of the contexts, with the columns SCALES; empty for contexts of one word.
    """
    if left["words"].shape[1] == 1:
        given = np.full(len(left), FACTOR)
    else:
        given = FACTOR * shorter["scale"][look_up(left["words"][:, 1:], shorter["words"])]
    scale = left["left"] + given
    return make_table(left["words"], SCALES, scale, given / scale)


def weigh_by_scales(found: Table, scales: Table) -> Table:
    """Divides the score S(w | h) of each n-gram by the sum Z(h) of the scores of its context h.

    Returns the n-grams with the columns WEIGHTS. WEIGHT is the quotient, which is the probability. SHARE, the
    factor of the shorter n-gram's probability, is 0: unlike Kneser-Ney smoothing, this model does not
    interpolate.

    Args:
      found: the n-grams with S(w | h) in the column FREQUENCIES.
      scales: their contexts h with Z(h) and the back-off factor (the columns SCALES).
    """
    rows = look_up(found["words"][:, :-1], scales["words"])
    return make_table(found["words"], WEIGHTS, found["frequency"] / scales["scale"][rows], 0.0)
