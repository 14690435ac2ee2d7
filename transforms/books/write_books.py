"""Books → files: Parquet and TFRecord, the same bytes whatever the runner and the order."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsDict, AsList, AsSingleton

from transforms.files import counters
from transforms.files.scratch import fetch_text
from transforms.files.write_files import HashedFile, ParquetFile
from transforms.records import BookRow, OutputFile
from transforms.text.books.book_stats import (
    BookStats,
    add_book_stats,
    identity_of,
    measure_book,
)
from transforms.text.files.shards import missing_shards, parquet_name, tfrecord_name
from transforms.text.files.tf_example import encode_example, frame_record
from transforms.text.fingerprint import fingerprint, shard_of

STAGE = "write-books"

BATCH_CHARACTERS = 1 << 24  # of texts in a row group, and in memory at once; or one longer book

ShardKey = tuple[str, int, int]  # split, shard, number of shards


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


class PlanBookShards(beam.PTransform):
    """PCollection[(split, BookStats)] → one {split: number of files}; one at least for each split.

    Args:
      splits: of the corpus.
      shard_bytes: of text in a file, about, in UTF-8.
    """

    def __init__(self, splits: Sequence[str], shard_bytes: int):
        super().__init__()
        if shard_bytes < 1:
            raise ValueError(f"shard_bytes is {shard_bytes}, and must be positive")
        self.splits = tuple(splits)
        self.shard_bytes = shard_bytes

    def expand(self, stats: beam.PCollection) -> beam.PCollection:
        return (
            stats.pipeline
            | "Once" >> beam.Create([self.splits])
            | "PlanShards" >> beam.Map(plan_shards, self.shard_bytes, AsDict(stats))
        )


def plan_shards(
    splits: Sequence[str], shard_bytes: int, stats: Mapping[str, BookStats]
) -> dict[str, int]:
    """Split → number of files."""
    sizes = {split: stats.get(split, BookStats()).text_bytes for split in splits}
    return {split: max(1, -(-size // shard_bytes)) for split, size in sizes.items()}


class WriteBooks(beam.PTransform):
    """PCollection[BookRow] → PCollection[OutputFile].

    Writes one Parquet and one TFRecord file per shard, in the order of the fingerprint of the identity.
    A shard without books is a file too: readers find every name of `-of-N`.

    Args:
      folder: of the build.
      corpus: first part of the TFRecord names, "pg19".
      schema: of the values: strings and 32-bit integers.
      shards: the outcome of PlanBookShards.
    """

    def __init__(self, folder: str, corpus: str, schema: pa.Schema, shards: beam.PCollection):
        super().__init__()
        self.folder = folder
        self.corpus = corpus
        self.schema = schema
        self.shards = shards

    def expand(self, rows: beam.PCollection) -> beam.PCollection:
        how = (self.folder, self.corpus, self.schema)
        written = (
            rows
            | "KeyByShard"
            >> beam.Map(key_by_shard, AsSingleton(self.shards)).with_output_types(
                tuple[ShardKey, BookRow]
            )
            | "GroupShards" >> beam.GroupByKey()
            | "WriteShards" >> beam.FlatMap(write_shard, *how)
        )
        empty = (
            self.shards
            | "EmptyShards" >> beam.FlatMap(empty_shards, AsList(written))
            | "WriteEmpty" >> beam.FlatMap(write_shard, *how)
        )
        return (written, empty) | "Files" >> beam.Flatten()


def key_by_shard(row: BookRow, shards: Mapping[str, int]) -> tuple[ShardKey, BookRow]:
    """((split, shard, shards), row)."""
    count = shards[row.split]
    return (row.split, shard_of(identity_of(row.book_id), count), count), row


def empty_shards(
    shards: Mapping[str, int], written: Iterable[OutputFile]
) -> Iterator[tuple[ShardKey, Sequence[BookRow]]]:
    """The shards that no book belongs to."""
    names = {file.name for file in written}
    for key in missing_shards(shards, names):
        yield key, []


def write_shard(
    grouped: tuple[ShardKey, Iterable[BookRow]], folder: str, corpus: str, schema: pa.Schema
) -> Iterator[OutputFile]:
    """Writes the books of one shard in both formats, a batch at a time: only its texts are in memory."""
    (split, shard, shards), in_shard = grouped
    rows = sorted(in_shard, key=order)
    parquet = parquet_name(split, shard, shards)
    frames = tfrecord_name(corpus, split, shard, shards)
    with contextlib.ExitStack() as stack:
        table_file = stack.enter_context(ParquetFile(folder, parquet, schema))
        frame_file = stack.enter_context(HashedFile.in_folder(folder, frames))
        for batch in batches(rows, schema.names):
            table_file.write(pa.Table.from_pylist(batch, schema=schema))
            for features in batch:
                frame_file.write(frame_record(encode_example(features)))
            counters.count(STAGE, "books", len(batch))
    yield table_file.output_file(parquet, split, "parquet", len(rows))
    yield frame_file.output_file(frames, split, "tfrecord", len(rows))
    counters.flush()


def order(row: BookRow) -> tuple[int, int]:
    """Books stand in the order of their fingerprints, which is as good as a shuffle."""
    return fingerprint(identity_of(row.book_id)), row.book_id


def batches(rows: Iterable[BookRow], names: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
    """The features of the rows, as many together as BATCH_CHARACTERS allow."""
    batch: list[dict[str, Any]] = []
    characters = 0
    for row in rows:
        values = [fetch_text(one) if isinstance(one, bytes) else one for one in row.values]
        size = sum(len(one) for one in values if isinstance(one, str))
        if batch and characters + size > BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
        batch.append(dict(zip(names, values, strict=True)))
        characters += size
    if batch:
        yield batch
