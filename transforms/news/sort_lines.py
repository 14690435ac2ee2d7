"""Sorts and deduplicates lines by their bytes, in ranges, like a distributed `sort -u`.

Shuffles sorted lines into shards.

The order is always the same, because the random number generator is fixed (see shuffle.py).

Normalises and tokenises lines, one block at a time.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsSingleton, TaggedOutput

from ..files import counters
from ..files.distribution import Gather, transform
from ..files.line_blocks import count_lines
from ..files.records import LineRange, LineShard
from ..files.scratch import Scratch, fetch
from . import shuffle
from .line_tokenizer import LineTokenizer
from .sentence_accounts import HELD_OUT_SHARD, HELDOUT, TRAIN

SHUFFLE = "shuffle-lines"


@transform
def ShuffleLines(
    ranges: beam.PCollection, folder: str, shards: int = 100, heldout_shards: int = 50
) -> beam.PCollection:
    """Shuffles the lines of all ranges into shards. PCollection[LineRange] → PCollection[LineShard].

    A range is a part of the sorted lines. All lines are divided into the shards of the series "train". Shard
    0 is held out: it is also divided into the shards of the series "heldout". A worker holds one shard at a
    time. Empty shards are included.

    Args:
      folder: output folder of the build.
      shards: number of shards of the series "train".
      heldout_shards: number of shards of the series "heldout".
    """
    ranks = (
        ranges
        | "CountRange" >> beam.Map(lambda lines: (lines.index, lines.lines))
        | "GatherCounts" >> beam.combiners.ToDict()
        | "FirstRanks" >> beam.Map(shuffle.first_ranks)
    )
    dealt = ranges | "DealLines" >> beam.FlatMap(
        deal_range, AsSingleton(ranks), shards, Scratch(folder)
    )
    without_lines = [(shard, b"") for shard in range(shards)]
    every = ranges.pipeline | "EveryShard" >> beam.Create(without_lines)
    return (
        (dealt, every)
        | beam.Flatten()
        | "GroupShards" >> beam.GroupByKey()
        | "MergeShards" >> beam.FlatMap(merge_shard, shards, heldout_shards)
    )


def deal_range(
    lines: LineRange, ranks: Mapping[int, int], shards: int, scratch: Scratch
) -> Iterator[tuple[int, bytes]]:
    """Distributes the lines of a range over the shards. Yields (shard, reference to lines in scratch).

    Args:
      lines: the range.
      ranks: index of a range → position of its first line among all sorted lines.
      shards: number of shards.
    """
    for shard, piece in shuffle.deal_lines(fetch(lines.packed), ranks[lines.index], shards):
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
    block = shuffle.merge_pieces(map(fetch, filter(None, pieces)))
    yield LineShard(TRAIN, shard, shards, block)
    if shard == HELD_OUT_SHARD:
        for part, lines in enumerate(shuffle.split_shard(block, heldout_shards)):
            yield LineShard(HELDOUT, part, heldout_shards, lines)
    counters.count(SHUFFLE, "shards", 1)
    counters.flush()


RANGE_BYTES = 1 << 23
RUN_BYTES, MAX_RUN_BYTES = 1 << 23, 1 << 27
MANY_RUNS = 256

DUPLICATES = "duplicates"


class SortedLines(NamedTuple):
    """The outputs of SortLines: the sorted ranges, the borders between them, and the number of dropped
    duplicates.
    """

    ranges: beam.PCollection  # of (range, block): its sorted lines; no empty ranges
    splitters: beam.PCollection  # one list[bytes]: the borders between the ranges
    duplicates: beam.PCollection  # of int: number of dropped duplicates


@transform
def SortLines(
    blocks: beam.PCollection,
    folder: str,
    range_bytes: int = RANGE_BYTES,
    run_bytes: int = RUN_BYTES,
) -> SortedLines:
    """Sorts lines and drops repeated lines.

    PCollection[bytes] → SortedLines. The elements are blocks of lines.

    Every worker sorts runs (parts of the input) of some megabytes, and draws a sample of each run. The
    borders of the ranges are chosen from all samples. Then one worker for each range merges the lines of all
    runs that are in the range. A line occurs at most once in a run, so a frequent line does not make a range
    large. The ranges depend only on the lines, not on their order or blocks.

    Args:
      folder: output folder of the build.
      range_bytes: approximate size of the lines of a range; see `plan_ranges`.
      run_bytes: size of a run. Sorting it takes a few times as much memory. See `run_bytes_for`.
    """
    scratch = Scratch(folder)
    sort = functools.partial(sort_run, scratch=scratch)
    runs = blocks | "SortRuns" >> beam.ParDo(Gather(None, sort, run_bytes, len))
    splitters = (
        runs
        | "Samples" >> beam.Map(lambda run: run.sampler)
        | "MergeSamples" >> beam.CombineGlobally(merge_samplers)
        | "Sample" >> beam.Map(shuffle.LineSampler.sample)
        | "PlanRanges" >> beam.Map(shuffle.plan_ranges, range_bytes)
    )
    merge_ranges = beam.FlatMap(merge_range).with_output_types(tuple[int, bytes])
    merged = (
        runs
        | "Lines" >> beam.Map(lambda run: run.packed).with_output_types(bytes)
        | "CutRuns" >> beam.FlatMap(cut_run, AsSingleton(splitters), scratch)
        | "GroupRanges" >> beam.GroupByKey()
        | "MergeRanges" >> merge_ranges.with_outputs(DUPLICATES, main="ranges")
    )
    in_runs = runs | "Repeated" >> beam.Map(lambda run: run.duplicates)
    duplicates = (in_runs, merged[DUPLICATES]) | "Duplicates" >> beam.Flatten()
    return SortedLines(merged.ranges, splitters, duplicates)


def run_bytes_for(input_bytes: int) -> int:
    """Returns the size of a sorted run in bytes.

    The size grows with the input, because each run is divided into as many parts as there are ranges.
    """
    return min(max(input_bytes // MANY_RUNS, RUN_BYTES), MAX_RUN_BYTES)


def merge_samplers(samplers: Iterable[shuffle.LineSampler]) -> shuffle.LineSampler:
    """Merges several samplers of lines into one that has all their samples."""
    merged = shuffle.LineSampler()
    for sampler in samplers:
        merged.merge(sampler)
    return merged


class SortedRun(NamedTuple):
    """A sorted part of the input, stored in scratch, with a sample of its lines."""

    packed: bytes
    sampler: shuffle.LineSampler
    duplicates: int  # number of dropped duplicates


def sort_run(blocks: list[bytes], scratch: Scratch) -> Iterator[SortedRun]:
    """Joins blocks of lines into a run, sorts it, and stores it in scratch. Empties `blocks`."""
    run = b"".join(blocks)
    blocks.clear()  # sorting needs the memory
    different = shuffle.sort_block(run)
    sampler = shuffle.LineSampler()
    sampler.add(different, len(run))
    yield SortedRun(scratch.put(different), sampler, count_lines(run) - count_lines(different))


def cut_run(packed: bytes, splitters: list[bytes], scratch: Scratch) -> Iterator[tuple[int, bytes]]:
    """Divides a sorted run into ranges. Yields (index of the range, reference to its lines in scratch).

    `packed` is a reference to the run. `splitters` are the borders between the ranges.
    """
    run = fetch(packed)
    for index, start, end in shuffle.cut_sorted(run, splitters):
        yield index, scratch.part(packed, run, start, end)


def merge_range(grouped: tuple[int, Iterable[bytes]]) -> Iterator[Any]:
    """Merges the lines of a range. Yields (index of the range, sorted lines without repetitions).

    The number of dropped lines is yielded on the output DUPLICATES. `grouped` is (index, references to the
    lines).
    """
    index, pieces = grouped
    lines = b"".join(map(fetch, pieces))
    different = shuffle.sort_block(lines)
    yield index, different
    yield TaggedOutput(DUPLICATES, count_lines(lines) - count_lines(different))


def store_range(index_to_block: tuple[int, bytes], scratch: Scratch) -> LineRange:
    """Stores the lines of a range in scratch."""
    index, block = index_to_block
    return LineRange(index, count_lines(block), scratch.put(block))


TOKENIZE = "tokenize-lines"


def tokenize_range(
    index_to_block: tuple[int, bytes], language: str, lower_case: bool, perl: str
) -> tuple[int, bytes]:
    """Returns (index of the range, tokenised lines), and counts the lines.

    Args:
      index_to_block: (index of the range, its lines as a block).
      language: language code of the rules and abbreviations, such as "en".
      lower_case: True to lower-case the tokens.
      perl: version of Perl whose Unicode tables define letters and digits.
    """
    index, block = index_to_block
    tokenized = tokenize_block(block, language, lower_case, perl)
    counters.count(TOKENIZE, "lines", count_lines(block))
    counters.flush()
    return index, tokenized


def tokenize_block(block: bytes, language: str, lower_case: bool, perl: str) -> bytes:
    """Returns the tokenised lines of a block.

    Args:
      block: the lines to tokenise.
      language: language code of the rules and abbreviations, such as "en".
      lower_case: True to lower-case the tokens.
      perl: version of Perl whose Unicode tables define letters and digits.
    """
    return _tokenizer(language, lower_case, perl)(block)


_tokenizer = functools.lru_cache(1)(LineTokenizer)  # a worker keeps its tokenizer
