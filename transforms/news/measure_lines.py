"""Counts the lines of a corpus, and the words and characters in them."""

from collections.abc import Iterator

import apache_beam as beam

from corpusmill.transforms.files.line_stats import LineStats, add_line_stats, measure_lines
from corpusmill.transforms.files.records import LineRange, LineShard
from corpusmill.transforms.news.shard_names import tables_of


class MeasureLines(beam.PTransform):
    """Counts the lines in blocks, and their words and characters.

    PCollection[bytes] → PCollection of one LineStats.
    """

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        return (
            blocks
            | "MeasureBlock" >> beam.Map(measure_lines).with_output_types(LineStats)
            | "AddUp" >> beam.CombineGlobally(add_line_stats)
        )


class MeasureShards(beam.PTransform):
    """Counts the lines, words and characters of each split.

    PCollection[LineShard] → PCollection[(split, LineStats)].
    """

    def expand(self, shards: beam.PCollection) -> beam.PCollection:
        return (
            shards
            | "MeasureShard" >> beam.FlatMap(measure_shard).with_output_types(tuple[str, LineStats])
            | "AddUp" >> beam.CombinePerKey(add_line_stats)
        )


def measure_shard(shard: LineShard) -> Iterator[tuple[str, LineStats]]:
    """Yields (split, LineStats) for each split to which the shard belongs."""
    tables = tables_of(shard.series, shard.shard, shard.shards)
    if tables:
        stats = measure_lines(shard.block)
        for table in tables:
            yield table.split, stats


def lines_of_range(lines: LineRange) -> int:
    """Returns the number of lines in a range."""
    return lines.lines
