"""Books as WriteRows writes them."""

from collections.abc import Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa

from transforms.files.scratch import fetch_text
from transforms.files.write_rows import RowKind
from transforms.records import BookRow
from transforms.text.books.book_stats import BookStats, add_book_stats, identity_of, measure_book
from transforms.text.fingerprint import fingerprint

BATCH_CHARACTERS = 1 << 24  # of texts in a row group, and in memory at once; or one longer book


class MeasureRows(beam.PTransform):
    """PCollection[BookRow] → PCollection[(split, BookStats)].

    Args:
      text: place in the values of the text that is counted.
    """

    def __init__(self, text: int):
        super().__init__()
        self.text = text

    def expand(self, rows: beam.PCollection) -> beam.PCollection:
        return (
            rows
            | "MeasureRow"
            >> beam.Map(measure_row, self.text).with_output_types(tuple[str, BookStats])
            | "AddUp" >> beam.CombinePerKey(add_book_stats)
        )


def measure_row(row: BookRow, text: int) -> tuple[str, BookStats]:
    """(split, counts of the book)."""
    packed = row.values[text]
    assert isinstance(packed, bytes)
    return row.split, measure_book(fetch_text(packed))


def text_bytes(split: str, stats: BookStats) -> tuple[str, int]:
    """(split, UTF-8 bytes of its texts): for PlanShards."""
    return split, stats.text_bytes


def book_rows(schema: pa.Schema) -> RowKind:
    """Rows whose values are strings and 32-bit integers."""
    return RowKind(
        schema,
        identity,
        order,
        values=values,
        weigh=weigh,
        batch=BATCH_CHARACTERS,
        unpack=BookRow._make,
        counter=("write-books", "books"),
    )


def identity(row: BookRow) -> str:
    """The text that decides about the shard."""
    return identity_of(row.book_id)


def order(row: BookRow) -> tuple[int, int]:
    """Books are in the order of their fingerprints, which is as good as a shuffle."""
    return fingerprint(identity_of(row.book_id)), row.book_id


def values(row: BookRow) -> list[int | str]:
    """The features, with the texts."""
    return [fetch_text(one) if isinstance(one, bytes) else one for one in row.values]


def weigh(features: Sequence[Any]) -> int:
    """Characters."""
    return sum(len(one) for one in features if isinstance(one, str))
