import random

import apache_beam as beam
import pytest

from tests.transforms.run_pipeline import Outcome, run_pipeline
from transforms.records import LineRange
from transforms.sort_lines import PlanRanges, SortedLines, SortLines
from transforms.text.line_blocks import block_of, lines_of, unpack_block

LINES = [f"{number * 7919 % 1000:03} sentence {number % 400}".encode() for number in range(2000)]
ODD = [b"", b"\xff\xfe", b"\x00", b"a\r", b"a", "ß".encode(), b"Z", b"x" * 5000]


def sort(blocks: list[bytes], range_bytes: int = 4000, run_bytes: int = 1000) -> Outcome:
    def build(root: beam.Pipeline) -> dict[str, beam.PCollection]:
        read = root | beam.Create(blocks, reshuffle=False)
        splitters = read | PlanRanges(range_bytes)
        return outputs_of(read | SortLines(splitters, run_bytes), splitters)

    return run_pipeline(build)


def outputs_of(found: SortedLines, splitters: beam.PCollection) -> dict[str, beam.PCollection]:
    return {**found._asdict(), "splitters": splitters}


def blocks_of(lines: list[bytes], size: int) -> list[bytes]:
    return [block_of(lines[start : start + size]) for start in range(0, len(lines), size)]


def ranges_of(outcome: Outcome) -> list[LineRange]:
    return sorted(outcome.elements["ranges"])


def lines_in(ranges: list[LineRange]) -> list[bytes]:
    return [line for one in ranges for line in lines_of(unpack_block(one.packed))]


def test_all_different_lines_are_there_in_the_order_of_bytes() -> None:
    lines = LINES + ODD + LINES[:300]
    outcome = sort(blocks_of(lines, 37))
    ranges = ranges_of(outcome)
    assert lines_in(ranges) == sorted(set(lines))
    assert [one.index for one in ranges] == list(range(len(ranges)))
    assert len(ranges) > 5
    assert [one.lines for one in ranges] == [len(lines_in([one])) for one in ranges]
    assert sum(outcome.elements["duplicates"]) == len(lines) - len(set(lines))


@pytest.mark.parametrize(("size", "run_bytes"), [(1, 100), (500, 100), (10_000, 1 << 20)])
def test_ranges_do_not_depend_on_order_blocks_or_runs(size: int, run_bytes: int) -> None:
    lines = LINES + ODD
    expected = ranges_of(sort(blocks_of(lines, 37)))
    random.Random(size).shuffle(lines)
    assert ranges_of(sort(blocks_of(lines, size), run_bytes=run_bytes)) == expected


def test_a_line_that_is_everywhere_is_there_once() -> None:
    outcome = sort([b"Reuter\n" * 1000] * 20)
    assert lines_in(ranges_of(outcome)) == [b"Reuter"]
    assert sum(outcome.elements["duplicates"]) == 19_999


def test_without_lines_there_is_no_range() -> None:
    outcome = sort([])
    assert outcome.elements == {"ranges": [], "duplicates": [], "splitters": [[]]}


def test_ranges_can_be_planned_for_lines_that_are_changed_before_they_are_sorted() -> None:
    def build(root: beam.Pipeline) -> dict[str, beam.PCollection]:
        read = root | beam.Create(blocks_of(LINES, 100), reshuffle=False)
        changed = read | "Change" >> beam.Map(bytes.upper)
        splitters = read | PlanRanges(4000, bytes.upper)
        return outputs_of(changed | SortLines(splitters), splitters)

    outcome = run_pipeline(build)
    assert lines_in(ranges_of(outcome)) == sorted({line.upper() for line in LINES})
    (splitters,) = outcome.elements["splitters"]
    assert len(splitters) > 5
    assert all(splitter == splitter.upper() for splitter in splitters)


@pytest.mark.parametrize("range_bytes", [0, -1])
def test_a_range_has_a_positive_size(range_bytes: int) -> None:
    with pytest.raises(ValueError, match="range_bytes"):
        PlanRanges(range_bytes)
