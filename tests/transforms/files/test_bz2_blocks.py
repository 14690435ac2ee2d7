import bz2
import io
import itertools
import random
from collections.abc import Iterable, Sequence
from unittest import mock

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from corpusmill.transforms.files import bz2_blocks
from corpusmill.transforms.files.bz2_blocks import (
    BadBlock,
    Block,
    decode_block,
    ends_whole,
    find_marks,
)
from tests.makers.bz2_files import BLOCK_MAGIC, END_MAGIC, content_that_maps_to, pack_stream

# In some of these, both kinds of mark occur that are none.
contents = st.one_of(
    st.binary(min_size=1, max_size=200),
    st.text("ab\n", min_size=1, max_size=300).map(str.encode),
    st.sampled_from([content_that_maps_to(BLOCK_MAGIC), content_that_maps_to(END_MAGIC)]),
)
streams = st.lists(st.lists(contents, max_size=6), min_size=1, max_size=3)
cut_places = st.lists(st.floats(0, 1), max_size=6)
scan_sizes = st.integers(1, 300)


def pack(content_of_streams: Sequence[Sequence[bytes]]) -> bytes:
    return b"".join(map(pack_stream, content_of_streams))


def read(data: bytes, start: int, end: int) -> list[Block | BadBlock]:
    """Reads the blocks that begin in a range, as the reader of a unit takes them."""
    found = bz2_blocks.read_blocks(io.BytesIO(data), start, end, len(data))
    return list(itertools.takewhile(lambda item: item.start_byte < end, found))


def read_parts(data: bytes, cuts: Iterable[float]) -> list[Block | BadBlock]:
    edges = [0, *sorted(int(cut * len(data)) for cut in cuts), len(data)]
    return [item for start, end in itertools.pairwise(edges) for item in read(data, start, end)]


def bad_stretches(items: Iterable[Block | BadBlock]) -> list[tuple[int, int]]:
    """Bits from and to, where a bad block that holds a mark of its own is one stretch."""
    stretches: list[tuple[int, int]] = []
    for item in items:
        if isinstance(item, BadBlock):
            joins = stretches and stretches[-1][1] == item.start
            start = stretches.pop()[0] if joins else item.start
            stretches.append((start, item.end))
    return stretches


@given(streams, cut_places, scan_sizes)
def test_parts_give_each_block_once_and_in_order(
    content_of_streams: list[list[bytes]], cuts: list[float], scan_bytes: int
) -> None:
    data = pack(content_of_streams)
    with mock.patch.object(bz2_blocks, "SCAN_BYTES", scan_bytes):
        found = read_parts(data, cuts)
    assert [item for item in found if isinstance(item, BadBlock)] == []
    assert [item.data for item in found if isinstance(item, Block)] == list(
        itertools.chain(*content_of_streams)
    )
    assert found == read_parts(data, [])


@pytest.mark.parametrize("magic", [BLOCK_MAGIC, END_MAGIC])
def test_a_magic_number_inside_a_block_is_passed_over_by_whoever_meets_it(magic: int) -> None:
    content = content_that_maps_to(magic)
    data = pack_stream([b"before\n", content, b"after\n"])
    marks = [bit for bit, is_end in find_marks(data)]
    blocks = read(data, 0, len(data))
    assert [item.data for item in blocks if isinstance(item, Block)] == [
        b"before\n",
        content,
        b"after\n",
    ]
    (false_mark,) = set(marks) - {item.start for item in blocks} - {marks[-1]}
    assert blocks[1].start < false_mark < blocks[1].end
    for start in range(blocks[1].start_byte + 1, false_mark // 8 + 1):
        assert read(data, start, false_mark // 8 + 1) == []
        assert read(data, start, len(data)) == blocks[2:]


@pytest.mark.parametrize("level", range(1, 10))
def test_blocks_of_every_size(level: int) -> None:
    chance = random.Random(level)
    text = b"".join(b"%d\n" % chance.randrange(10**6) for _ in range(level * 40_000))
    data = bz2.compress(text, level)
    found = read_parts(data, [0.2, 0.21, 0.5, 0.9])
    assert all(isinstance(item, Block) for item in found)
    assert len(found) >= 2
    assert b"".join(item.data for item in found if isinstance(item, Block)) == text


def test_a_block_of_much_content() -> None:
    text = b"a" * 50_000_000
    data = bz2.compress(text)
    found = [item for item in read(data, 0, len(data)) if isinstance(item, Block)]
    assert sum(len(item.data) for item in found) == len(text)
    assert max(len(item.data) for item in found) > 40_000_000


@pytest.mark.parametrize("shift", range(8))
def test_marks_at_every_bit(shift: int) -> None:
    bits = (BLOCK_MAGIC << 48 | END_MAGIC) << (8 - shift) | (1 << (8 - shift)) - 1
    data = b"\xff\xff" + (bits | ((1 << shift) - 1) << (104 - shift)).to_bytes(13, "big")
    expected = [(16 + shift, False), (64 + shift, True)]
    assert list(find_marks(data)) == expected
    assert list(find_marks(data, 2)) == expected
    assert list(find_marks(data, 3)) == expected[1:]
    whole = -(-(64 + shift + 48) // 8)
    assert list(find_marks(data[:whole])) == expected
    assert list(find_marks(data[: whole - 1])) == expected[:1]


def test_decode_block_takes_nothing_else() -> None:
    data = pack_stream([b"one", b"two"])
    first, second = read(data, 0, len(data))
    assert decode_block(data, first.start, first.end) == b"one"
    assert decode_block(data, second.start, second.end) == b"two"
    for start, end in [
        (first.start, second.end),
        (first.start, first.end - 1),
        (first.start, first.end + 1),
        (first.start + 1, first.end),
        (first.start, first.start),
        (second.end, len(data) * 8),
    ]:
        assert decode_block(data, start, end) is None


@settings(max_examples=300)
@given(st.lists(contents, min_size=1, max_size=6), st.floats(0, 1), st.integers(0, 7), cut_places)
def test_a_flipped_bit_costs_one_block_or_two(
    content: list[bytes], place: float, bit: int, cuts: list[float]
) -> None:
    whole = pack_stream(content)
    blocks = read(whole, 0, len(whole))
    at = min(int(place * len(whole)), len(whole) - 1)
    damaged = bytearray(whole)
    damaged[at] ^= 1 << bit
    found = read_parts(bytes(damaged), cuts)
    good = [item for item in found if isinstance(item, Block)]
    # A block with a damaged beginning hides the end of the one before it.
    assert set(good) <= set(blocks)
    assert len(good) >= len(blocks) - 2
    bad = bad_stretches(found)
    for block in set(blocks) - set(good):
        assert any(start <= block.start and block.end <= end for start, end in bad)
    uncut = read_parts(bytes(damaged), [])
    assert good == [item for item in uncut if isinstance(item, Block)]
    assert bad == bad_stretches(uncut)


@given(st.lists(contents, min_size=1, max_size=4), st.data(), cut_places)
def test_a_file_cut_off_says_so(
    content: list[bytes], draw: st.DataObject, cuts: list[float]
) -> None:
    whole = pack_stream(content)
    assume(len(list(find_marks(whole))) == len(content) + 1)  # a cut at a false end looks whole
    assert ends_whole(io.BytesIO(whole), len(whole))
    cut = draw.draw(st.integers(4, len(whole) - 1))
    data = whole[:cut]
    assert not ends_whole(io.BytesIO(data), cut)
    found = read_parts(data, cuts)
    blocks = read(whole, 0, len(whole))
    assert [item for item in found if isinstance(item, Block)] == [
        block for block in blocks[: len(found)] if block in found
    ]
    assert isinstance(found[-1], BadBlock)
    assert found[-1].end == cut * 8
    assert "ends inside" in found[-1].message or cut < 10


@pytest.mark.parametrize(
    ("data", "message", "start"),
    [
        (b"BZh9", "the file does not begin with a bz2 stream", 0),
        (b"BZh0" + pack_stream([b"a"])[4:], "the file does not begin with a bz2 stream", 0),
        (b"BZh9 1AY&SY", "the file does not begin with a bz2 stream", 0),
        (pack_stream([b"a"])[:-1], "the file ends inside a bz2 stream", 26),
        (
            pack_stream([b"a"])[:24],
            "the file ends inside a bz2 block: was a download interrupted?",
            4,
        ),
        (
            pack_stream([b"a"]) + b"\0" * 50,
            "no bz2 stream begins where the one before it ended",
            26,
        ),
    ],
)
def test_messages(data: bytes, message: str, start: int) -> None:
    bad = [item for item in read(data, 0, len(data)) if isinstance(item, BadBlock)]
    assert (bad[0].message, bad[0].start_byte) == (message, start)


@given(st.binary(max_size=300), st.binary(max_size=300), cut_places)
def test_junk_between_streams_is_bad(junk: bytes, tail: bytes, cuts: list[float]) -> None:
    assume(junk and not junk.startswith(b"BZh"))
    first, second = pack_stream([b"one\n"]), pack_stream([b"two\n"])
    found = read_parts(first + junk + second, cuts)
    good = [item.data for item in found if isinstance(item, Block)]
    assert good == [b"one\n", b"two\n"]
    assert [item.start_byte >= len(first) - 11 for item in found if isinstance(item, BadBlock)] == [
        True
    ]


@given(st.binary(max_size=400), cut_places)
def test_any_bytes_are_bad(data: bytes, cuts: list[float]) -> None:
    for stored in (
        b"-" + data,
        b"BZh9" + data,
        b"BZh91AY&SY" + data,
        b"BZh9\x17rE8P\x90" + data[:3],
    ):
        found = read_parts(stored, cuts)
        assert found
        assert all(isinstance(item, BadBlock) for item in found)


@pytest.mark.parametrize(
    ("data", "bit"),
    [
        (b"", None),
        (b"[\n{", None),
        (b"BZh0", None),
        (pack_stream([b"a"]), 32),
        (pack_stream([]), None),
        (pack_stream([]) * 2 + pack_stream([b"a"]), 28 * 8 + 32),
    ],
)
def test_first_block(data: bytes, bit: int | None) -> None:
    assert bz2_blocks.first_block_bit(io.BytesIO(data)) == bit


def test_a_stretch_without_marks_is_not_kept() -> None:
    head = pack_stream([b"one\n"])[:-12]
    data = head + b"\xaa" * (1 << 19) + pack_stream([b"two\n"])
    with (
        mock.patch.object(bz2_blocks, "SCAN_BYTES", 1 << 12),
        mock.patch.object(bz2_blocks, "MAX_BLOCK_BYTES", 1 << 14),
    ):
        found = read(data, 0, len(data))
    assert [(item.start_byte, getattr(item, "data", b"")) for item in found] == [
        (4, b""),
        (len(data) - len(pack_stream([b"two\n"])) + 4, b"two\n"),
    ]
