"""Measures the growth of the vocabulary as book after book is added to it, in parts that can be added up.

The books have ranks, 0, 1, 2, …: the order in which they are added. A word is in the vocabulary from that
book on with which it has been counted often enough. All that is known of a word is in one bucket (see
text/word_counts.py), so each bucket gives exactly how many of its words come in with each rank.
"""

from collections.abc import Iterable

import numpy
import pyarrow as pa

from transforms.text.duplicates.components import Pairs
from transforms.text.vocabularies.word_counts import SCHEMA

RANKED = SCHEMA.append(pa.field("rank", pa.int64(), nullable=False))
"""Of the words of several books: record batches, each word once for each book that has it."""


def rank_counts(counts: pa.RecordBatch, rank: int) -> pa.RecordBatch:
    """The words of the book with that rank."""
    ranks = pa.array(numpy.full(counts.num_rows, rank, numpy.int64))
    return pa.record_batch([*counts.columns, ranks], schema=RANKED)


def count_entries(batches: Iterable[pa.RecordBatch], min_count: int) -> Pairs:
    """Rows (rank, words that come into the vocabulary with it), ascending, of words in no other batch.

    Args:
      batches: one at least; in any order.
      min_count: how often a word must be counted, in all books up to its rank together.
    """
    rows = pa.concat_batches(batches)
    words = rows["word"].dictionary_encode().indices.to_numpy()
    counts, ranks = rows["count"].to_numpy(), rows["rank"].to_numpy()
    in_order = numpy.lexsort((ranks, words))
    words, counts, ranks = words[in_order], counts[in_order], ranks[in_order]
    total = numpy.cumsum(counts)
    starts = numpy.flatnonzero(numpy.diff(words, prepend=-1))  # where the rows of each word begin
    lengths = numpy.diff(starts, append=len(words))
    before_word = numpy.repeat((total - counts)[starts], lengths)
    with_rank = total - before_word
    enters = (with_rank >= min_count) & (with_rank - counts < min_count)
    return numpy.column_stack(numpy.unique(ranks[enters], return_counts=True))
