import random
from pathlib import Path

import pytest

from corpusmill.transforms.files.line_blocks import block_of, lines_of
from corpusmill.transforms.files.scratch import fetch
from corpusmill.transforms.news import shuffle
from corpusmill.transforms.news.sort_lines import SortLines, StoreRanges, run_bytes_for
from tests.tools.run_pipeline import Outcome, run_transform

LINES = [f"{number * 7919 % 1000:03} sentence {number % 400}".encode() for number in range(2000)]
ODD = [b"", b"\xff\xfe", b"\x00", b"a\r", b"a", "ß".encode(), b"Z", b"x" * 5000]


@pytest.fixture(autouse=True)
def every_line_may_be_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle, "ONE_LINE_IN", 1)


def sort(
    folder: Path, blocks: list[bytes], range_bytes: int = 4000, run_bytes: int = 1000
) -> Outcome:
    return run_transform(SortLines(str(folder), range_bytes, run_bytes), blocks)


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
    lines = LINES + ODD + LINES[:700]
    expected = ranges_of(sort(tmp_path, blocks_of(lines, 37)))
    random.Random(size).shuffle(lines)
    assert ranges_of(sort(tmp_path, blocks_of(lines, size), run_bytes=run_bytes)) == expected


def test_a_line_that_is_everywhere_is_there_once(tmp_path: Path) -> None:
    outcome = sort(tmp_path, [b"Reuter\n" * 1000] * 20)
    assert lines_in(ranges_of(outcome)) == [b"Reuter"]
    assert sum(outcome.elements["duplicates"]) == 19_999


def test_without_lines_there_is_no_range(tmp_path: Path) -> None:
    outcome = sort(tmp_path, [])
    assert (outcome.elements["ranges"], outcome.elements["splitters"]) == ([], [[]])
    assert sum(outcome.elements["duplicates"]) == 0


def test_ranges_are_put_away_until_another_stage_is_done(tmp_path: Path) -> None:
    blocks = [(3, b"a\nb\n"), (0, b"\n")]
    stored = run_transform(StoreRanges(str(tmp_path)), blocks).elements["main"]
    assert sorted((one.index, one.lines, fetch(one.packed)) for one in stored) == [
        (0, 1, b"\n"),
        (3, 2, b"a\nb\n"),
    ]


def test_runs_of_a_large_input_are_larger() -> None:
    sizes = [run_bytes_for(size) for size in (0, 10**6, 10**9, 10**10, 10**12)]
    assert sizes == [1 << 23, 1 << 23, 1 << 23, 10**10 // 256, 1 << 27]
