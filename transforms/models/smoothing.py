"""Computes interpolated modified Kneser-Ney smoothing (Chen and Goodman 1998), like KenLM's lmplz.

    p(w | h) = (a(h w) - D(a(h w))) / a(h) + share(h) p(w | h')

w is a word, h its context (the words before it), and h' is h without its first word. a(h w) is an adjusted
count (see gram_tables.py), and a(h) is the sum of a(h w) over all words w. share(h) is the sum of the
subtracted discounts D, divided by a(h). The unigrams are interpolated with 1 / V, where V is the number of
words that can be predicted, including <UNK> and </S>, but not <S>. Pruned n-grams are included in a(h) and in
the discounts. Their whole probability is added to share(h).

Computes Stupid Backoff (Brants et al. 2007), normalised as in Chelba et al. 2013, section 4.1.

    S(w | h) = c(h w) / c(h), or 0.4 S(w | h') if the model does not have h w
    p(w | h) = S(w | h) / Z(h), where Z(h) is the sum of S(w | h) over all words

w is a word, h its context (the words before it), and h' is h without its first word. c(h w) is a count in the
text, and c(h) is the sum of c(h w) over all words w.

This is a back-off model: if it does not have h w, p(w | h) = 0.4 Z(h') / Z(h) p(w | h'). The model has all
suffixes of its n-grams, so that

    Z(h) = own(h) + 0.4 (Z(h') - used(h))

Here own(h) is the sum of S(w | h), and used(h) the sum of S(w | h'), over the words w for which the model has
h w.

Computes probabilities of words with a back-off model, as in ARPA files, for any smoothing.

    p(w | h) = probability(h w), or backoff(h) p(w | h') if the model does not have h w

h is the context of w: the words before it. h' is h without its first word. backoff(h) is 1 if the model does
not have h.

Writes n-gram models as ARPA files, which are read by KenLM, SRILM and other programs.

Logarithms have base 10 and are 32-bit floats, as in KenLM, written with the fewest digits that identify the
number. N-grams of the same length are sorted by their hashes. Programs that read ARPA files accept n-grams in
any order.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from . import gram_tables
from .gram_tables import PROBABILITIES, UNKNOWN, Table, Tally, group_rows, look_up, make_table

Float64s = npt.NDArray[np.float64]

FALLBACK = (0.0, 0.5, 1.0, 1.5)
"""Discounts of lmplz --discount_fallback, used if discounts cannot be estimated from the Tally."""


class Discounts(NamedTuple):
    """The discounts that are subtracted from the adjusted counts of the n-grams of one order."""

    of_count: tuple[float, ...]  # discounts for counts 0, 1, 2, and 3 or more
    is_fallback: bool = False  # True if the text has too few n-grams to estimate them


def estimate_discounts(tally: Tally) -> Discounts:
    """Estimates the discounts by equation (26) of Chen and Goodman 1998, in 32 bits like lmplz.

    Like lmplz, this takes the count of the last n-gram (see `gram_tables.last_of`) for its adjusted count.
    Only in a small text is this n-gram likely to occur more than once.
    """
    seen = [0, *tally.of_count, 0]  # the last number is not used
    for count, change in zip(tally.last[-2:], (-1, 1), strict=False):
        seen[min(count, gram_tables.MOST_TALLIED + 1)] += change
    if not all(seen[1:-2]):
        return Discounts(FALLBACK, True)
    j, n = np.arange(1, gram_tables.MOST_TALLIED, dtype=np.float32), np.array(seen, np.float32)
    y = n[1] / np.float32(seen[1] + 2 * seen[2])
    found = j - (j + 1) * y * n[2:-1] / n[1:-2]
    if not ((found >= 0) & (found <= j)).all():
        return Discounts(FALLBACK, True)
    return Discounts((0.0, *found.tolist()))


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
    table = gram_tables.take_rows(table, order)
    sizes = np.diff(starts, append=len(table))
    adjusted, kept = table["adjusted"], gram_tables.is_kept(table, most_cut)
    discount = np.array(discounts.of_count)[np.minimum(adjusted, 3)]
    share = np.zeros(len(starts))
    for count in range(1, len(discounts.of_count)):
        has_count = kept & (np.minimum(adjusted, 3) == count)
        share += discounts.of_count[count] * _add_up(has_count.astype(np.int64), starts)
    share += _add_up(np.where(kept, 0, adjusted), starts)
    whole = _add_up(adjusted, starts)
    share /= whole
    weights = (adjusted - discount) / np.repeat(whole, sizes)
    weighed = make_table(table["words"], gram_tables.WEIGHTS, weights, np.repeat(share, sizes))
    return weighed[kept], make_table(table["words"][starts, :-1], gram_tables.BACKOFFS, share)


def _add_up(values: gram_tables.Int64s, starts: gram_tables.Int64s) -> gram_tables.Int64s:
    """Returns the sum of each run of values; runs begin at `starts`."""
    return np.add.reduceat(values, starts) if len(starts) else values[:0]


def estimate_unigrams(table: Table, tally: Tally, discounts: Discounts) -> Table:
    """Returns all unigrams, with their probabilities (the columns PROBABILITIES).

    Unigrams that are not in the text are added: <S>, whose probability is 1, and <UNK> if the text does not
    have it. V, the number of words that can be predicted, includes </S> and <UNK>.

    Args:
      table: all unigrams of the text, with the columns ADJUSTED_COUNTS.
      tally: the tally of these unigrams.
      discounts: the discounts of unigrams.
    """
    predictable = tally.grams + (UNKNOWN not in table["words"])
    table = _with_unknown(table, 0)
    ones, twos = tally.of_count[:2]
    seen = (0, ones, twos, tally.grams - ones - twos)
    left = sum(map(float.__mul__, discounts.of_count, map(float, seen))) / tally.adjusted
    discount = np.array(discounts.of_count)[np.minimum(table["adjusted"], 3)]
    own = (table["adjusted"] - discount) / tally.adjusted
    return with_start(table["words"], own + left / predictable)


def _with_unknown(table: Table, count: int) -> Table:
    """Returns unigrams, to which <UNK> is added with the given count if it is missing."""
    if UNKNOWN in table["words"]:
        return table
    unknown = np.array([[UNKNOWN]], np.uint32)
    return np.concatenate([table, make_table(unknown, gram_tables.ADJUSTED_COUNTS, count, 0)])


def with_start(words: gram_tables.Words, probabilities: Float64s) -> Table:
    """Returns unigrams with their probabilities (the columns PROBABILITIES), and <S> with the value 1."""
    start = make_table(np.array([[gram_tables.START]], np.uint32), PROBABILITIES, 1.0)
    return np.concatenate([make_table(words, PROBABILITIES, probabilities), start])


def interpolate(weighed: Table, shorter: Table) -> Table:
    """Interpolates the weights of n-grams with the probabilities of their suffixes.

    Returns the n-grams with their probabilities (the columns PROBABILITIES).

    Args:
      weighed: the n-grams with their weights, as returned by `weigh`.
      shorter: all suffixes of the n-grams, which are one word shorter, with their probabilities.

    Raises ValueError if a suffix is missing.
    """
    rows = gram_tables.look_up_suffixes(weighed["words"], shorter["words"])
    probabilities = weighed["weight"] + weighed["share"] * shorter["probability"][rows]
    return make_table(weighed["words"], PROBABILITIES, probabilities)


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
    table = gram_tables.take_rows(table, order)
    counts, kept = table["count"], gram_tables.is_kept(table, most_cut)
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
    table = _with_unknown(table, 1)
    return make_table(table["words"], FREQUENCIES, table["count"] / table["count"].sum())


def use_shorter(words: gram_tables.Words, shorter: Table) -> Table:
    """Returns n-grams with the column USED: the score S of the suffix, as a multiple of 2**-62.

    The suffix is the n-gram without its first word.

    Args:
      words: the n-grams, as ids of words.
      shorter: the suffixes of all n-grams, with their scores (the column FREQUENCIES).

    Raises ValueError if a suffix is missing.
    """
    rows = gram_tables.look_up_suffixes(words, shorter["words"])
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
    return make_table(
        found["words"], gram_tables.WEIGHTS, found["frequency"] / scales["scale"][rows], 0.0
    )


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
    return make_table(words, gram_tables.ENTRIES, probabilities["probability"], factors)


def grams_of(numbers: gram_tables.Numbers, order: int) -> dict[int, gram_tables.Words]:
    """Returns the n-grams that are needed to score some sentences: n → the different n-grams of n words.

    Args:
      numbers: whole sentences as ids of words. The id END, which is that of </s>, ends each sentence.
      order: the highest n.
    """
    windows = gram_tables.windows_of(numbers, order)
    asked = {}
    for n in range(1, order + 1):
        words = windows[:, order - n :]
        if n < order:
            words = np.concatenate([words, windows[:, order - n - 1 : -1]])
        words = words[gram_tables.is_gram(words)]
        rows, starts = group_rows(words)
        asked[n] = gram_tables.take_rows(words, rows[starts])
    return asked


def log_likelihoods(numbers: gram_tables.Numbers, entries: Mapping[int, Table]) -> Float64s:
    """Returns the natural log-likelihood of each word and each end of a sentence.

    Args:
      numbers: whole sentences as ids of words. The id END, which is that of </s>, ends each sentence.
      entries: order → the n-grams of the model with their probabilities and back-off factors (the columns
        ENTRIES). N-grams that `grams_of` does not return for these sentences may be missing.
    """
    order = max(entries)
    windows = gram_tables.windows_of(numbers, order)
    found = np.full(len(windows), -np.inf)
    backoffs = np.zeros(len(windows))
    for n in range(1, order + 1):
        table = entries[n]
        words = windows[:, order - n :]
        in_order = gram_tables.is_gram(words)
        rows = np.where(in_order, look_up(words, table["words"]), -1)
        logs = np.append(np.log(table["probability"]), 0.0)
        found = np.where(rows >= 0, logs[rows], found + np.where(in_order, backoffs, 0.0))
        if n < order:
            contexts = look_up(windows[:, order - n - 1 : -1], table["words"])
            with np.errstate(divide="ignore"):
                backoffs = np.append(np.log(table["backoff"]), 0.0)[contexts]
    return found


END = b"\n\\end\\\n"


def make_head(grams: Mapping[int, int]) -> bytes:
    """Returns the first lines of an ARPA file, which give the number of n-grams of each order.

    Args:
      grams: order → number of n-grams.
    """
    return b"\\data\\\n" + b"".join(
        b"ngram %d=%d\n" % of_order for of_order in sorted(grams.items())
    )


def make_lines(entries: Table, vocabulary: pa.BinaryArray, *, has_backoffs: bool) -> bytes:
    """Returns lines of an ARPA file for n-grams of one order.

    Args:
      entries: a table of n-grams with the columns ENTRIES (probability and back-off factor).
      vocabulary: the words of the model, in the order of their ids.
      has_backoffs: True to write the back-off factors. False for the highest order, which has none.
    """
    if not len(entries):
        return b""
    names = pa.concat_arrays([pa.array(gram_tables.SIGNS, pa.binary()), vocabulary])  # by id
    words = [names.take(pa.array(column)) for column in entries["words"].T]
    blanks = (b" ",) * (len(words) - 1)
    columns = [_write_logs(np.minimum(entries["probability"], 1)), b"\t"]
    columns += [part for pair in zip(words, (*blanks, b""), strict=True) for part in pair]
    if has_backoffs:
        columns += [b"\t", _write_logs(entries["backoff"])]
    lines = pc.binary_join_element_wise(*columns, b"\n", b"")
    _, offsets, data = lines.buffers()
    bounds = np.frombuffer(offsets, np.int32)
    return bytes(data.slice(bounds[0], bounds[len(lines)] - bounds[0]).to_pybytes())


def _write_logs(values: Float64s) -> pa.BinaryArray:
    with np.errstate(divide="ignore"):  # a discount of 0 makes a back-off factor of 0
        logs = np.log10(values).astype(np.float32) + np.float32(0)  # no -0
    return pa.array(logs).cast(pa.string()).cast(pa.binary())
