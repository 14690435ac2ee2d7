"""Lines → all different lines, sorted by bytes, in ranges: `sort -u` on as many workers as there are."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsSingleton
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.windowed_value import WindowedValue

from transforms.records import LineRange
from transforms.scratch import Scratch, fetch
from transforms.text.line_blocks import block_of, count_lines, lines_of
from transforms.text.line_order import (
    LineSample,
    LineSampler,
    cut_sorted,
    plan_ranges,
    sort_block,
)

RANGE_BYTES = 1 << 24
RUN_BYTES = 1 << 25  # a worker sorts so much before it deals out to the ranges

DUPLICATES = "duplicates"


class SortedLines(NamedTuple):
    """What SortLines gives."""

    ranges: beam.PCollection  # of (range, block): its sorted lines; a range without lines is absent
    duplicates: beam.PCollection  # of int: lines left out because they stand there already


class PlanRanges(beam.PTransform):
    """PCollection[block] → one list of splitters, from a sample (see text/line_order.py).

    Args:
      range_bytes: of lines in a range, about.
      change: what is done to a block before it is sorted; None for nothing.
    """

    def __init__(
        self, range_bytes: int = RANGE_BYTES, change: Callable[[bytes], bytes] | None = None
    ):
        super().__init__()
        if range_bytes < 1:
            raise ValueError(f"range_bytes is {range_bytes}, and must be positive")
        self.range_bytes = range_bytes
        self.change = change

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        sample = blocks | "SampleLines" >> beam.CombineGlobally(_SampleLines())
        if self.change:
            sample |= "ChangeSample" >> beam.Map(change_sample, self.change)
        return sample | "PlanRanges" >> beam.Map(plan_ranges, self.range_bytes).with_output_types(
            list[bytes]
        )


class SortLines(beam.PTransform):
    """PCollection[block] → SortedLines.

    Every worker sorts runs of some megabytes and cuts them at the splitters; a range is then merged by
    whichever worker gets it. A line that is repeated a million times is there once a run.

    Args:
      folder: of the build.
      splitters: the outcome of PlanRanges.
    """

    def __init__(self, folder: str, splitters: beam.PCollection, run_bytes: int = RUN_BYTES):
        super().__init__()
        self.scratch = Scratch(folder)
        self.splitters = splitters
        self.run_bytes = run_bytes

    def expand(self, blocks: beam.PCollection) -> SortedLines:
        sort_runs = beam.ParDo(_SortRuns(self.scratch, self.run_bytes), AsSingleton(self.splitters))
        runs = blocks | "SortRuns" >> sort_runs.with_output_types(tuple[int, bytes]).with_outputs(
            DUPLICATES, main="pieces"
        )
        merge_ranges = beam.ParDo(_MergeRange()).with_output_types(tuple[int, bytes])
        merged = (
            runs.pieces
            | "GroupRanges" >> beam.GroupByKey()
            | "MergeRanges" >> merge_ranges.with_outputs(DUPLICATES, main="ranges")
        )
        duplicates = (runs[DUPLICATES], merged[DUPLICATES]) | "Duplicates" >> beam.Flatten()
        return SortedLines(merged.ranges, duplicates)


class _SampleLines(beam.CombineFn):
    def create_accumulator(self) -> LineSampler:
        return LineSampler()

    def add_input(self, sampler: LineSampler, block: bytes) -> LineSampler:
        sampler.add(block)
        return sampler

    def merge_accumulators(self, samplers: Iterable[LineSampler]) -> LineSampler:
        merged = LineSampler()
        for sampler in samplers:
            merged.merge(sampler)
        return merged

    def extract_output(self, sampler: LineSampler) -> LineSample:
        return sampler.sample()


def change_sample(sample: LineSample, change: Callable[[bytes], bytes]) -> LineSample:
    """The sample of the lines as they will be sorted."""
    return sample._replace(lines=tuple(lines_of(change(block_of(sample.lines)))))


class _SortRuns(beam.DoFn):
    """Gathers blocks to runs, sorts them, deals them out."""

    def __init__(self, scratch: Scratch, run_bytes: int):
        self._scratch = scratch
        self._run_bytes = run_bytes

    def start_bundle(self) -> None:
        self._blocks: list[bytes] = []
        self._bytes = 0
        self._splitters: list[bytes] = []

    def process(self, block: bytes, splitters: list[bytes]) -> Iterator[Any]:
        self._blocks.append(block)
        self._bytes += len(block)
        self._splitters = splitters
        if self._bytes >= self._run_bytes:
            yield from self._deal()

    def finish_bundle(self) -> Iterator[Any]:
        window = GlobalWindow()
        for dealt in self._deal():
            if isinstance(dealt, beam.pvalue.TaggedOutput):
                tagged = WindowedValue(dealt.value, window.max_timestamp(), [window])
                yield beam.pvalue.TaggedOutput(dealt.tag, tagged)
            else:
                yield WindowedValue(dealt, window.max_timestamp(), [window])

    def _deal(self) -> Iterator[Any]:
        run = b"".join(self._blocks)
        self._blocks, self._bytes = [], 0
        different = sort_block(run)
        for index, piece in cut_sorted(different, self._splitters):
            yield index, self._scratch.put(piece)
        duplicates = count_lines(run) - count_lines(different)
        if duplicates:
            yield beam.pvalue.TaggedOutput(DUPLICATES, duplicates)


class _MergeRange(beam.DoFn):
    def process(self, grouped: tuple[int, Iterable[bytes]]) -> Iterator[Any]:
        index, pieces = grouped
        lines = b"".join(map(fetch, pieces))
        different = sort_block(lines)
        yield index, different
        duplicates = count_lines(lines) - count_lines(different)
        if duplicates:
            yield beam.pvalue.TaggedOutput(DUPLICATES, duplicates)


class StoreRanges(beam.PTransform):
    """PCollection[(range, block)] → PCollection[LineRange], for a stage that has to wait for another."""

    def __init__(self, folder: str):
        super().__init__()
        self.scratch = Scratch(folder)

    def expand(self, ranges: beam.PCollection) -> beam.PCollection:
        return ranges | "StoreRange" >> beam.Map(store_range, self.scratch).with_output_types(
            LineRange
        )


def store_range(index_to_block: tuple[int, bytes], scratch: Scratch) -> LineRange:
    """The range, its lines put away."""
    index, block = index_to_block
    return LineRange(index, count_lines(block), scratch.put(block))
