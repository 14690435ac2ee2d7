"""Probabilities of words by a back-off model: what any ARPA file holds, whatever smoothing made it.

    p(w | h) = probability(h w), or backoff(h) p(w | h') where the model does not have h w

h' is h without its first word; backoff(h) is 1 where the model does not have h.
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
    """ENTRIES: n-grams with what is left to what does not follow them.

    Args:
      contexts: of BACKOFFS; an n-gram that is none of them has 1.
    """
    rows = look_up(probabilities["words"], contexts["words"])
    factors = np.append(contexts["backoff"], 1.0)[rows]
    words = probabilities["words"]
    return make_table(words, ENTRIES, probabilities["probability"], factors)


def without_backoffs(probabilities: Table) -> Table:
    """ENTRIES of the highest order, whose n-grams are not contexts."""
    return make_table(probabilities["words"], ENTRIES, probabilities["probability"], 1.0)


def grams_of(numbers: Numbers, order: int) -> dict[int, Words]:
    """Order → the different n-grams that a model is asked for, of 1 to `order` words.

    Args:
      numbers: whole sentences, each with END at its end.
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
    """The natural log-likelihood of each word and each end of a sentence.

    Args:
      numbers: whole sentences, each with END at its end.
      entries: order → ENTRIES of a model, at least those of `grams_of`.
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
