import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files import line_blocks

LINES = st.lists(
    st.binary(max_size=3).map(lambda line: line.replace(b"\n", b"\t"))
    | st.text("\x0b \x7fab\xe9", max_size=3).map(str.encode)
)


@given(LINES)
def test_lines_are_cut_at_their_line_feeds(lines: list[bytes]) -> None:
    block = line_blocks.block_of(lines)
    bounds = line_blocks.line_bounds(block).tolist()
    assert [block[a:b] for a, b in itertools.pairwise(bounds)] == [line + b"\n" for line in lines]
    feed = b"\n" if block and min(block) >= ord("\n") else b""
    assert line_blocks.to_array(block, line_blocks.line_bounds(block)).to_pylist() == [
        line + feed for line in lines
    ]


@given(LINES)
def test_lines_are_taken_in_any_order(lines: list[bytes]) -> None:
    places = np.arange(len(lines))[::-2].copy()
    taken = line_blocks.take_lines(line_blocks.block_of(lines), places)
    assert line_blocks.lines_of(taken) == [lines[place] for place in places]


@given(LINES)
def test_different_lines_are_sorted_by_their_bytes(lines: list[bytes]) -> None:
    block = line_blocks.block_of(lines)
    places = line_blocks.sort_places(line_blocks.to_array(block, line_blocks.line_bounds(block)))
    assert [lines[place] for place in places] == sorted(set(lines))
    assert all(lines.index(lines[place]) == place for place in places)


def test_a_line_feed_is_no_part_of_a_line_that_is_sorted() -> None:
    block = b"a b\na\na\tb\na\x00\n"
    places = line_blocks.sort_places(line_blocks.to_array(block, line_blocks.line_bounds(block)))
    assert line_blocks.take_lines(block, places) == b"a\na\x00\na\tb\na b\n"
