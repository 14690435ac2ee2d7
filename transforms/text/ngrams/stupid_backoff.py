"""Computes Stupid Backoff (Brants et al. 2007), normalised as in Chelba et al. 2013, section 4.1.

    S(w | h) = c(h w) / c(h), or 0.4 S(w | h') if the model does not have h w
    p(w | h) = S(w | h) / Z(h), where Z(h) is the sum of S(w | h) over all words

h' is h without its first word, c(h w) is a count in the text, and c(h) is the sum of c(h w) over all words w.
This is a back-off model: if it does not have h w, p(w | h) = 0.4 Z(h') / Z(h) p(w | h'). The model has all
suffixes of its n-grams, so that

    Z(h) = own(h) + 0.4 (Z(h') - used(h))

where own(h) and used(h) are the sums of S(w | h) and S(w | h') over the words w for which the model has h w.
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
FREQUENCIES = (("frequency", "<f8"),)  # S of an n-gram in the model
USED = (("used", "<i8"),)  # S of its suffix, as a multiple of 2**-62, so that sums are exact
OWN = (("own", "<f8"),)  # own(h) of a context h
LEFT = (("left", "<f8"),)  # own(h) - 0.4 used(h) of a context h
SCALES = (("scale", "<f8"), ("backoff", "<f8"))  # Z(h) of a context h, and its back-off factor

_UNITS = float(2**62)


def divide_by_contexts(table: Table, most_cut: int) -> tuple[Table, Table]:
    """Divides the counts of n-grams by the counts of their contexts.

    Returns (FREQUENCIES of the kept n-grams, OWN of their contexts).

    Args:
      table: a table of ADJUSTED_COUNTS with all n-grams of each context.
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
    """Returns the FREQUENCIES of all words. If <UNK> is not in the text, its count is 1.

    Args:
      table: the ADJUSTED_COUNTS of all unigrams.
    """
    has_unknown = bool((table["words"] == UNKNOWN).any())
    words = table["words"] if has_unknown else np.append(table["words"], [[UNKNOWN]], axis=0)
    counts = table["count"] if has_unknown else np.append(table["count"], 1)
    return make_table(words.astype(np.uint32), FREQUENCIES, counts / counts.sum())


def start_of_sentence() -> Table:
    """Returns the FREQUENCIES of <S>, which is never predicted. Its frequency is 1."""
    return make_table(np.array([[START]], np.uint32), FREQUENCIES, 1.0)


def use_shorter(words: Words, shorter: Table) -> Table:
    """Returns a table of USED: for each n-gram in `words`, the value S(w | h') of its suffix.

    Args:
      words: n-grams.
      shorter: FREQUENCIES of the suffixes of all n-grams.

    Raises ValueError if a suffix is missing.
    """
    rows = look_up(words[:, 1:], shorter["words"])
    if np.any(rows < 0):
        raise ValueError(
            "the model has an n-gram, but not its suffix (the n-gram without the first word)"
        )
    return make_table(words, USED, np.rint(shorter["frequency"][rows] * _UNITS).astype(np.int64))


def leave_over(used: Table, own: Table) -> Table:
    """Computes own(h) - 0.4 used(h) for each context h. Returns a table of LEFT.

    Args:
      used: the USED of all n-grams of the model with these contexts.
      own: the OWN of the contexts.
    """
    order, starts = group_rows(used["words"][:, :-1])
    if not len(starts):
        return make_table(own["words"], LEFT, own["own"])
    sums = np.add.reduceat(used["used"][order], starts) / _UNITS
    contexts = used["words"][order[starts], :-1]
    rows = look_up(own["words"], contexts)
    return make_table(own["words"], LEFT, own["own"] - FACTOR * sums[rows])


def scale_contexts(left: Table, shorter: Table) -> Table:
    """Computes Z(h) and the back-off factor 0.4 Z(h') / Z(h) for each context h. Returns a table of SCALES.

    Args:
      left: the LEFT of the contexts.
      shorter: the SCALES of the contexts' suffixes h'; empty for contexts of one word.
    """
    if left["words"].shape[1] == 1:
        given = np.full(len(left), FACTOR)
    else:
        given = FACTOR * shorter["scale"][look_up(left["words"][:, 1:], shorter["words"])]
    scale = left["left"] + given
    return make_table(left["words"], SCALES, scale, given / scale)


def weigh_by_scales(found: Table, scales: Table) -> Table:
    """Returns the WEIGHTS of n-grams.

    WEIGHT is the probability S(w | h) / Z(h). SHARE, the share of the lower order, is 0.

    Args:
      found: the FREQUENCIES of the n-grams.
      scales: the SCALES of their contexts.
    """
    rows = look_up(found["words"][:, :-1], scales["words"])
    return make_table(found["words"], WEIGHTS, found["frequency"] / scales["scale"][rows], 0.0)
