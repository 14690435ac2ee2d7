"""Writes shards of shuffled lines as text files with checksums, and in other formats.

Counts the lines of a corpus, and the words and characters in them.

Writes an intermediate state of the corpus to files (a checkpoint).

The files can be compared with the file that the original scripts of the One Billion Word benchmark write at
the same step.
"""

import hashlib
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa

from ..files import counters, line_blocks
from ..files.distribution import transform
from ..files.formats import DEFAULT, PARQUET, TEXT, TFRECORD
from ..files.records import LineRange, LineShard, OutputFile
from ..files.scratch import fetch
from ..files.tfrecord import encode_texts
from ..files.write_files import NO_MARKS, mark, write_file, write_text
from ..files.write_rows import Batch, Target, encode_batch, row_files, write_files
from .sentence_accounts import split_of, table_formats, tables_of, text_name

STAGE = "write-shards"
CHECKSUMS = "md5sums"

GROUP_BYTES = 1 << 24  # bytes of text in a row group, which is in memory together with the shard
BATCH = 1 << 12  # records encoded at once, to fit the cache of the processor

# Sentences do not repeat, so dictionaries have no use; nor do minimum and maximum statistics.
_ENCODING = {"use_dictionary": False, "write_statistics": False}


class WrittenLines(NamedTuple):
    """The outputs of WriteLines: files, MD5 checksums of text files, and numbers of replaced characters.

    In the Parquet and TFRecord files, characters that are not in Unicode are replaced by U+FFFD.
    """

    files: beam.PCollection  # of OutputFile
    md5s: beam.PCollection  # of (name, MD5): of every text file
    replaced: beam.PCollection  # of (split, characters replaced by U+FFFD in Parquet and TFRecord)


class WrittenShard(NamedTuple):
    """The files of one shard, the MD5 checksum of its text file, and numbers of replaced characters."""

    files: list[OutputFile]
    md5: tuple[str, str]
    replaced: list[tuple[str, int]]


@transform
def WriteLines(
    shards: beam.PCollection,
    folder: str,
    corpus: str = "lm1b",
    language: str = "en",
    marks: Mapping[str, str] = NO_MARKS,
    formats: str = DEFAULT,
) -> WrittenLines:
    """Writes the files of a shuffled corpus of lines. PCollection[LineShard] → WrittenLines.

    Each shard is written to a text file that has the name of the shard in the published corpus. It is also
    written to a file in each other format, with the single feature `text`, a line without its line feed. The
    held-out shard has no such files of its own, because its parts have them. Empty shards are written too.
    See sentence_accounts.py.

    Spaces at the ends of lines are kept, although TensorFlow Datasets strips them. Only lines that the
    tokeniser does not change have such spaces.

    Args:
      folder: output folder of the build.
      corpus: first part of the names of TFRecord files.
      language: language code in the names of the text files.
      marks: key-value metadata of each Parquet file.
      formats: the formats, separated by commas. Text is always written.
    """
    settings = folder, corpus, language, mark(line_blocks.SCHEMA, marks)
    tables = table_formats({"formats": formats})
    written = shards | "WriteShard" >> beam.Map(write_shard, *settings, tables)
    files, md5, replaced = map(operator.attrgetter, WrittenShard._fields)
    return WrittenLines(
        written | "Files" >> beam.FlatMap(files).with_output_types(OutputFile),
        written | "Checksums" >> beam.Map(md5).with_output_types(tuple[str, str]),
        written | "Replaced" >> beam.FlatMap(replaced).with_output_types(tuple[str, int]),
    )


def write_shard(
    shard: LineShard,
    folder: str,
    corpus: str,
    language: str,
    schema: pa.Schema = line_blocks.SCHEMA,
    formats: Sequence[str] = (PARQUET, TFRECORD),
) -> WrittenShard:
    """Writes the files of one shard, one row group at a time.

    Args:
      shard: the shard to write.
      folder: output folder of the build.
      corpus: first part of the names of TFRecord files.
      language: language code in the name of the text file.
      schema: schema of the rows, with the key-value metadata of the Parquet files.
      formats: the formats beside the text.
    """
    place = shard.series, shard.shard, shard.shards
    name, split = text_name(*place, language), split_of(shard.series, shard.shard)
    tables = tables_of(*place)
    targets = [Target(name, split, TEXT)]
    targets += [target for table in tables for target in row_files(formats, corpus, table)]
    encoder = LineEncoder(shard.block, formats if tables else ())
    files = write_files(folder, targets, schema, encoder.batches(), _ENCODING)
    if split:  # lines of the held-out shard are counted in its parts
        counters.count(STAGE, "sentences", files[0].records)
        counters.count(STAGE, "replaced-characters", encoder.replaced)
        counters.flush()
    replaced = [(table.split, encoder.replaced) for table in tables]
    return WrittenShard(files, (name, encoder.md5.hexdigest()), replaced)


class LineEncoder:
    """Encodes the lines of a block, one row group at a time.

    Args:
      formats: the formats in which to encode the lines, in addition to the text file.

    Attributes:
      md5: MD5 of the lines encoded so far.
      replaced: number of characters replaced by U+FFFD so far.
    """

    def __init__(self, block: bytes, formats: Sequence[str]):
        self._block = block
        self._formats = formats
        self.md5 = hashlib.md5(usedforsecurity=False)
        self.replaced = 0

    def batches(self) -> Iterator[Batch]:
        """Yields the lines of the block in batches. Each batch becomes a row group of a Parquet file."""
        others = [one for one in self._formats if one not in (PARQUET, TFRECORD)]
        for part in line_blocks.cut_block(self._block, GROUP_BYTES):
            self.md5.update(part)
            pieces: dict[str, Iterable[Any]] = {TEXT: [part]}
            if self._formats:
                lines = line_blocks.make_table(part)
                self.replaced += lines.replaced
                texts = lines.table[line_blocks.FEATURE].to_pylist() if others else ()
                rows = [(text,) for text in texts]
                pieces |= encode_batch(line_blocks.SCHEMA, rows, others).pieces
                pieces |= {PARQUET: [lines.table], TFRECORD: _records(lines.block)}
            yield Batch(line_blocks.count_lines(part), pieces)


def _records(block: bytes) -> Iterator[bytes]:
    texts = line_blocks.lines_of(block)
    for start in range(0, len(texts), BATCH):
        yield encode_texts(line_blocks.FEATURE, texts[start : start + BATCH])


def write_checksums(folder: str, md5s: Iterable[tuple[str, str]]) -> OutputFile:
    """Writes `md5sums` in the format of md5sum(1), sorted by name."""
    text = "".join(f"{md5}  {name}\n" for name, md5 in sorted(md5s))
    return write_text(folder, CHECKSUMS, text, "checksums")


@transform
def MeasureShards(shards: beam.PCollection) -> beam.PCollection:
    """Counts the lines, words and characters of each split.

    PCollection[LineShard] → PCollection[(split, LineStats)].
    """
    return (
        shards
        | "MeasureShard" >> beam.FlatMap(measure_shard)
        | "AddUp" >> beam.CombinePerKey(line_blocks.add_line_stats)
    )


def measure_shard(shard: LineShard) -> Iterator[tuple[str, line_blocks.LineStats]]:
    """Yields (split, LineStats) for each split to which the shard belongs."""
    if tables := tables_of(shard.series, shard.shard, shard.shards):
        stats = line_blocks.measure_lines(shard.block)
        for table in tables:
            yield table.split, stats


def lines_of_range(lines: LineRange) -> int:
    """Returns the number of lines in a range."""
    return lines.lines


FOLDER = "training-monolingual.tokenized"  # name of the folder in the original


def write_range(lines: LineRange, folder: str, base: str, splitters: list[bytes]) -> OutputFile:
    """Writes the lines of one range to a text file.

    Args:
      lines: the range.
      folder: output folder of the build.
      base: name of the file that the original scripts write, such as "news.20XX.en.shuffled.sorted".
      splitters: the borders between all ranges.
    """
    name = f"{FOLDER}/{base}-{lines.index:05d}-of-{len(splitters) + 1:05d}"
    return write_file(folder, name, [fetch(lines.packed)], "text", lines.lines)
