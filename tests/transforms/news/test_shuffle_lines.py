from pathlib import Path

from corpusmill.transforms.files.line_blocks import block_of, lines_of, pack_block
from corpusmill.transforms.files.records import LineRange, LineShard
from corpusmill.transforms.news.sort_lines import ShuffleLines
from tests.tools.run_pipeline import run_transform
from tests.transforms.news.test_shuffle import split_by_hand

LINES = [f"line {number:04}".encode() for number in range(3000)]


def range_of(index: int, lines: list[bytes]) -> LineRange:
    return LineRange(index, len(lines), pack_block(block_of(lines)))


def shuffle(
    folder: Path, ranges: list[LineRange], shards: int = 10, heldout: int = 5
) -> list[LineShard]:
    return sorted(
        run_transform(ShuffleLines(str(folder), shards, heldout), ranges).elements["main"]
    )


def test_the_shards_are_those_of_the_original(tmp_path: Path) -> None:
    ranges = [
        range_of(2, LINES[1700:]),
        range_of(0, LINES[:700]),
        range_of(1, LINES[700:1700]),
    ]
    shuffled = shuffle(tmp_path, ranges)
    expected = split_by_hand(LINES, 10)
    heldout = split_by_hand(expected[0], 5)
    assert [(one.series, one.shard, one.shards) for one in shuffled] == [
        *(("heldout", shard, 5) for shard in range(5)),
        *(("train", shard, 10) for shard in range(10)),
    ]
    assert [lines_of(one.block) for one in shuffled] == [*heldout, *expected]


def test_ranges_may_be_cut_anywhere_and_be_empty(tmp_path: Path) -> None:
    whole = shuffle(tmp_path, [range_of(0, LINES)])
    cut = shuffle(tmp_path, [range_of(4, LINES[1:]), range_of(1, []), range_of(2, LINES[:1])])
    assert cut == whole


def test_every_shard_is_there_also_without_lines(tmp_path: Path) -> None:
    shuffled = shuffle(tmp_path, [range_of(0, LINES[:2])], shards=4, heldout=3)
    assert len(shuffled) == 7
    assert sorted(line for one in shuffled[3:] for line in lines_of(one.block)) == LINES[:2]
    assert all(one.block == b"" for one in shuffle(tmp_path, [], shards=4, heldout=3))
