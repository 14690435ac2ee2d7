"""Computes probabilities of words with a back-off model, as in ARPA files, for any smoothing.

    p(w | h) = probability(h w), or backoff(h) p(w | h') if the model does not have h w

h is the context of w: the words before it. h' is h without its first word. backoff(h) is 1 if the model does
not have h.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from corpusmill.transforms.models.count_grams import is_gram, windows_of
from corpusmill.transforms.models.gram_tables import (
    ENTRIES,
    Table,
    Words,
    group_rows,
    look_up,
    make_table,
    take_rows,
)
from corpusmill.transforms.models.number_words import Numbers

Float64s = npt.NDArray[np.float64]


def join_backoffs(probabilities: Table, contexts: Table) -> Table:
    """Returns n-grams with the columns ENTRIES: their probabilities and their back-off factors.

    Args:
      probabilities: the n-grams with their probabilities (the columns PROBABILITIES).
      contexts: n-grams with their back-off factors (the columns BACKOFFS). The factor of an n-gram that is
        not in this table is 1.
    """
    rows = look_up(probabilities["words"], contexts["words"])
    factors = np.append(contexts["backoff"], 1.0)[rows]
    words = probabilities["words"]
    return make_table(words, ENTRIES, probabilities["probability"], factors)


def without_backoffs(probabilities: Table) -> Table:
    """Returns the n-grams of the highest order with the columns ENTRIES: probability and back-off factor.

    These n-grams are not contexts of other n-grams, so all their back-off factors are 1.

    Args:
      probabilities: the same n-grams with their probabilities (the columns PROBABILITIES).
    """
    return make_table(probabilities["words"], ENTRIES, probabilities["probability"], 1.0)


def grams_of(numbers: Numbers, order: int) -> dict[int, Words]:
    """Returns the n-grams that are needed to score some sentences: n → the different n-grams of n words.

    Args:
      numbers: whole sentences as ids of words. The id END, which is that of </s>, ends each sentence.
      order: the highest n.
    """
    windows = windows_of(numbers, order)
    asked = {}
    for n in range(1, order + 1):
        words = windows[:, order - n :]
        if n < order:
            words = np.concatenate([words, windows[:, order - n - 1 : -1]])
        words = words[is_gram(words)]
        rows, starts = group_rows(words)
        asked[n] = take_rows(words, rows[starts])
    return asked


def log_likelihoods(numbers: Numbers, entries: Mapping[int, Table]) -> Float64s:
    """Returns the natural log-likelihood of each word and each end of a sentence.

    Args:
      numbers: whole sentences as ids of words. The id END, which is that of </s>, ends each sentence.
      entries: order → the n-grams of the model with their probabilities and back-off factors (the columns
        ENTRIES). N-grams that `grams_of` does not return for these sentences may be missing.
    """
    order = max(entries)
    windows = windows_of(numbers, order)
    found = np.full(len(windows), -np.inf)
    backoffs = np.zeros(len(windows))
    for n in range(1, order + 1):
        table = entries[n]
        words = windows[:, order - n :]
        in_order = is_gram(words)
        rows = np.where(in_order, look_up(words, table["words"]), -1)
        logs = np.append(np.log(table["probability"]), 0.0)
        found = np.where(rows >= 0, logs[rows], found + np.where(in_order, backoffs, 0.0))
        if n < order:
            contexts = look_up(windows[:, order - n - 1 : -1], table["words"])
            backoffs = np.append(np.log(table["backoff"]), 0.0)[contexts]
    return found
