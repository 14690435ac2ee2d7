import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.line_blocks import block_of, lines_of
from corpusmill.transforms.news.shuffle import (
    deal_lines,
    first_ranks,
    join_piece,
    merge_pieces,
    split_piece,
    split_shard,
)

LINES = [f"line {number}".encode() for number in range(1234)]


def values(count: int) -> list[int]:
    """The generator of split-input-data.perl, step by step, on 64-bit integers with sign."""

    def wrap(number: int) -> int:
        return (number + (1 << 63)) % (1 << 64) - (1 << 63)

    x, y, z, w = 123456789, 362436069, 521288629, 0
    found = []
    for _ in range(count):
        t = wrap(x ^ wrap(x << 11))
        x, y, z = y, z, w
        w = (w ^ (w >> 19)) ^ (t ^ (t >> 8))
        found.append(w)
    return found


def split_by_hand(lines: list[bytes], shards: int) -> list[list[bytes]]:
    """Splits lines as split-input-data.perl does."""
    keyed = list(zip(values(len(lines)), lines, strict=True))
    return [
        [line for _, line in sorted(one for one in keyed if one[0] % shards == shard)]
        for shard in range(shards)
    ]


@pytest.mark.parametrize("shards", [1, 2, 7, 100])
@pytest.mark.parametrize("cuts", [[], [1], [400, 401, 1000]])
def test_shards_are_those_of_the_original_however_the_lines_are_cut(
    shards: int, cuts: list[int]
) -> None:
    pieces: dict[int, list[bytes]] = {shard: [] for shard in range(shards)}
    for start, end in zip([0, *cuts], [*cuts, len(LINES)], strict=True):
        for shard, piece in deal_lines(block_of(LINES[start:end]), start, shards):
            pieces[shard].insert(0, piece)
    merged = [lines_of(merge_pieces(pieces[shard])) for shard in range(shards)]
    assert merged == split_by_hand(LINES, shards)


def test_a_shard_is_split_with_a_generator_that_starts_anew() -> None:
    split = split_shard(block_of(LINES[::-1]), 50)
    assert [lines_of(block) for block in split] == split_by_hand(LINES[::-1], 50)


def test_a_shard_without_lines_is_split_into_empty_ones() -> None:
    assert split_shard(b"", 3) == [b"", b"", b""]


def test_nothing_is_dealt_out_of_nothing() -> None:
    assert list(deal_lines(b"", 17, 100)) == []


def test_equal_keys_go_by_the_bytes_of_the_lines() -> None:
    keys = np.array([5, 5, 3], dtype=np.int64)
    pieces = [join_piece(keys, b"b\nc\nz\n"), join_piece(keys[:1], b"a\n")]
    assert merge_pieces(pieces) == merge_pieces(pieces[::-1]) == b"z\na\nb\nc\n"


@given(st.lists(st.tuples(st.integers(0, 2**63 - 1), st.binary(max_size=3))))
def test_a_piece_comes_back(lines: list[tuple[int, bytes]]) -> None:
    keys = np.array([key for key, _ in lines], dtype=np.int64)
    block = block_of([line.replace(b"\n", b"") for _, line in lines])
    unpacked, same = split_piece(join_piece(keys, block))
    assert unpacked.tolist() == keys.tolist()
    assert same == block


@given(st.dictionaries(st.integers(0, 99), st.integers(0, 9)))
def test_the_first_rank_of_a_range_is_the_number_of_lines_before_it(counts: dict[int, int]) -> None:
    assert first_ranks(counts) == {
        index: sum(lines for other, lines in counts.items() if other < index) for index in counts
    }
