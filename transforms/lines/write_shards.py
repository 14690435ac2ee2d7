"""Shards of shuffled lines → files: text as it was published, Parquet and TFRecord, and checksums."""

import contextlib
import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.pvalue import AsList

from transforms.files import counters
from transforms.files.write_files import HashedFile, write_text
from transforms.records import LineShard, OutputFile
from transforms.text.files.shards import parquet_name, tfrecord_name
from transforms.text.files.tf_example import encode_texts
from transforms.text.lines.line_blocks import count_lines, cut_block, lines_of
from transforms.text.lines.line_table import FEATURE, SCHEMA, LineTable, make_table
from transforms.text.news.shard_names import TableShard, split_of, tables_of, text_name

STAGE = "write-shards"
CHECKSUMS = "md5sums"

GROUP_BYTES = 1 << 24  # of text in a row group, and in memory at once beside the shard itself
BATCH = 1 << 12  # records made at once: what the cache of a processor holds

# Sentences do not repeat, so that a dictionary only costs, and their least and greatest help nobody.
_ENCODING = {"compression": "zstd", "use_dictionary": False, "write_statistics": False}


class WrittenShards(NamedTuple):
    """What WriteShards gives."""

    files: beam.PCollection  # of OutputFile
    md5s: beam.PCollection  # of (name, MD5): of every text file
    replaced: beam.PCollection  # of (split, characters that are U+FFFD in Parquet and TFRecord)


class ShardFiles(NamedTuple):
    """What one shard gives."""

    files: tuple[OutputFile, ...]
    md5: tuple[str, str]
    replaced: tuple[tuple[str, int], ...]


class WriteShards(beam.PTransform):
    """PCollection[LineShard] → WrittenShards.

    Each shard is a text file, its lines as they are, under the name that it has in the published corpus;
    and but for the held-out shard, which is there in its parts, a Parquet and a TFRecord file with the
    one feature `text`. A text is the whole line without its line feed: where TensorFlow Datasets strips
    lines, these keep the blanks at their ends, which only lines have that the tokeniser passes through.
    A shard without lines gives files too. See text/news/shard_names.py.

    Args:
      folder: of the build.
      corpus: first part of the TFRecord names.
      language: in the names of the text files.
    """

    def __init__(self, folder: str, corpus: str = "lm1b", language: str = "en"):
        super().__init__()
        self.folder = folder
        self.corpus = corpus
        self.language = language

    def expand(self, shards: beam.PCollection) -> WrittenShards:
        written = shards | "WriteShard" >> beam.Map(
            write_shard, self.folder, self.corpus, self.language
        )
        return WrittenShards(
            written | "Files" >> beam.FlatMap(_files_of).with_output_types(OutputFile),
            written | "Checksums" >> beam.Map(_md5_of).with_output_types(tuple[str, str]),
            written | "Replaced" >> beam.FlatMap(_replaced_of).with_output_types(tuple[str, int]),
        )


class WriteChecksums(beam.PTransform):
    """PCollection[(name, MD5)] → PCollection[OutputFile]: what `md5sum -c md5sums` checks."""

    def __init__(self, folder: str):
        super().__init__()
        self.folder = folder

    def expand(self, md5s: beam.PCollection) -> beam.PCollection:
        return (
            md5s.pipeline
            | "Once" >> beam.Create([self.folder])
            | "WriteChecksums" >> beam.Map(write_checksums, AsList(md5s))
        )


def write_shard(shard: LineShard, folder: str, corpus: str, language: str) -> ShardFiles:
    """Writes the files of one shard, a row group at a time."""
    place = shard.series, shard.shard, shard.shards
    name, split = text_name(*place, language), split_of(shard.series, shard.shard)
    md5 = hashlib.md5(usedforsecurity=False)
    lines = replaced = 0
    with contextlib.ExitStack() as stack:
        text_file = stack.enter_context(HashedFile.in_folder(folder, name))
        tables = [_TableFiles(stack, folder, corpus, table) for table in tables_of(*place)]
        for part in cut_block(shard.block, GROUP_BYTES):
            text_file.write(part)
            md5.update(part)
            lines += count_lines(part)
            if tables:
                replaced += _write_tables(tables, make_table(part))
    if split:  # the lines of the held-out shard are counted in its parts
        counters.count(STAGE, "sentences", lines)
        counters.count(STAGE, "replaced-characters", replaced)
        counters.flush()
    return ShardFiles(
        (
            text_file.output_file(name, split, "text", lines),
            *(file for table in tables for file in table.output_files(lines)),
        ),
        (name, md5.hexdigest()),
        tuple((table.split, replaced) for table in tables),
    )


class _TableFiles:
    """The Parquet and the TFRecord file of a shard of a split, open as long as the stack."""

    def __init__(self, stack: contextlib.ExitStack, folder: str, corpus: str, table: TableShard):
        self.split = table.split
        self._parquet_name = parquet_name(*table)
        self._frames_name = tfrecord_name(corpus, *table)
        self._parquet = stack.enter_context(HashedFile.in_folder(folder, self._parquet_name))
        self._writer = stack.enter_context(pq.ParquetWriter(self._parquet, SCHEMA, **_ENCODING))
        self._frames = stack.enter_context(HashedFile.in_folder(folder, self._frames_name))

    def write_rows(self, table: pa.Table) -> None:
        """Writes one row group."""
        self._writer.write_table(table)

    def write_records(self, records: bytes) -> None:
        """Writes what the rows are as records."""
        self._frames.write(records)

    def output_files(self, records: int) -> Iterable[OutputFile]:
        """The two files, when they are closed."""
        yield self._parquet.output_file(self._parquet_name, self.split, "parquet", records)
        yield self._frames.output_file(self._frames_name, self.split, "tfrecord", records)


def _write_tables(tables: Sequence[_TableFiles], lines: LineTable) -> int:
    """Writes the same lines to all; gives the number of replaced characters."""
    for files in tables:
        files.write_rows(lines.table)
    texts = lines_of(lines.block)
    for start in range(0, len(texts), BATCH):
        records = encode_texts(FEATURE, texts[start : start + BATCH])
        for files in tables:
            files.write_records(records)
    return lines.replaced


def write_checksums(folder: str, md5s: Iterable[tuple[str, str]]) -> OutputFile:
    """Writes the file, as md5sum(1) does, by name."""
    text = "".join(f"{md5}  {name}\n" for name, md5 in sorted(md5s))
    return write_text(folder, CHECKSUMS, text, "checksums")


def _files_of(written: ShardFiles) -> Iterable[OutputFile]:
    return written.files


def _md5_of(written: ShardFiles) -> tuple[str, str]:
    return written.md5


def _replaced_of(written: ShardFiles) -> Iterable[tuple[str, int]]:
    return written.replaced
