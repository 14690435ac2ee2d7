import bz2
import gzip
import io
import itertools
import lzma
from collections.abc import Iterable, Sequence
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.files import bz2_blocks, work_units
from corpusmill.transforms.files.work_units import (
    Damage,
    FileUnit,
    LineBlock,
    place_of,
    read_blocks,
)
from tests.makers.bz2_files import pack_stream

# Lines of all lengths, empty ones, several in a row, a line end at the end of a block or not.
texts = st.lists(st.sampled_from([b"\n", b"a", b"bc\n", b"de" * 20, b"\r\n"]), max_size=40).map(
    b"".join
)
cut_places = st.lists(st.floats(0, 1), max_size=6)
buffer_sizes = st.integers(1, 60)


def lines_of(text: bytes) -> list[bytes]:
    """The lines, which only a line feed ends."""
    return list(io.BytesIO(text))


def units_of(data: bytes, kind: str, cuts: Iterable[float]) -> list[FileUnit]:
    edges = [0, *sorted({int(cut * len(data)) for cut in cuts} - {0, len(data)}), len(data)]
    return [FileUnit("x", kind, start, end, len(data)) for start, end in itertools.pairwise(edges)]


Line = tuple[str, bytes]  # place, and the line with its line feed


def read(data: bytes, units: Sequence[FileUnit]) -> list[Line | Damage]:
    """All that the units give. None may tell of more bytes than it has."""
    found: list[Line | Damage] = []
    for unit in units:
        stored = 0
        for event in read_blocks(io.BytesIO(data), unit, block_bytes=50):
            if isinstance(event, LineBlock):
                stored += event.stored_bytes
                lines = lines_of(event.data)
                ends = itertools.accumulate(map(len, lines), initial=0)
                found += [
                    (place_of(event, at)[1], line) for at, line in zip(ends, lines, strict=False)
                ]
            elif isinstance(event, Damage):
                found.append(event)
        assert stored <= unit.end - unit.start
    return found


def lines_in(events: Iterable[Line | Damage]) -> list[bytes]:
    return [line for _, line in places_in(events)]


def places_in(events: Iterable[Line | Damage]) -> list[Line]:
    return [event for event in events if not isinstance(event, Damage)]


def damages_in(events: Iterable[Line | Damage]) -> list[Damage]:
    return [event for event in events if isinstance(event, Damage)]


def test_places() -> None:
    text = b"[\n{1},\n{2}\n]"
    assert places_in(read(text, units_of(text, "plain", [0.5]))) == [
        ("0", b"[\n"),
        ("2", b"{1},\n"),
        ("7", b"{2}\n"),
        ("11", b"]\n"),
    ]
    data = pack_stream([b"[\n{1", b"},\n", b"{2}\n]"])
    first, second, third = (mark // 8 for mark, is_end in bz2_blocks.find_marks(data) if not is_end)
    assert places_in(read(data, units_of(data, "bz2", [0.5]))) == [
        (f"{first}+0", b"[\n"),
        (f"{first}+2", b"{1},\n"),
        (f"{third}+0", b"{2}\n"),
        (f"{third}+4", b"]\n"),
    ]
    assert first == 4
    assert first < second < third


@settings(max_examples=300)
@given(
    st.lists(texts.filter(bool), min_size=1, max_size=8),
    st.floats(0, 1),
    st.integers(0, 7),
    cut_places,
)
def test_a_flipped_bit_costs_the_lines_that_touch_a_block(
    content: list[bytes], place: float, bit: int, cuts: list[float]
) -> None:
    whole = pack_stream(content)
    at = min(int(place * len(whole)), len(whole) - 1)
    damaged = bytearray(whole)
    damaged[at] ^= 1 << bit
    uncut = read(bytes(damaged), units_of(whole, "bz2", []))
    known = places_in(read(whole, units_of(whole, "bz2", [])))
    assert set(places_in(uncut)) <= set(known)
    events = read(bytes(damaged), units_of(whole, "bz2", cuts))
    assert places_in(events) == places_in(uncut)
    bad = {byte for damage in damages_in(events) for byte in range(damage.start, damage.end)}
    assert bad == {byte for damage in damages_in(uncut) for byte in range(damage.start, damage.end)}
    lost = set(known) - set(places_in(uncut))
    assert not lost or bad
    with mock.patch.object(work_units, "MAX_LINE_BYTES", 5):
        uncut = read(bytes(damaged), units_of(whole, "bz2", []))
        events = read(bytes(damaged), units_of(whole, "bz2", cuts))
    assert places_in(events) == places_in(uncut)


def test_damage_in_the_middle() -> None:
    data = pack_stream([b"one\ntw", b"o\nthree\nfo", b"ur\nfive\nsi", b"x\nseven\n"])
    marks = [mark // 8 for mark, _ in bz2_blocks.find_marks(data)]
    damaged = bytearray(data)
    damaged[marks[1] + 12] ^= 16
    for cuts in ([], [0.2, 0.4, 0.6, 0.8]):
        events = read(bytes(damaged), units_of(data, "bz2", cuts))
        assert lines_in(events) == [b"one\n", b"five\n", b"six\n", b"seven\n"]
        assert damages_in(events) == [Damage(marks[1], marks[2] + 1, "a damaged bz2 block")]


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
@pytest.mark.parametrize("stripes", [1, 3])
def test_a_whole_file_that_is_cut_off(compress: type, stripes: int) -> None:
    text = b"".join(b"%d\n" % number**5 for number in range(2000))
    data = compress(text)[:-2000]
    units = work_units.plan_units(io.BytesIO(data), "x", len(data), stripes)
    with mock.patch.object(work_units, "STRIPE_RUN_BYTES", 1000):
        of_stripes = [read(data, [unit]) for unit in units]
    lines = set(itertools.chain(*map(lines_in, of_stripes)))
    assert lines < set(lines_of(text))  # the cut line is not among them
    (damage,) = damages_in(of_stripes[0])
    assert damage.message.startswith("the compressed file is damaged or truncated: ")
    assert 0 <= damage.start - sum(map(len, lines)) < 30
    assert [damages_in(events) for events in of_stripes[1:]] == [[]] * (stripes - 1)


def test_a_bz2_file_that_is_cut_off() -> None:
    data = pack_stream([b"one\ntw", b"o\nthree\nfo", b"ur\n"])[:-15]
    for cuts in ([], [0.3, 0.6]):
        events = read(data, units_of(data, "bz2", cuts))
        assert lines_in(events) == [b"one\n", b"two\n", b"three\n"]
        (damage,) = damages_in(events)
        assert damage.message == "the file ends inside a bz2 block: was a download interrupted?"
        assert damage.end == len(data)


@pytest.mark.parametrize(
    ("file_bytes", "unit_bytes"),
    [
        (0, 0),
        (1, 1),
        (1 << 20, 1 << 20),
        (1 << 26, 1 << 20),
        (1 << 30, 1 << 24),
        (1 << 40, 1 << 26),
    ],
)
def test_units_of_large_files_are_large(file_bytes: int, unit_bytes: int) -> None:
    for head, kind in ((b"[\n", "plain"), (b"BZh91AY&SY", "bz2")):
        units = work_units.plan_units(io.BytesIO(head), "x", file_bytes, 7)
        assert {unit.kind for unit in units} == {kind}
        assert units[0].end == unit_bytes
        assert [unit.start for unit in units] == [0, *(unit.end for unit in units[:-1])]
        assert units[-1].end == file_bytes
        assert all(unit.end - unit.start == unit_bytes for unit in units[:-1])


@given(texts.filter(bool), st.floats(0, 0.999), cut_places, buffer_sizes)
def test_a_plain_file_that_has_become_shorter_is_damage(
    text: bytes, place: float, cuts: list[float], buffer_bytes: int
) -> None:
    shorter = text[: int(place * len(text))]
    units = units_of(text, "plain", cuts)
    with mock.patch.object(work_units, "READ_BYTES", buffer_bytes * 16):
        events = read(shorter, units)
    assert lines_in(events) == [line for line in lines_of(shorter) if line.endswith(b"\n")]
    message = "the file has become shorter since it was first read: it is being written or replaced"
    assert damages_in(events) == [
        Damage(max(unit.start, len(shorter)), unit.end, message)
        for unit in units
        if unit.end > len(shorter)
    ]


def test_a_whole_file_of_two_streams_with_padding() -> None:
    data = lzma.compress(b"one\ntw") + bytes(8) + lzma.compress(b"o\n")
    assert read(data, work_units.plan_units(io.BytesIO(data), "x", len(data), 1)) == [
        ("0", b"one\n"),
        ("4", b"two\n"),
    ]
    data = data.replace(bytes(8), b"?" * 8)
    events = read(data, work_units.plan_units(io.BytesIO(data), "x", len(data), 1))
    assert places_in(events) == [("0", b"one\n")]
    (damage,) = damages_in(events)
    assert damage.message.startswith("the compressed file is damaged or truncated: Input format")


def test_real_blocks() -> None:
    text = b"".join(b"%d\n" % (number**7) for number in range(100_000))
    data = bz2.compress(text, 1)
    cuts = [number / 50 for number in range(50)]
    events = read(data, units_of(data, "bz2", cuts))
    assert b"".join(lines_in(events)) == text
    assert len({place.split("+")[0] for place, _ in places_in(events)}) > 10
