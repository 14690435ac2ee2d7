"""Tables of n-grams on their way to buckets: pieces wait in files."""

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
Pieces = tuple[int, tuple[str, bytes]]  # (bucket, (kind, rows put away))


class Dealer:
    """Deals tables out to buckets.

    Args:
      folder: where pieces wait.
      buckets: see `bucket_rows`.
    """

    def __init__(self, folder: str, buckets: int):
        self.scratch = Scratch(folder)
        self.buckets = buckets

    def deal(self, table: Table, words: Words) -> Iterator[tuple[int, bytes]]:
        """(bucket, rows put away), by words of each row."""
        for bucket, part in cut_table(table, bucket_rows(words, self.buckets), self.buckets):
            yield bucket, self.put(part)

    def put(self, table: Table) -> bytes:
        """Puts a table away, for `join_pieces`."""
        return self.scratch.put(pack_table(table))


def join_pieces(pieces: Iterable[bytes], order: int, values: Values) -> Table:
    """The rows of tables that were put away."""
    tables = [unpack_table(fetch(piece), order, values) for piece in pieces]
    return np.concatenate(tables) if tables else np.empty(0, dtype_of(order, values))
