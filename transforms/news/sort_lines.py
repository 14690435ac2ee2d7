"""Sorts and deduplicates lines by their bytes, in ranges, like a distributed `sort -u`."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsSingleton, TaggedOutput
from apache_beam.transforms.window import GlobalWindows

from corpusmill.transforms.files.line_blocks import count_lines
from corpusmill.transforms.files.records import LineRange
from corpusmill.transforms.files.scratch import Scratch, fetch
from corpusmill.transforms.news.line_order import LineSampler, cut_sorted, plan_ranges, sort_block

RANGE_BYTES = 1 << 23
RUN_BYTES, MAX_RUN_BYTES = 1 << 23, 1 << 27
MANY_RUNS = 256

SAMPLES, DUPLICATES = "samples", "duplicates"


class SortedLines(NamedTuple):
    """The outputs of SortLines: the sorted ranges, the borders between them, and the number of dropped
    duplicates.
    """

    ranges: beam.PCollection  # of (range, block): its sorted lines; no empty ranges
    splitters: beam.PCollection  # one list[bytes]: the borders between the ranges
    duplicates: beam.PCollection  # of int: number of dropped duplicates


class SortLines(beam.PTransform):
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

    def __init__(self, folder: str, range_bytes: int = RANGE_BYTES, run_bytes: int = RUN_BYTES):
        super().__init__()
        self.scratch = Scratch(folder)
        self.range_bytes = range_bytes
        self.run_bytes = run_bytes

    def expand(self, blocks: beam.PCollection) -> SortedLines:
        sort_runs = beam.ParDo(_SortRuns(self.scratch, self.run_bytes)).with_output_types(bytes)
        runs = blocks | "SortRuns" >> sort_runs.with_outputs(SAMPLES, DUPLICATES, main="runs")
        splitters = (
            runs[SAMPLES]
            | "MergeSamples" >> beam.CombineGlobally(merge_samplers)
            | "Sample" >> beam.Map(LineSampler.sample)
            | "PlanRanges" >> beam.Map(plan_ranges, self.range_bytes)
        )
        merge_ranges = beam.FlatMap(merge_range).with_output_types(tuple[int, bytes])
        merged = (
            runs.runs
            | "CutRuns"
            >> beam.FlatMap(cut_run, AsSingleton(splitters), self.scratch).with_output_types(
                tuple[int, bytes]
            )
            | "GroupRanges" >> beam.GroupByKey()
            | "MergeRanges" >> merge_ranges.with_outputs(DUPLICATES, main="ranges")
        )
        duplicates = (runs[DUPLICATES], merged[DUPLICATES]) | "Duplicates" >> beam.Flatten()
        return SortedLines(merged.ranges, splitters, duplicates)


def run_bytes_for(input_bytes: int) -> int:
    """Returns the size of a sorted run in bytes.

    The size grows with the input, because each run is divided into as many parts as there are ranges.
    """
    return min(max(input_bytes // MANY_RUNS, RUN_BYTES), MAX_RUN_BYTES)


def merge_samplers(samplers: Iterable[LineSampler]) -> LineSampler:
    """Merges several samplers of lines into one that has all their samples."""
    merged = LineSampler()
    for sampler in samplers:
        merged.merge(sampler)
    return merged


class _SortRuns(beam.DoFn):
    """Joins blocks of lines into runs, sorts each run, and stores it in scratch."""

    def __init__(self, scratch: Scratch, run_bytes: int):
        self._scratch = scratch
        self._run_bytes = run_bytes

    def start_bundle(self) -> None:
        self._blocks: list[bytes] = []
        self._bytes = self._duplicates = 0
        self._sampler = LineSampler()

    def process(self, block: bytes) -> Iterator[bytes]:
        self._blocks.append(block)
        self._bytes += len(block)
        if self._bytes >= self._run_bytes:
            yield self._sort_run()

    def finish_bundle(self) -> Iterator[Any]:
        in_window = GlobalWindows.windowed_value_at_end_of_window
        if self._blocks:
            yield in_window(self._sort_run())
        yield TaggedOutput(SAMPLES, in_window(self._sampler))
        yield TaggedOutput(DUPLICATES, in_window(self._duplicates))

    def _sort_run(self) -> bytes:
        run = b"".join(self._blocks)
        self._blocks, self._bytes = [], 0
        different = sort_block(run)
        self._sampler.add(different, len(run))
        self._duplicates += count_lines(run) - count_lines(different)
        return self._scratch.put(different)


def cut_run(packed: bytes, splitters: list[bytes], scratch: Scratch) -> Iterator[tuple[int, bytes]]:
    """Divides a sorted run into ranges. Yields (index of the range, reference to its lines in scratch).

    `packed` is a reference to the run. `splitters` are the borders between the ranges.
    """
    run = fetch(packed)
    for index, start, end in cut_sorted(run, splitters):
        yield index, scratch.part(packed, run, start, end)


def merge_range(grouped: tuple[int, Iterable[bytes]]) -> Iterator[Any]:
    """Merges the lines of a range. Yields (index of the range, sorted lines without repetitions).

    The number of dropped lines is yielded on the output DUPLICATES. `grouped` is (index, references to the
    lines).
    """
    index, pieces = grouped
    lines = b"".join(map(fetch, pieces))
    different = sort_block(lines)
    yield index, different
    yield TaggedOutput(DUPLICATES, count_lines(lines) - count_lines(different))


class StoreRanges(beam.PTransform):
    """Stores sorted lines in scratch for a later stage.

    PCollection[(index of a range, its lines as a block)] → PCollection[LineRange].
    """

    def __init__(self, folder: str):
        super().__init__()
        self.scratch = Scratch(folder)

    def expand(self, ranges: beam.PCollection) -> beam.PCollection:
        return ranges | "StoreRange" >> beam.Map(store_range, self.scratch).with_output_types(
            LineRange
        )


def store_range(index_to_block: tuple[int, bytes], scratch: Scratch) -> LineRange:
    """Stores the lines of a range in scratch."""
    index, block = index_to_block
    return LineRange(index, count_lines(block), scratch.put(block))
