"""Partitions tables of n-grams into buckets, and stores the pieces in scratch."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import apache_beam as beam
import numpy as np

from corpusmill.transforms.files.scratch import Scratch, fetch
from corpusmill.transforms.models.gram_tables import (
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

MOST_KEYS = 64  # enough for all workers; each key needs a reference to each table


class Dealer:
    """Partitions tables of n-grams into buckets.

    The rows of a table for one bucket are a piece. All references to pieces pass through the process that
    started the pipeline, so there must not be too many of them. Therefore, on a local disk, the pieces of a
    table for several consecutive buckets are stored together: these buckets share a key, and need only one
    reference.

    Args:
      folder: folder for temporary pieces.
      buckets: number of buckets, see `bucket_rows`.
      most_keys: approximate maximum number of keys, if the folder is on a local disk.
    """

    def __init__(self, folder: str, buckets: int, most_keys: int = MOST_KEYS):
        self.scratch = Scratch(folder)
        self.buckets = buckets
        self.buckets_per_key = max(buckets // most_keys, 1) if self.scratch.is_local else 1

    def deal(self, table: Table, words: Words) -> Iterator[tuple[int, bytes]]:
        """Partitions a table. Yields (key, reference to rows in scratch), the input of GroupBuckets.

        `words` has, for each row, the words that determine its bucket.
        """
        parts = cut_table(table, bucket_rows(words, self.buckets), self.buckets)
        if self.buckets_per_key == 1:
            yield from ((bucket, self.put(part)) for bucket, part in parts)
            return
        for key, of_key in groupby(parts, lambda part: part[0] // self.buckets_per_key):
            packed = {bucket % self.buckets_per_key: pack_table(part) for bucket, part in of_key}
            sizes = [len(packed.get(at, b"")) for at in range(self.buckets_per_key)]
            head = np.array(sizes, np.uint32).tobytes()
            yield key, self.scratch.put(b"".join([head, *packed.values()]))

    def buckets_of(
        self, key: int, pieces: Sequence[bytes]
    ) -> Iterator[tuple[int, dict[int, bytes]]]:
        """Yields each bucket of a key with its pieces: (bucket, {index in `pieces`: reference to rows}).

        `pieces` are references from `deal`.
        """
        if self.buckets_per_key == 1:
            yield key, dict(enumerate(pieces))
            return
        part, head_bytes = self.scratch.part, 4 * self.buckets_per_key
        heads = b"".join(fetch(part(piece, b"", 0, head_bytes)) for piece in pieces)
        sizes = np.frombuffer(heads, np.uint32).reshape(len(pieces), -1)
        ends = head_bytes + np.cumsum(sizes, axis=1)
        for at, (of_bucket, end) in enumerate(zip(sizes.T, ends.T, strict=True)):
            found = np.flatnonzero(of_bucket).tolist()
            rows = {
                one: part(pieces[one], b"", int(end[one] - of_bucket[one]), int(end[one]))
                for one in found
            }
            if rows:
                yield key * self.buckets_per_key + at, rows

    def put(self, table: Table) -> bytes:
        """Stores a table in scratch. Returns a reference for `join_pieces`."""
        return self.scratch.put(pack_table(table))


def join_pieces(pieces: Iterable[bytes], order: int, values: Values) -> Table:
    """Joins tables of n-grams in scratch into one table.

    Args:
      pieces: references to the tables.
      order: number of words of the n-grams.
      values: the columns besides the words.
    """
    tables = [unpack_table(fetch(piece), order, values) for piece in pieces]
    return np.concatenate(tables) if tables else np.empty(0, dtype_of(order, values))


class GroupBuckets(beam.PTransform):
    """Groups pieces of tables by bucket.

    PCollection[(key, piece)] → PCollection[(bucket, pieces)]. The keys and pieces are those that
    `Dealer.deal` yields. If a key is (order, key), the result has (order, bucket) instead of the bucket. A
    piece may also be (kind, piece).
    """

    def __init__(self, dealer: Dealer):
        super().__init__()
        self.dealer = dealer

    def expand(self, keyed: beam.PCollection) -> beam.PCollection:
        return (
            keyed
            | "GroupKeys" >> beam.GroupByKey()
            | "DivideKeys" >> beam.FlatMap(divide_key, self.dealer)
        )


def divide_key(
    grouped: tuple[Any, Iterable[Any]], dealer: Dealer
) -> Iterator[tuple[Any, list[Any]]]:
    """Divides the pieces of a key among the buckets that share the key. Yields (bucket, its pieces).

    `grouped` is (key, its pieces). See GroupBuckets for the other forms of keys and pieces.
    """
    key, pieces = grouped[0], list(grouped[1])
    order, number = key if isinstance(key, tuple) else (None, key)
    kinds, references = zip(*map(_kind_and_reference, pieces), strict=True)
    for bucket, rows in dealer.buckets_of(number, references):
        found = [(kinds[at], row) if kinds[at] else row for at, row in rows.items()]
        yield bucket if order is None else (order, bucket), found


def _kind_and_reference(piece: Any) -> tuple[str, bytes]:
    return piece if isinstance(piece, tuple) else ("", piece)
