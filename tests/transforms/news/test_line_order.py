import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.line_blocks import block_of, line_bounds, lines_of
from corpusmill.transforms.news import shuffle
from corpusmill.transforms.news.shuffle import (
    LineSample,
    LineSampler,
    checksums_of,
    cut_sorted,
    plan_ranges,
    sort_block,
)

LINE = st.binary(max_size=4).map(lambda line: line.replace(b"\n", b" "))
LINES = st.lists(LINE)


@pytest.fixture(autouse=True)
def every_line_may_be_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle, "ONE_LINE_IN", 1)


def sample_of(*blocks: bytes) -> LineSample:
    sampler = LineSampler()
    for block in blocks:
        sampler.add(block, len(block))
    return sampler.sample()


def numbered(count: int) -> list[bytes]:
    return [f"line {number}".encode() for number in range(count)]


@given(LINES)
def test_sorted_lines_are_those_of_sort_u_in_the_c_locale(lines: list[bytes]) -> None:
    assert sort_block(block_of(lines)) == block_of(sorted(set(lines)))


@given(LINES, st.lists(LINE, unique=True).map(sorted))
def test_ranges_one_after_the_other_are_the_sorted_lines(
    lines: list[bytes], splitters: list[bytes]
) -> None:
    in_order = sort_block(block_of(lines))
    cuts = list(cut_sorted(in_order, splitters))
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
    range_of = {
        line: index
        for line in (b"", b"a", b"b", b"ba", b"bb", b"c", b"d", b"\xff")
        for index, _, _ in cut_sorted(block_of([line]), splitters)
    }
    assert range_of == {
        b"": 0,
        b"a": 0,
        b"b": 1,
        b"ba": 1,
        b"bb": 2,
        b"c": 2,
        b"d": 3,
        b"\xff": 3,
    }


def test_the_sample_depends_on_the_lines_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle, "SAMPLE_LINES", 50)
    lines = numbered(1000)
    whole = sample_of(block_of(lines))
    assert len(whole.lines) == 50
    assert whole.total_bytes == len(block_of(lines))
    random.Random(7).shuffle(lines)
    assert sample_of(*(block_of([line]) for line in lines)) == whole
    one, other = LineSampler(), LineSampler()
    for place, line in enumerate(lines):
        (one, other)[place % 3 == 0].add(block_of([line]), len(line) + 1)
    one.merge(other)
    assert one.sample() == whole


@given(st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b" "))))
def test_the_checksum_of_a_line_does_not_depend_on_its_neighbours(lines: list[bytes]) -> None:
    block = block_of(lines)
    together = checksums_of(block, line_bounds(block)).tolist()
    alone = [checksums_of(line + b"\n", line_bounds(line + b"\n")).tolist() for line in lines]
    assert [[one] for one in together] == alone


def test_checksums_of_different_lines_differ() -> None:
    lines = [b"", b"\0", b"a", b"a\0", b"b", b"ab", *numbered(5000)]
    block = block_of(lines)
    checksums = checksums_of(block, line_bounds(block))
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
    assert sample_of(b"x" * 100_000 + b"\n") == LineSample((b"x" * 256,), 100_001)


def test_ranges_are_of_about_the_same_size() -> None:
    lines = [f"the {number % 977} of {number}".encode() for number in range(60_000)]
    block = block_of(lines)
    splitters = plan_ranges(sample_of(block), len(block) // 12)
    assert len(splitters) == 12
    sizes = [end - start for _, start, end in cut_sorted(sort_block(block), splitters)]
    assert len(sizes) == 13
    assert max(sizes) < 1.1 * len(block) / 13


@given(LINES, st.integers(1, 20))
def test_no_range_is_empty(lines: list[bytes], range_bytes: int) -> None:
    splitters = plan_ranges(sample_of(block_of(lines)), range_bytes)
    assert splitters == sorted(set(splitters))
    ranges = [index for index, _, _ in cut_sorted(sort_block(block_of(lines)), splitters)]
    assert ranges == (list(range(len(splitters) + 1)) if lines else [])


def test_there_is_a_limit_to_the_number_of_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle, "MAX_RANGES", 8)
    assert len(plan_ranges(sample_of(block_of(numbered(1000))), 10)) == 7
