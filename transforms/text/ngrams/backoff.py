"""Computes probabilities of words with a back-off model, as in ARPA files, for any smoothing.

    p(w | h) = probability(h w), or backoff(h) p(w | h') if the model does not have h w

h' is h without its first word; backoff(h) is 1 if the model does not have h.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from transforms.text.ngrams.count_grams import is_gram, windows_of
from transforms.text.ngrams.gram_tables import (
    ENTRIES,
    Table,
    Words,
    group_rows,
    look_up,
    make_table,
    take_rows,
)
from transforms.text.ngrams.number_words import Numbers

Float64s = npt.NDArray[np.float64]


def join_backoffs(probabilities: Table, contexts: Table) -> Table:
    """Adds back-off factors to n-grams. Returns a table with the columns ENTRIES.

    Args:
      probabilities: a table with the columns PROBABILITIES.
      contexts: a table with the columns BACKOFFS; the factor of n-grams that are not in it is 1.
    """
    rows = look_up(probabilities["words"], contexts["words"])
    factors = np.append(contexts["backoff"], 1.0)[rows]
    words = probabilities["words"]
    return make_table(words, ENTRIES, probabilities["probability"], factors)


def without_backoffs(probabilities: Table) -> Table:
    """Returns the n-grams of the highest order, with the columns ENTRIES.

    These n-grams are not contexts, so all their back-off factors are 1.

    Args:
      probabilities: the same n-grams with the columns PROBABILITIES.
    """
    return make_table(probabilities["words"], ENTRIES, probabilities["probability"], 1.0)


def grams_of(numbers: Numbers, order: int) -> dict[int, Words]:
    """Returns the n-grams that are needed to score some sentences: n → the different n-grams of n words.

    Args:
      numbers: whole sentences as ids of words, each with END at its end.
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
      numbers: whole sentences as ids of words, each with END at its end.
      entries: order → a table with the columns ENTRIES. It needs only the n-grams of the model that
        `grams_of` returns.
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
