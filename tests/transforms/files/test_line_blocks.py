import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.transforms.files.line_blocks import (
    block_of,
    cut_block,
    lines_of,
    pack_block,
    unpack_block,
)

LINES = st.lists(st.binary(max_size=9).map(lambda line: line.replace(b"\n", b"")))


@pytest.mark.parametrize(
    ("lines", "block"),
    [
        ([], b""),
        ([b""], b"\n"),
        ([b"", b""], b"\n\n"),
        ([b"a", b"", b"b\r"], b"a\n\nb\r\n"),
        ([b"\xff\x00", "слово".encode()], b"\xff\x00\n" + "слово\n".encode()),
    ],
)
def test_a_block_has_a_line_feed_for_each_line(lines: list[bytes], block: bytes) -> None:
    assert block_of(lines) == block
    assert lines_of(block) == lines


@given(LINES)
def test_lines_come_back(lines: list[bytes]) -> None:
    block = block_of(lines)
    assert block.count(b"\n") == len(lines)
    assert lines_of(unpack_block(pack_block(block))) == lines


def test_packing_makes_text_smaller() -> None:
    block = b"The council met on Tuesday .\n" * 100
    assert len(pack_block(block)) < len(block) / 10


@given(
    st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b""))), st.integers(1, 40)
)
@example([], 1)
@example([b"", b"", b""], 1)
@example([b"a" * 9, b"b" * 10, b"c"], 10)
def test_a_block_is_cut_between_lines(lines: list[bytes], max_bytes: int) -> None:
    block = block_of(lines)
    parts = list(cut_block(block, max_bytes))
    assert b"".join(parts) == block
    for part in parts:
        assert part.endswith(b"\n")
        assert len(part) <= max_bytes or part.count(b"\n") == 1
    for one, two in itertools.pairwise(parts):  # no part could have one line more
        assert len(one) + two.index(b"\n") + 1 > max_bytes
