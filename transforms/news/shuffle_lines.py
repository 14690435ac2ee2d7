"""Shuffles sorted lines into shards.

The order is always the same, because the random number generator is fixed (see text/news/shuffle.py).
"""

from collections.abc import Iterable, Iterator, Mapping

import apache_beam as beam
from apache_beam.pvalue import AsSingleton

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.records import LineRange, LineShard
from corpusmill.transforms.files.scratch import Scratch, fetch
from corpusmill.transforms.news.shard_names import HELD_OUT_SHARD, HELDOUT, TRAIN
from corpusmill.transforms.news.shuffle import deal_lines, first_ranks, merge_pieces, split_shard

STAGE = "shuffle-lines"


class ShuffleLines(beam.PTransform):
    """Shuffles the lines of all ranges into shards. PCollection[LineRange] → PCollection[LineShard].

    A range is a part of the sorted lines. All lines are divided into the shards of the series "train". Shard
    0 is held out: it is also divided into the shards of the series "heldout". A worker holds one shard at a
    time. Empty shards are included.

    Args:
      folder: output folder of the build.
      shards: number of shards of the series "train".
      heldout_shards: number of shards of the series "heldout".
    """

    def __init__(self, folder: str, shards: int = 100, heldout_shards: int = 50):
        super().__init__()
        self.scratch = Scratch(folder)
        self.shards = shards
        self.heldout_shards = heldout_shards

    def expand(self, ranges: beam.PCollection) -> beam.PCollection:
        ranks = (
            ranges
            | "CountRange" >> beam.Map(count_range).with_output_types(tuple[int, int])
            | "GatherCounts" >> beam.combiners.ToDict()
            | "FirstRanks" >> beam.Map(first_ranks)
        )
        dealt = ranges | "DealLines" >> beam.FlatMap(
            deal_range, AsSingleton(ranks), self.shards, self.scratch
        ).with_output_types(tuple[int, bytes])
        without_lines = [(shard, b"") for shard in range(self.shards)]
        every = ranges.pipeline | "EveryShard" >> beam.Create(without_lines)
        return (
            (dealt, every)
            | beam.Flatten()
            | "GroupShards" >> beam.GroupByKey()
            | "MergeShards"
            >> beam.FlatMap(merge_shard, self.shards, self.heldout_shards).with_output_types(
                LineShard
            )
        )


def count_range(lines: LineRange) -> tuple[int, int]:
    """Returns (index of the range, number of its lines)."""
    return lines.index, lines.lines


def deal_range(
    lines: LineRange, ranks: Mapping[int, int], shards: int, scratch: Scratch
) -> Iterator[tuple[int, bytes]]:
    """Distributes the lines of a range over the shards. Yields (shard, reference to lines in scratch).

    Args:
      lines: the range.
      ranks: index of a range → position of its first line among all sorted lines.
      shards: number of shards.
    """
    for shard, piece in deal_lines(fetch(lines.packed), ranks[lines.index], shards):
        yield shard, scratch.put(piece)


def merge_shard(
    grouped: tuple[int, Iterable[bytes]], shards: int, heldout_shards: int
) -> Iterator[LineShard]:
    """Yields a shard with its lines in their final order. If it is the held-out shard, also yields its parts.

    Args:
      grouped: (number of the shard, the references to its lines that `deal_range` has yielded).
      shards: number of shards of the series "train".
      heldout_shards: number of parts of the held-out shard.
    """
    shard, pieces = grouped
    block = merge_pieces(map(fetch, filter(None, pieces)))
    yield LineShard(TRAIN, shard, shards, block)
    if shard == HELD_OUT_SHARD:
        for part, lines in enumerate(split_shard(block, heldout_shards)):
            yield LineShard(HELDOUT, part, heldout_shards, lines)
    counters.count(STAGE, "shards", 1)
    counters.flush()
