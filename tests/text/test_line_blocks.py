import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.text.line_blocks import block_of, lines_of, pack_block, unpack_block

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
