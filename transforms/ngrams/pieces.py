"""Partitions tables of n-grams into buckets, and stores the pieces in scratch."""

from collections.abc import Iterable, Iterator

import numpy as np

from transforms.files.scratch import Scratch, fetch
from transforms.text.ngrams.gram_tables import (
    Table,
    Words,
    bucket_rows,
    cut_table,
    dtype_of,
    pack_table,
    unpack_table,
)

Values = tuple[tuple[str, str], ...]
Pieces = tuple[int, tuple[str, bytes]]  # (bucket, (kind, rows in scratch))


class Dealer:
    """Partitions tables of n-grams into buckets.

    Args:
      folder: folder for temporary pieces.
      buckets: number of buckets, see `bucket_rows`.
    """

    def __init__(self, folder: str, buckets: int):
        self.scratch = Scratch(folder)
        self.buckets = buckets

    def deal(self, table: Table, words: Words) -> Iterator[tuple[int, bytes]]:
        """Partitions a table. Yields (bucket, reference to its rows in scratch).

        `words` has, for each row, the words that determine its bucket.
        """
        for bucket, part in cut_table(table, bucket_rows(words, self.buckets), self.buckets):
            yield bucket, self.put(part)

    def put(self, table: Table) -> bytes:
        """Stores a table in scratch. Returns a reference for `join_pieces`."""
        return self.scratch.put(pack_table(table))


def join_pieces(pieces: Iterable[bytes], order: int, values: Values) -> Table:
    """Joins tables in scratch to one table, given the references to them."""
    tables = [unpack_table(fetch(piece), order, values) for piece in pieces]
    return np.concatenate(tables) if tables else np.empty(0, dtype_of(order, values))
