"""Converts books to rows, and describes these rows for the transform WriteRows."""

import functools
import operator
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa

from corpusmill.transforms.books.book_stats import (
    BookStats,
    add_book_stats,
    identity_of,
    measure_book,
    place_of,
)
from corpusmill.transforms.duplicates.write_signatures import NamedText, WriteSignatures
from corpusmill.transforms.files.builds.lengths import length_class
from corpusmill.transforms.files.fingerprint import SPLITS
from corpusmill.transforms.files.records import BookRow
from corpusmill.transforms.files.scratch import fetch_text
from corpusmill.transforms.files.write_rows import RowKind, WriteRecords

# maximum characters in a row group; a longer book has a row group of its own
BATCH_CHARACTERS = 1 << 24
BOOKS_PER_FILE = 1 << 18  # more than Project Gutenberg has, so the table of books is one file


class MeasuredRows(NamedTuple):
    """The outputs of MeasureRows: counts for each split, and a histogram of the lengths of books."""

    stats: beam.PCollection  # of (split, BookStats)
    lengths: beam.PCollection  # of ((split, length class), number of books)


class MeasureRows(beam.PTransform):
    """Counts the books of each split, and the words in their texts. PCollection[BookRow] → MeasuredRows.

    Args:
      text: index of the counted text in the `values` of a row.
    """

    def __init__(self, text: int):
        super().__init__()
        self.text = text

    def expand(self, rows: beam.PCollection) -> MeasuredRows:
        measured = rows | "MeasureRow" >> beam.Map(measure_row, self.text).with_output_types(
            tuple[str, BookStats]
        )
        lengths = measured | "LengthOf" >> beam.MapTuple(split_and_length).with_output_types(
            tuple[str, int]
        )
        return MeasuredRows(
            stats=measured | "AddUp" >> beam.CombinePerKey(add_book_stats),
            lengths=lengths | "CountLengths" >> beam.combiners.Count.PerElement(),
        )


def measure_row(row: BookRow, text: int) -> tuple[str, BookStats]:
    """Returns (split, counts of books, words and characters) for one book.

    `text` is the position of the book's text among the `values` of the row.
    """
    packed = row.values[text]
    assert isinstance(packed, bytes)
    return row.split, measure_book(fetch_text(packed))


def split_and_length(split: str, stats: BookStats) -> tuple[str, int]:
    """Returns (split, length class) of a book. Books of about the same number of words share a class."""
    return split, length_class(stats.words)


def text_bytes(split: str, stats: BookStats) -> tuple[str, int]:
    """Returns (split, size of the counted texts in UTF-8 bytes).

    PlanShards derives the number of files of a split from it.
    """
    return split, stats.text_bytes


def book_rows(schema: pa.Schema) -> RowKind:
    """Returns the RowKind that tells the transform WriteRows how to write book rows of the given schema."""
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


class WriteBookTable(beam.PTransform):
    """Writes a TSV file with one line per book, sorted by id. PCollection of lines → PCollection[OutputFile].

    Args:
      folder: output folder of the build.
      name: file name without its ending "-00000-of-00001.tsv".
      line: NamedTuple class of the lines. Its fields are the columns. The first field is the book id.
    """

    def __init__(self, folder: str, name: str, line: type[NamedTuple]):
        super().__init__()
        schema = pa.schema([pa.field(field, pa.string()) for field in line._fields])
        by_id = operator.itemgetter(0)
        self.write = WriteRecords(
            folder, name, schema, identity, by_id, "tsv", records_per_file=BOOKS_PER_FILE
        )

    def expand(self, lines: beam.PCollection) -> beam.PCollection:
        return lines | "Write" >> self.write


def identity(row: Any) -> str:
    """Returns a string that identifies the book of a row. Its hash determines the shard of the row."""
    return identity_of(row.book_id)


def order(row: BookRow) -> tuple[int, int]:
    """Returns the sort key of a row: (hash of the book id, book id)."""
    return place_of(row.book_id)


class SignBooks(WriteSignatures):
    """Writes the MinHash signatures of books. PCollection[BookRow] → PCollection[OutputFile].

    Rows of the split "train_2" are ignored, because their books are in "train" as well.

    Args:
      folder: output folder of the build.
      scratch: folder for temporary signatures (see scratch.py).
      text: position of the text among the `values` of a row. The signature is computed from this text.
    """

    def __init__(self, folder: str, scratch: str, text: int):
        super().__init__(folder, scratch, functools.partial(named_texts, text=text))


def named_texts(row: BookRow, text: int) -> Iterator[NamedText]:
    """Yields the text of a book with its id and split. Yields nothing for the split "train_2".

    `text` is the position of the book's text among the `values` of the row.
    """
    packed = row.values[text]
    if row.split in SPLITS and isinstance(packed, bytes):
        yield NamedText("", str(row.book_id), row.split, fetch_text(packed))


def values(row: BookRow) -> list[int | str | None]:
    """Returns the values of a row. Compressed texts are decompressed."""
    return [fetch_text(one) if isinstance(one, bytes) else one for one in row.values]


def weigh(features: Sequence[Any]) -> int:
    """Returns the number of characters in the values of a row. This number limits the size of batches."""
    return sum(len(one) for one in features if isinstance(one, str))
