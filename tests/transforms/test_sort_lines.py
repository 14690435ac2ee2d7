import random
from pathlib import Path

import apache_beam as beam
import pytest

from tests.transforms.run_pipeline import Outcome, run_pipeline, run_transform
from transforms.scratch import fetch
from transforms.sort_lines import PlanRanges, SortedLines, SortLines, StoreRanges
from transforms.text.line_blocks import block_of, lines_of

LINES = [f"{number * 7919 % 1000:03} sentence {number % 400}".encode() for number in range(2000)]
ODD = [b"", b"\xff\xfe", b"\x00", b"a\r", b"a", "ß".encode(), b"Z", b"x" * 5000]


def sort(
    folder: Path, blocks: list[bytes], range_bytes: int = 4000, run_bytes: int = 1000
) -> Outcome:
    def build(root: beam.Pipeline) -> dict[str, beam.PCollection]:
        read = root | beam.Create(blocks, reshuffle=False)
        splitters = read | PlanRanges(range_bytes)
        return outputs_of(read | SortLines(str(folder), splitters, run_bytes), splitters)

    return run_pipeline(build)


def outputs_of(found: SortedLines, splitters: beam.PCollection) -> dict[str, beam.PCollection]:
    return {**found._asdict(), "splitters": splitters}


def blocks_of(lines: list[bytes], size: int) -> list[bytes]:
    return [block_of(lines[start : start + size]) for start in range(0, len(lines), size)]


def ranges_of(outcome: Outcome) -> list[tuple[int, bytes]]:
    return sorted(outcome.elements["ranges"])


def lines_in(ranges: list[tuple[int, bytes]]) -> list[bytes]:
    return [line for _, block in ranges for line in lines_of(block)]


def test_all_different_lines_are_there_in_the_order_of_bytes(tmp_path: Path) -> None:
    lines = LINES + ODD + LINES[:300]
    outcome = sort(tmp_path, blocks_of(lines, 37))
    ranges = ranges_of(outcome)
    assert lines_in(ranges) == sorted(set(lines))
    assert [index for index, _ in ranges] == list(range(len(ranges)))
    assert len(ranges) > 5
    assert sum(outcome.elements["duplicates"]) == len(lines) - len(set(lines))


@pytest.mark.parametrize(("size", "run_bytes"), [(1, 100), (500, 100), (10_000, 1 << 20)])
def test_ranges_do_not_depend_on_order_blocks_or_runs(
    tmp_path: Path, size: int, run_bytes: int
) -> None:
    lines = LINES + ODD
    expected = ranges_of(sort(tmp_path, blocks_of(lines, 37)))
    random.Random(size).shuffle(lines)
    assert ranges_of(sort(tmp_path, blocks_of(lines, size), run_bytes=run_bytes)) == expected


def test_a_line_that_is_everywhere_is_there_once(tmp_path: Path) -> None:
    outcome = sort(tmp_path, [b"Reuter\n" * 1000] * 20)
    assert lines_in(ranges_of(outcome)) == [b"Reuter"]
    assert sum(outcome.elements["duplicates"]) == 19_999


def test_without_lines_there_is_no_range(tmp_path: Path) -> None:
    outcome = sort(tmp_path, [])
    assert outcome.elements == {"ranges": [], "duplicates": [], "splitters": [[]]}


def test_ranges_can_be_planned_for_lines_that_are_changed_before_they_are_sorted(
    tmp_path: Path,
) -> None:
    def build(root: beam.Pipeline) -> dict[str, beam.PCollection]:
        read = root | beam.Create(blocks_of(LINES, 100), reshuffle=False)
        changed = read | "Change" >> beam.Map(bytes.upper)
        splitters = read | PlanRanges(4000, bytes.upper)
        return outputs_of(changed | SortLines(str(tmp_path), splitters), splitters)

    outcome = run_pipeline(build)
    assert lines_in(ranges_of(outcome)) == sorted({line.upper() for line in LINES})
    (splitters,) = outcome.elements["splitters"]
    assert len(splitters) > 5
    assert all(splitter == splitter.upper() for splitter in splitters)


def test_ranges_are_put_away_until_another_stage_is_done(tmp_path: Path) -> None:
    blocks = [(3, b"a\nb\n"), (0, b"\n")]
    stored = run_transform(StoreRanges(str(tmp_path)), blocks).elements["main"]
    assert sorted((one.index, one.lines, fetch(one.packed)) for one in stored) == [
        (0, 1, b"\n"),
        (3, 2, b"a\nb\n"),
    ]


@pytest.mark.parametrize("range_bytes", [0, -1])
def test_a_range_has_a_positive_size(range_bytes: int) -> None:
    with pytest.raises(ValueError, match="range_bytes"):
        PlanRanges(range_bytes)
