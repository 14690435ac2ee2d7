"""Stores n-grams in tables, which are NumPy arrays of records.

A row has the ids of the n-gram's words, and numbers such as its count. All n-grams of a table have the same
order. Rows are found and grouped by a 64-bit hash. If two n-grams have the same hash, their words are
compared, so that results are exact.

Counts n-grams of all orders, starting from the counts of the longest.

If n is the highest order, each sentence is preceded by n - 1 <S>, so that each word is the last word of one
n-gram of the highest order. All shorter n-grams are suffixes of these. An n-gram that begins with two <S> is
not counted for its order: it represents the shorter n-gram that begins with one <S>.

The adjusted count of an n-gram, which Kneser-Ney smoothing uses, is the number of different words before it.
At the highest order, and for n-grams that begin with <S>, it is the count itself (Chen and Goodman 1998;
Heafield et al. 2013, section 3.2).

Converts blocks of lines to ids of words, with a special id for the end of each line.

Words are separated by spaces (U+0020) and line ends, as in word_vocabulary.py. The ids 0 to 2 are those of
the special tokens <UNK>, <S> and </S>. The ids of the words of the vocabulary follow, in the order in which
the words first occur, as in lmplz. Words that are spelled like a special token are never in the vocabulary,
because ARPA files cannot represent them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..duplicates.minhash import MULTIPLIER, Uint64s, finalize
from ..files.line_blocks import cut_block, pack_block, unpack_block
from .word_vocabulary import CHUNK_BYTES, spread_words
from .word_vocabulary import UNKNOWN as PAPER_UNKNOWN

Words = npt.NDArray[np.uint32]
"""N-grams as ids of words, shape (n-grams, order)."""

Table = npt.NDArray[Any]
"""Records with `words` and values, such as COUNTS. Each n-gram occurs once unless documented otherwise."""

Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

UNKNOWN, START, END = range(3)
"""Ids of <UNK>, <S> and </S>; the ids of other words follow."""

COUNTED = ("count", "<i8")  # number of occurrences in the text
# number of different words before the n-gram, or its count
ADJUSTED = ("adjusted", "<i8")
# the part of the probability that comes from the n-gram's own discounted count
WEIGHT = ("weight", "<f8")
SHARE = ("share", "<f8")  # factor of the shorter n-gram's probability, from its context
PROBABILITY = ("probability", "<f8")
BACKOFF = ("backoff", "<f8")  # factor for words that the model does not have after it

COUNTS = (COUNTED,)
ADJUSTED_COUNTS = (COUNTED, ADJUSTED)
WEIGHTS = (WEIGHT, SHARE)
BACKOFFS = (BACKOFF,)
PROBABILITIES = (PROBABILITY,)
ENTRIES = (PROBABILITY, BACKOFF)
MOST_BUCKET_BITS = 16
_BUCKET_BITS = np.uint64(2**64 - 2 ** (64 - MOST_BUCKET_BITS))


def dtype_of(order: int, values: tuple[tuple[str, str], ...]) -> np.dtype[Any]:
    """Returns the NumPy type of the records of a table.

    Args:
      order: the number of words of each n-gram.
      values: (name, NumPy type) of each column besides the words.
    """
    return np.dtype([("words", "<u4", (order,)), *values])


def make_table(words: Words, values: tuple[tuple[str, str], ...], *columns: Any) -> Table:
    """Makes a table of n-grams.

    Args:
      words: the n-grams, as ids of words.
      values: (name, NumPy type) of each column besides the words.
      columns: the contents of these columns.
    """
    table = np.empty(len(words), dtype_of(words.shape[1], values))
    table["words"] = words
    for (name, _), column in zip(values, columns, strict=True):
        table[name] = column
    return table


def pack_table(table: Table) -> bytes:
    """Compresses a table by byte columns: the first bytes of all rows, then the second bytes, and so on.

    Compared with compression by rows, this takes a third of the space, and less time.
    """
    rows = np.frombuffer(table.tobytes(), np.uint8).reshape(len(table), table.itemsize)
    return pack_block(rows.T.tobytes())


def unpack_table(packed: bytes, order: int, values: tuple[tuple[str, str], ...]) -> Table:
    """Decompresses a table that `pack_table` has compressed. The result is read-only.

    Args:
      packed: the result of `pack_table`.
      order: the number of words of each n-gram.
      values: (name, NumPy type) of each column besides the words.
    """
    dtype = dtype_of(order, values)
    rows = np.frombuffer(unpack_block(packed), np.uint8).reshape(dtype.itemsize, -1)
    return np.frombuffer(rows.T.tobytes(), dtype)


def take_rows(rows: Any, places: Int64s) -> Any:
    """Returns `rows[places]`. This function is eight times as fast as indexing."""
    return np.take(rows, places, axis=0)


def hash_rows(words: Words) -> Uint64s:
    """Returns a hash of each n-gram."""
    hashes = np.zeros(len(words), np.uint64)
    for column in words.T:
        hashes *= MULTIPLIER
        hashes += column
    return finalize(hashes)


def group_rows(words: Words) -> tuple[Int64s, Int64s]:
    """Groups equal n-grams.

    Returns indexes that sort equal n-grams together, and the position in these indexes at which each group
    starts.
    """
    hashes = hash_rows(words)
    order = np.argsort(hashes)
    is_new = _is_new(take_rows(words, order))
    hashes = hashes[order]
    if np.any(is_new[1:] & (hashes[1:] == hashes[:-1])):  # two n-grams have the same hash
        order = sort_rows(words)
        is_new = _is_new(take_rows(words, order))
    return order, np.flatnonzero(is_new)


def sort_rows(words: Words) -> Int64s:
    """Returns the indexes that sort rows by the ids of their words.

    Rows are sorted by the first word, then by the second, and so on.
    """
    columns = [column.astype(np.uint64) for column in words.T]
    if len(columns) % 2:
        columns.append(np.zeros(len(words), np.uint64))
    # two columns become one key, so there are half as many keys
    pairs = zip(columns[::2], columns[1::2], strict=True)
    return np.lexsort([(first << np.uint64(32)) | second for first, second in pairs][::-1])


def sort_table(table: Table, bucketed: Words) -> Table:
    """Returns the n-grams of a table sorted by bucket, and within a bucket by the hash of the n-gram.

    Buckets are ranges of the hash of the words in `bucketed`. Rows are first sorted by the leading bits of
    this hash, so they are in the order of the buckets for any number of buckets.

    Args:
      table: the table to sort.
      bucketed: for each row, the words that determine its bucket (see `bucket_rows`).
    """
    words = table["words"]
    hashes = hash_rows(bucketed) & _BUCKET_BITS | hash_rows(words) >> np.uint64(MOST_BUCKET_BITS)
    order = np.argsort(hashes)
    sorted_hashes = hashes[order]
    if np.any(sorted_hashes[1:] == sorted_hashes[:-1]):
        order = sort_rows(words)
        order = order[np.argsort(hashes[order], kind="stable")]
    in_order: Table = take_rows(table, order)
    return in_order


def _is_new(words: Words) -> Bools:
    """Returns a mask of the rows that differ from the previous row."""
    is_new = np.zeros(len(words), np.bool_)
    is_new[:1] = True
    for column in words.T:
        is_new[1:] |= column[1:] != column[:-1]
    return is_new


def look_up(wanted: Words, words: Words) -> Int64s:
    """Returns for each wanted n-gram the index of its row in `words`, or -1 if it is missing.

    `words` must not contain an n-gram twice.
    """
    order, starts = group_rows(np.concatenate([words, wanted]))
    group = np.empty(len(order), np.int64)
    group[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
    row_of_group = np.full(len(starts), -1, np.int64)
    row_of_group[group[: len(words)]] = np.arange(len(words))
    found: Int64s = row_of_group[group[len(words) :]]
    return found


def look_up_suffixes(words: Words, shorter: Words) -> Int64s:
    """Returns for each n-gram the index in `shorter` of its suffix: the n-gram without its first word.

    Raises ValueError if a suffix is missing.
    """
    rows = look_up(words[:, 1:], shorter)
    if len(missing := words[rows < 0]):
        raise ValueError(
            f"the suffix of the n-gram with the word ids {missing[0].tolist()} (the n-gram without its first"
            " word) is not in the table of shorter n-grams"
        )
    return rows


def bucket_rows(words: Words, buckets: int) -> npt.NDArray[np.uint16]:
    """Returns the bucket of each n-gram. Buckets are equal ranges of the hash, in ascending order.

    Args:
      words: the n-grams, as ids of words.
      buckets: the number of buckets: a power of 2, at most 2**MOST_BUCKET_BITS.
    """
    bits = buckets.bit_length() - 1
    return (hash_rows(words) >> np.uint64(64 - bits) if bits else np.zeros(len(words))).astype(
        np.uint16
    )


def cut_table(
    table: Table, bucket: npt.NDArray[np.uint16], buckets: int
) -> Iterator[tuple[int, Table]]:
    """Divides a table into buckets. Yields (number of a bucket, its rows) for each bucket that has rows.

    Args:
      table: the table to divide. The yielded tables are slices of one sorted copy.
      bucket: the number of the bucket of each row.
      buckets: the number of buckets.
    """
    in_order = take_rows(table, np.argsort(bucket, kind="stable"))
    ends = np.cumsum(np.bincount(bucket, minlength=buckets)).tolist()
    for number, (start, end) in enumerate(pairwise([0, *ends])):
        if start < end:
            yield number, in_order[start:end]


Numbers = npt.NDArray[np.uint32]
SIGNS = (b"<unk>", b"<s>", b"</s>")
"""The special tokens as ARPA files spell them, indexed by id. Chelba et al. write <UNK>, <S>, </S>."""

SEPARATORS = bytes.maketrans(b"\0\t\r", b"   ")
"""Replaces the characters that separate words in lmplz, besides spaces and line feeds, by spaces."""

_LINE_FEED = ord("\n")
_EMPTY = np.uint32(2**32 - 1)
_NEVER = pa.array([*SIGNS, PAPER_UNKNOWN], pa.binary())  # KenLM reads <UNK> like <unk>
_SIGN = re.compile(rb"<(?:/?s|unk)>(?![^ \n])(?<![^ \n]<s>)(?<![^ \n]</s>)(?<![^ \n]<unk>)")


def count_signs(block: bytes) -> int:
    """Counts the words in a block of lines that are spelled like a special token in ARPA files."""
    return sum(1 for _ in _SIGN.finditer(block))


def select_words(counts: pa.RecordBatch, min_count: int) -> pa.RecordBatch:
    """Returns the counts of the words of the vocabulary.

    Args:
      counts: counts of the words of the whole text (see word_vocabulary.py).
      min_count: lowest count of a word in the vocabulary.
    """
    counts = counts.filter(pc.greater_equal(counts["count"], min_count))
    return counts.filter(pc.invert(pc.is_in(counts["word"], _NEVER)))


def number_words(block: bytes, words: pa.BinaryArray) -> Numbers:
    """Returns the ids of the words in a block of lines. Each line end becomes END, the id of </S>.

    Args:
      block: a block of lines.
      words: the vocabulary, in the order of the ids.
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
    # number of n-grams with the adjusted count 1, 2, 3, 4
    of_count: tuple[int, ...] = (0,) * MOST_TALLIED
    # ids of the words of the last n-gram, from last to first, its adjusted count and its count (see last_of)
    last: tuple[int, ...] = ()


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
    grams, kept, adjusted, of_count, last = zip(Tally(), *tallies, strict=True)
    sums = tuple(map(sum, zip(*of_count, strict=True)))
    return Tally(sum(grams), sum(kept), sum(adjusted), sums, max(last))


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


def is_kept(table: Table, most_cut: int) -> Bools:
    """Returns a mask of the n-grams that are kept in the model: those with a count above `most_cut`."""
    kept: Bools = table["count"] > most_cut
    return kept


def last_of(table: Table) -> tuple[int, ...]:
    """Returns the last n-gram of a table in the order of lmplz: by the last word, then by the word before it.

    Returns the ids of its words, from last to first, its adjusted count and its count; () for an empty table.
    """
    for column in range(table["words"].shape[1] - 1, -1, -1):
        words = table["words"][:, column]
        table = table[words == words.max(initial=0)]
    return tuple(
        np.stack([*table["words"].T[::-1], table["adjusted"], table["count"]]).ravel().tolist()
    )


def tally_of(table: Table, most_cut: int) -> Tally:
    """Returns the numbers of n-grams of one order: in total, not pruned, and by adjusted count.

    Only the number of n-grams that are not pruned depends on `most_cut`. Other numbers include all n-grams,
    but for those that begin with two <S>.

    Args:
      table: the n-grams with the columns ADJUSTED_COUNTS (count and adjusted count).
      most_cut: largest count of the n-grams that are pruned.
    """
    last, table = last_of(table), table[is_gram(table["words"])]
    adjusted = table["adjusted"]
    few = np.bincount(adjusted[adjusted <= MOST_TALLIED], minlength=MOST_TALLIED + 1)
    kept = int(np.count_nonzero(is_kept(table, most_cut)))
    return Tally(len(table), kept, int(adjusted.sum()), tuple(few[1:].tolist()), last)
