"""Measures how the vocabulary grows as books are added one by one.

The rank of a book is its position (0, 1, 2, …) in the order of adding. A word enters the vocabulary with the
book in which its total count reaches the minimum. Words are distributed to buckets, so that all counts of a
word are in one bucket (see vocabularies/word_counts.py). Each bucket is processed alone, and gives the number
of its words that enter with each book. These numbers are then added up over all buckets.
"""

from collections.abc import Iterable

import numpy
import pyarrow as pa

from corpusmill.transforms.duplicates.components import Pairs
from corpusmill.transforms.models.word_counts import SCHEMA

RANKED = SCHEMA.append(pa.field("rank", pa.int64(), nullable=False))
"""Schema of counts of words in several books: a row for each word of each book."""


def rank_counts(counts: pa.RecordBatch, rank: int) -> pa.RecordBatch:
    """Adds a column with the rank of the book to a book's word counts."""
    ranks = pa.array(numpy.full(counts.num_rows, rank, numpy.int64))
    return pa.record_batch([*counts.columns, ranks], schema=RANKED)


def count_entries(batches: Iterable[pa.RecordBatch], min_count: int) -> Pairs:
    """Counts the words that enter the vocabulary with each book.

    Returns rows (rank of the book, number of words), ascending.

    Args:
      batches: one or more results of `rank_counts`, in any order. If a word is in a batch, its counts in all
        books must be in the batches.
      min_count: a word enters the vocabulary when its count in all books added so far reaches this number.
    """
    rows = pa.concat_batches(batches)
    words = rows["word"].dictionary_encode().indices.to_numpy()
    counts, ranks = rows["count"].to_numpy(), rows["rank"].to_numpy()
    in_order = numpy.lexsort((ranks, words))
    words, counts, ranks = words[in_order], counts[in_order], ranks[in_order]
    total = numpy.cumsum(counts)
    starts = numpy.flatnonzero(numpy.diff(words, prepend=-1))  # first row of each word
    lengths = numpy.diff(starts, append=len(words))
    before_word = numpy.repeat((total - counts)[starts], lengths)
    with_rank = total - before_word
    enters = (with_rank >= min_count) & (with_rank - counts < min_count)
    return numpy.column_stack(numpy.unique(ranks[enters], return_counts=True))
