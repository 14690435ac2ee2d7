import random
from pathlib import Path

import pytest

from corpusmill.transforms.files.line_blocks import block_of, lines_of, pack_block
from corpusmill.transforms.files.records import LineRange, LineShard
from corpusmill.transforms.files.scratch import Scratch, fetch
from corpusmill.transforms.news import shuffle, sort_lines
from tests.tools.run_pipeline import Outcome, run_transform
from tests.transforms.news.test_shuffle import split_by_hand

LINES = [f"{number * 7919 % 1000:03} sentence {number % 400}".encode() for number in range(2000)]
ODD = [b"", b"\xff\xfe", b"\x00", b"a\r", b"a", "ß".encode(), b"Z", b"x" * 5000]


@pytest.fixture(autouse=True)
def every_line_may_be_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle, "ONE_LINE_IN", 1)


def sort(
    folder: Path, blocks: list[bytes], range_bytes: int = 4000, run_bytes: int = 1000
) -> Outcome:
    return run_transform(sort_lines.SortLines(str(folder), range_bytes, run_bytes), blocks)


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
    stored = [sort_lines.store_range(block, Scratch(str(tmp_path))) for block in blocks]
    assert sorted((one.index, one.lines, fetch(one.packed)) for one in stored) == [
        (0, 1, b"\n"),
        (3, 2, b"a\nb\n"),
    ]


def test_runs_of_a_large_input_are_larger() -> None:
    sizes = [sort_lines.run_bytes_for(size) for size in (0, 10**6, 10**9, 10**10, 10**12)]
    assert sizes == [1 << 23, 1 << 23, 1 << 23, 10**10 // 256, 1 << 27]


NUMBERED = [f"line {number:04}".encode() for number in range(3000)]


def range_of(index: int, lines: list[bytes]) -> LineRange:
    return LineRange(index, len(lines), pack_block(block_of(lines)))


def shuffle_ranges(
    folder: Path, ranges: list[LineRange], shards: int = 10, heldout: int = 5
) -> list[LineShard]:
    return sorted(
        run_transform(sort_lines.ShuffleLines(str(folder), shards, heldout), ranges).elements[
            "main"
        ]
    )


def test_the_shards_are_those_of_the_original(tmp_path: Path) -> None:
    ranges = [
        range_of(2, NUMBERED[1700:]),
        range_of(0, NUMBERED[:700]),
        range_of(1, NUMBERED[700:1700]),
    ]
    shuffled = shuffle_ranges(tmp_path, ranges)
    expected = split_by_hand(NUMBERED, 10)
    heldout = split_by_hand(expected[0], 5)
    assert [(one.series, one.shard, one.shards) for one in shuffled] == [
        *(("heldout", shard, 5) for shard in range(5)),
        *(("train", shard, 10) for shard in range(10)),
    ]
    assert [lines_of(one.block) for one in shuffled] == [*heldout, *expected]


def test_ranges_may_be_cut_anywhere_and_be_empty(tmp_path: Path) -> None:
    whole = shuffle_ranges(tmp_path, [range_of(0, NUMBERED)])
    cut = shuffle_ranges(
        tmp_path, [range_of(4, NUMBERED[1:]), range_of(1, []), range_of(2, NUMBERED[:1])]
    )
    assert cut == whole


def test_every_shard_is_there_also_without_lines(tmp_path: Path) -> None:
    shuffled = shuffle_ranges(tmp_path, [range_of(0, NUMBERED[:2])], shards=4, heldout=3)
    assert len(shuffled) == 7
    assert sorted(line for one in shuffled[3:] for line in lines_of(one.block)) == NUMBERED[:2]
    assert all(one.block == b"" for one in shuffle_ranges(tmp_path, [], shards=4, heldout=3))
