"""Counts n-grams of all orders, starting from the counts of the longest.

If n is the highest order, each sentence is preceded by n - 1 <S>, so that each word is the last word of one
n-gram of the highest order. All shorter n-grams are suffixes of these. An n-gram that begins with two <S> is
not counted for its order: it represents the shorter n-gram that begins with one <S>.

The adjusted count of an n-gram, which Kneser-Ney smoothing uses, is the number of different words before it.
At the highest order, and for n-grams that begin with <S>, it is the count itself (Chen and Goodman 1998;
Heafield et al. 2013, section 3.2).

Converts blocks of lines to ids of words, with a special id for the end of each line.

Words are separated by spaces (U+0020) and line ends, as in word_vocabulary.py. The ids 0 to 2 are those of
the special tokens <UNK>, <S> and </S>. The ids of the words of the vocabulary follow, in the order of the
words' bytes. Some words are never in the vocabulary, because ARPA files cannot represent them: those that are
spelled like a special token, and those with a control character.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..files.line_blocks import cut_block
from .gram_tables import (
    ADJUSTED_COUNTS,
    COUNTS,
    END,
    START,
    UNKNOWN,
    Bools,
    Int64s,
    Table,
    Words,
    group_rows,
    make_table,
    take_rows,
)
from .word_vocabulary import CHUNK_BYTES, spread_words
from .word_vocabulary import SIGNS as PAPER_SIGNS

Numbers = npt.NDArray[np.uint32]

SIGNS = (b"<unk>", b"<s>", b"</s>")
"""The special tokens as ARPA files spell them, indexed by id. Chelba et al. write <UNK>, <S>, </S>."""

_LINE_FEED = ord("\n")
_EMPTY = np.uint32(2**32 - 1)
_NEVER = pa.array([*SIGNS, *PAPER_SIGNS], pa.binary())
_CONTROL = r"[\x00-\x1f\x7f]"


def select_words(counts: pa.RecordBatch, min_count: int) -> pa.BinaryArray:
    """Returns the words of the vocabulary, in no particular order.

    Args:
      counts: counts of the words of the whole text (see word_vocabulary.py).
      min_count: lowest count of a word in the vocabulary.
    """
    words = counts.filter(pc.greater_equal(counts["count"], min_count))["word"]
    is_never = pc.or_(pc.is_in(words, _NEVER), pc.match_substring_regex(words, _CONTROL))
    return words.filter(pc.invert(is_never))


def number_words(block: bytes, words: pa.BinaryArray) -> Numbers:
    """Returns the ids of the words in a block of lines. Each line end becomes END, the id of </S>.

    Args:
      block: a block of lines.
      words: the vocabulary, sorted by bytes.
    """
    parts = [_number_chunk(chunk, words) for chunk in cut_block(block, CHUNK_BYTES)]
    return np.concatenate(parts) if parts else np.empty(0, np.uint32)


def _number_chunk(block: bytes, words: pa.BinaryArray) -> Numbers:
    encoded = spread_words(block).dictionary_encode()
    distinct = pc.binary_slice(encoded.dictionary, 0, -1)
    found = pc.index_in(distinct, words).fill_null(-len(SIGNS) + UNKNOWN)
    number_of = found.to_numpy().astype(np.int64) + len(SIGNS)
    number_of[pc.equal(pc.binary_length(distinct), 0).to_numpy(False)] = _EMPTY
    numbers = number_of.astype(np.uint32)[encoded.indices.to_numpy()]
    characters = np.frombuffer(block, np.uint8)
    is_end = characters[(characters == _LINE_FEED) | (characters == ord(" "))] == _LINE_FEED
    pairs = np.stack([numbers, np.full(len(numbers), END, np.uint32)], axis=1)
    found_numbers: Numbers = pairs[np.stack([numbers != _EMPTY, is_end], axis=1)]
    return found_numbers


MOST_TALLIED = 4  # the discounts depend on counts from 1 to 4


class Tally(NamedTuple):
    """Numbers of n-grams of one order: in total, those that are not pruned, and by adjusted count."""

    grams: int = 0  # number of different n-grams
    kept: int = 0  # number of different n-grams with a count above the cut-off
    adjusted: int = 0  # sum of the adjusted counts
    of_count: tuple[int, ...] = (
        0,
    ) * MOST_TALLIED  # number of n-grams with the adjusted count 1, 2, 3, 4


def cut_offs(prune: Sequence[int], order: int) -> dict[int, int]:
    """Returns the largest count that is pruned at each order: order → count.

    Args:
      prune: the largest pruned counts for orders 1, 2, …. The last one is also used for all higher orders. ()
        prunes nothing.
      order: the highest order.
    """
    last = prune[-1] if prune else 0
    return {n: prune[n - 1] if n <= len(prune) else last for n in range(1, order + 1)}


def add_tallies(tallies: Iterable[Tally]) -> Tally:
    """Adds up, field by field, the tallies of several parts of the n-grams of one order."""
    grams, kept, adjusted, of_count = zip(Tally(), *tallies, strict=True)
    columns = zip(*of_count, strict=True)
    return Tally(sum(grams), sum(kept), sum(adjusted), tuple(map(sum, columns)))


def windows_of(numbers: Numbers, order: int) -> Words:
    """Returns the n-gram that ends at each word and each end of a sentence, padded with <S>.

    Args:
      numbers: whole sentences as ids of words. The id END, which is that of </S>, ends each sentence.
      order: number of words of an n-gram.
    """
    before = order - 1
    is_first = np.ones(len(numbers), np.int64)
    is_first[1:] = numbers[:-1] == END
    places = np.arange(len(numbers)) + before * np.cumsum(is_first)
    padded = np.full(len(numbers) + before * int(is_first.sum()), START, np.uint32)
    padded[places] = numbers
    windows: Words = np.lib.stride_tricks.sliding_window_view(padded, order)[places - before]
    return windows


def count_grams(numbers: Numbers, order: int) -> Table:
    """Returns the n-grams of the highest order in some sentences, with their counts (the columns COUNTS).

    Args:
      numbers: whole sentences as ids of words. The id END, which is that of </S>, ends each sentence.
      order: the highest order.
    """
    words = windows_of(numbers, order)
    return _count(words, np.ones(len(words), np.int64))


def add_counts(tables: Sequence[Table]) -> Table:
    """Adds up the counts in several tables. Returns one table with each n-gram once, and its total count.

    Args:
      tables: tables of n-grams with their counts (the columns COUNTS). The result has the same columns.
    """
    return _count(
        np.concatenate([table["words"] for table in tables]),
        np.concatenate([table["count"] for table in tables]),
    )


def _count(words: Words, counts: Int64s) -> Table:
    order, starts = group_rows(words)
    sums = np.add.reduceat(counts[order], starts) if len(starts) else counts
    return make_table(take_rows(words, order[starts]), COUNTS, sums)


def adjust_highest(table: Table) -> Table:
    """Returns the n-grams of the highest order with the columns ADJUSTED_COUNTS: count and adjusted count.

    At this order, the adjusted count of an n-gram is equal to its count.

    Args:
      table: the same n-grams with the columns COUNTS.
    """
    return make_table(table["words"], ADJUSTED_COUNTS, table["count"], table["count"])


def count_suffixes(table: Table) -> Table:
    """Counts the n-grams that are one word shorter than those in `table`.

    Returns the shorter n-grams with the columns ADJUSTED_COUNTS: their counts, and their adjusted counts.

    Args:
      table: a table with the columns COUNTS or ADJUSTED_COUNTS. For each shorter n-gram, it must have all
        n-grams that end with it.
    """
    suffixes = table["words"][:, 1:]
    order, starts = group_rows(suffixes)
    words = take_rows(suffixes, order[starts])
    if not len(starts):
        return make_table(words, ADJUSTED_COUNTS, [], [])
    counts = np.add.reduceat(table["count"][order], starts)
    before = np.diff(starts, append=len(order))
    return make_table(
        words, ADJUSTED_COUNTS, counts, np.where(words[:, 0] == START, counts, before)
    )


def is_gram(words: Words) -> Bools:
    """Returns a mask of the n-grams that do not begin with two <S>."""
    if words.shape[1] == 1:
        return np.ones(len(words), np.bool_)
    found: Bools = words[:, 1] != START
    return found


def only_grams(table: Table) -> Table:
    """Returns the table without n-grams that begin with two <S>."""
    return table[is_gram(table["words"])]


def is_kept(table: Table, most_cut: int) -> Bools:
    """Returns a mask of the n-grams that are kept in the model: those with a count above `most_cut`."""
    kept: Bools = table["count"] > most_cut
    return kept


def tally_of(table: Table, most_cut: int) -> Tally:
    """Returns the numbers of n-grams of one order: in total, not pruned, and by adjusted count.

    Only the number of n-grams that are not pruned depends on `most_cut`. Other numbers include all n-grams.

    Args:
      table: the n-grams with the columns ADJUSTED_COUNTS (count and adjusted count), without those that
        `only_grams` removes.
      most_cut: largest count of the n-grams that are pruned.
    """
    adjusted = table["adjusted"]
    few = np.bincount(adjusted[adjusted <= MOST_TALLIED], minlength=MOST_TALLIED + 1)
    kept = int(np.count_nonzero(is_kept(table, most_cut)))
    return Tally(len(table), kept, int(adjusted.sum()), tuple(few[1:].tolist()))
