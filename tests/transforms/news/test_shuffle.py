import itertools
import random
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.files.line_blocks import block_of, line_bounds, lines_of
from corpusmill.transforms.news import shuffle

FIRST = [252931888752, 646528844437, 476712849328]


def signed(word: int) -> int:
    word %= 1 << 64
    return word - (1 << 64) if word >> 63 else word


def sequence() -> Iterator[int]:
    """The Perl script's generator, a step at a time."""
    x, y, z, w = 123456789, 362436069, 521288629, 0
    while True:
        t = signed(x ^ signed(x << 11))
        x, y, z = y, z, w
        w = (w ^ (w >> 19)) ^ (t ^ (t >> 8))
        yield w


def test_the_first_values_are_those_of_the_script() -> None:
    assert shuffle.values(0, 3).tolist() == FIRST


def test_values_are_those_of_the_sequence() -> None:
    expected = list(itertools.islice(sequence(), 100_000))
    found = shuffle.values(0, 100_000)
    assert found.dtype == np.int64
    assert found.tolist() == expected
    assert shuffle.values(70_001, 12_345).tolist() == expected[70_001:82_346]
    assert min(expected) >= 0


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 15, 16, 17, 255, 256, 257, 2000])
def test_every_count_gives_that_many(count: int) -> None:
    expected = list(itertools.islice(sequence(), 3 + count))[3:]
    assert shuffle.values(3, count).tolist() == expected


@settings(max_examples=50)
@given(st.integers(0, 1 << 62), st.integers(1, 3000), st.data())
def test_a_value_depends_on_its_rank_alone(start: int, count: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, count - 1))
    found = shuffle.values(start, count)
    assert len(found) == count
    assert (found >= 0).all()
    assert shuffle.values(start + place, 1)[0] == found[place]


@settings(max_examples=20)
@given(st.integers(0, 1 << 40), st.integers(0, 1 << 40))
def test_two_jumps_are_one(first: int, second: int) -> None:
    matrices = [shuffle._power(exponent) for exponent in range(second.bit_length())]
    state = shuffle._jump(first)
    for exponent, matrix in enumerate(matrices):
        if second >> exponent & 1:
            state = shuffle._multiply(state, matrix)
    assert (state == shuffle._jump(first + second)).all()


def test_far_values_do_not_change() -> None:
    # The value of rank 10**9 was made by stepping there, in C.
    assert shuffle.values(10**9, 1).tolist() == [125711651994435120]


def test_no_values() -> None:
    assert shuffle.values(5, 0).tolist() == []


@pytest.mark.parametrize(("start", "count"), [(-1, 1), (0, -1)])
def test_ranks_and_counts_are_not_negative(start: int, count: int) -> None:
    with pytest.raises(ValueError, match=f"start is {start}, count is {count}"):
        shuffle.values(start, count)


LINES = [f"line {number}".encode() for number in range(1234)]


def split_by_hand(lines: list[bytes], shards: int) -> list[list[bytes]]:
    """Splits lines as split-input-data.perl does."""
    keyed = list(zip(sequence(), lines, strict=False))
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
        for shard, piece in shuffle.deal_lines(block_of(LINES[start:end]), start, shards):
            pieces[shard].insert(0, piece)
    merged = [lines_of(shuffle.merge_pieces(pieces[shard])) for shard in range(shards)]
    assert merged == split_by_hand(LINES, shards)


def test_a_shard_is_split_with_a_generator_that_starts_anew() -> None:
    split = shuffle.split_shard(block_of(LINES[::-1]), 50)
    assert [lines_of(block) for block in split] == split_by_hand(LINES[::-1], 50)


def test_a_shard_without_lines_is_split_into_empty_ones() -> None:
    assert shuffle.split_shard(b"", 3) == [b"", b"", b""]


def test_nothing_is_dealt_out_of_nothing() -> None:
    assert list(shuffle.deal_lines(b"", 17, 100)) == []


def test_equal_keys_go_by_the_bytes_of_the_lines() -> None:
    keys = np.array([5, 5, 3], dtype=np.int64)
    pieces = [shuffle.join_piece(keys, b"b\nc\nz\n"), shuffle.join_piece(keys[:1], b"a\n")]
    assert shuffle.merge_pieces(pieces) == shuffle.merge_pieces(pieces[::-1]) == b"z\na\nb\nc\n"


@given(st.lists(st.tuples(st.integers(0, 2**63 - 1), st.binary(max_size=3))))
def test_a_piece_comes_back(lines: list[tuple[int, bytes]]) -> None:
    keys = np.array([key for key, _ in lines], dtype=np.int64)
    block = block_of([line.replace(b"\n", b"") for _, line in lines])
    unpacked, same = shuffle.split_piece(shuffle.join_piece(keys, block))
    assert unpacked.tolist() == keys.tolist()
    assert same == block


@given(st.dictionaries(st.integers(0, 99), st.integers(0, 9)))
def test_the_first_rank_of_a_range_is_the_number_of_lines_before_it(counts: dict[int, int]) -> None:
    assert shuffle.first_ranks(counts) == {
        index: sum(lines for other, lines in counts.items() if other < index) for index in counts
    }


LINE = st.binary(max_size=4).map(lambda line: line.replace(b"\n", b" "))
LISTS_OF_LINES = st.lists(LINE)


@pytest.fixture(autouse=True)
def every_line_may_be_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle, "ONE_LINE_IN", 1)


def sample_of(*blocks: bytes) -> shuffle.LineSample:
    sampler = shuffle.LineSampler()
    for block in blocks:
        sampler.add(block, len(block))
    return sampler.sample()


def numbered(count: int) -> list[bytes]:
    return [f"line {number}".encode() for number in range(count)]


@given(LISTS_OF_LINES)
def test_sorted_lines_are_those_of_sort_u_in_the_c_locale(lines: list[bytes]) -> None:
    assert shuffle.sort_block(block_of(lines)) == block_of(sorted(set(lines)))


@given(LISTS_OF_LINES, st.lists(LINE, unique=True).map(sorted))
def test_ranges_one_after_the_other_are_the_sorted_lines(
    lines: list[bytes], splitters: list[bytes]
) -> None:
    in_order = shuffle.sort_block(block_of(lines))
    cuts = list(shuffle.cut_sorted(in_order, splitters))
    assert b"".join(in_order[start:end] for _, start, end in cuts) == in_order
    parts = [(index, lines_of(in_order[start:end])) for index, start, end in cuts]
    assert all(part for _, part in parts)
    indices = [index for index, _ in parts]
    assert indices == sorted(set(indices))
    for index, part in parts:
        assert index == 0 or splitters[index - 1] <= part[0]
        assert index == len(splitters) or part[-1] < splitters[index]


def test_a_line_belongs_to_one_range_whatever_stands_beside_it() -> None:
    splitters = [b"b", b"bb", b"d"]
    lines = [b"", b"a", b"b", b"ba", b"bb", b"c", b"d", b"\xff"]
    found = [list(shuffle.cut_sorted(block_of([line]), splitters)) for line in lines]
    assert [index for [(index, _, _)] in found] == [0, 0, 1, 1, 2, 2, 3, 3]


def test_the_sample_depends_on_the_lines_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle, "SAMPLE_LINES", 50)
    lines = numbered(1000)
    whole = sample_of(block_of(lines))
    assert len(whole.lines) == 50
    assert whole.total_bytes == len(block_of(lines))
    random.Random(7).shuffle(lines)
    assert sample_of(*(block_of([line]) for line in lines)) == whole
    one, other = shuffle.LineSampler(), shuffle.LineSampler()
    for place, line in enumerate(lines):
        (one, other)[place % 3 == 0].add(block_of([line]), len(line) + 1)
    one.merge(other)
    assert one.sample() == whole


@given(st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b" "))))
def test_the_checksum_of_a_line_does_not_depend_on_its_neighbours(lines: list[bytes]) -> None:
    block = block_of(lines)
    together = shuffle.checksums_of(block, line_bounds(block)).tolist()
    alone = [
        shuffle.checksums_of(line + b"\n", line_bounds(line + b"\n")).tolist() for line in lines
    ]
    assert [[one] for one in together] == alone


def test_checksums_of_different_lines_differ() -> None:
    lines = [b"", b"\0", b"a", b"a\0", b"b", b"ab", *numbered(5000)]
    block = block_of(lines)
    checksums = shuffle.checksums_of(block, line_bounds(block))
    assert len(set(checksums.tolist())) == len(lines)
    spread = checksums[-4096:] // 2**60  # as if by chance: each sixteenth has its share
    assert min(Counter(spread.tolist()).values()) > 200


def test_one_line_in_so_many_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle, "ONE_LINE_IN", 64)
    lines = numbered(6400)
    assert 70 < len(sample_of(block_of(lines)).lines) < 130


def test_a_repeated_line_is_sampled_once_and_counted_each_time() -> None:
    sample = sample_of(b"a\na\nbc\n", b"a\n")
    assert sorted(sample.lines) == [b"a", b"bc"]
    assert sample.total_bytes == 9


def test_a_long_line_is_sampled_by_its_beginning() -> None:
    assert sample_of(b"x" * 100_000 + b"\n") == shuffle.LineSample((b"x" * 256,), 100_001)


def test_ranges_are_of_about_the_same_size() -> None:
    lines = [f"the {number % 977} of {number}".encode() for number in range(60_000)]
    block = block_of(lines)
    splitters = shuffle.plan_ranges(sample_of(block), len(block) // 12)
    assert len(splitters) == 12
    sizes = [
        end - start for _, start, end in shuffle.cut_sorted(shuffle.sort_block(block), splitters)
    ]
    assert len(sizes) == 13
    assert max(sizes) < 1.1 * len(block) / 13


@given(LISTS_OF_LINES, st.integers(1, 20))
def test_no_range_is_empty(lines: list[bytes], range_bytes: int) -> None:
    splitters = shuffle.plan_ranges(sample_of(block_of(lines)), range_bytes)
    assert splitters == sorted(set(splitters))
    ranges = [
        index for index, _, _ in shuffle.cut_sorted(shuffle.sort_block(block_of(lines)), splitters)
    ]
    assert ranges == (list(range(len(splitters) + 1)) if lines else [])


def test_there_is_a_limit_to_the_number_of_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle, "MAX_RANGES", 8)
    assert len(shuffle.plan_ranges(sample_of(block_of(numbered(1000))), 10)) == 7
