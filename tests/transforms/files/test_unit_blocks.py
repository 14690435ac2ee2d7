import bz2
import contextlib
import gzip
import io
import itertools
import lzma
import tarfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.files import bz2_blocks, work_units
from corpusmill.transforms.files.work_units import (
    Damage,
    FileUnit,
    LineBlock,
    NoMemberError,
    Span,
    Unterminated,
    place_of,
    plan_block_units,
    read_blocks,
    shares_of,
)
from tests.makers.bz2_files import pack_stream
from tests.makers.tar_files import FORMATS, pack_links, pack_tar
from tests.tools.case_tables import read_cases

Event = LineBlock | Unterminated | Damage
Placed = list[tuple[str, str, bytes]]  # member, place, line
PACK: tuple[Callable[[bytes], bytes], ...] = (bytes, gzip.compress, lzma.compress, bz2.compress)

# Lines of all lengths, empty ones, several in a row, a line end at the end of a block or not.
texts = st.lists(st.sampled_from([b"\n", b"a", b"bc\n", b"de" * 20, b"\r\n"]), max_size=40).map(
    b"".join
)
cut_places = st.lists(st.floats(0, 1), max_size=6)
sizes = st.integers(1, 60)


def lines_of(text: bytes) -> list[bytes]:
    """The lines, which only a line feed ends."""
    return list(io.BytesIO(text))


def units_of(data: bytes, kind: str, cuts: Iterable[float]) -> list[FileUnit]:
    edges = [0, *sorted({int(cut * len(data)) for cut in cuts} - {0, len(data)}), len(data)]
    return [FileUnit("x", kind, start, end, len(data)) for start, end in itertools.pairwise(edges)]


@contextlib.contextmanager
def buffers_of(size: int) -> Iterator[None]:
    """Lets everything be cut in small pieces."""
    with (
        mock.patch.object(work_units, "READ_BYTES", size * 16),
        mock.patch.object(work_units, "STRIPE_RUN_BYTES", size),
        mock.patch.object(bz2_blocks, "SCAN_BYTES", size),
    ):
        yield


def read_units(
    data: bytes, units: Sequence[FileUnit], block_bytes: int, members: Sequence[str] = ("*",)
) -> list[Event]:
    """All that the units give. Blocks are small, and none tells of more bytes than its unit has."""
    found: list[Event] = []
    for unit in units:
        events = list(read_blocks(io.BytesIO(data), unit, members, block_bytes))
        blocks = blocks_in(events)
        assert sum(block.stored_bytes for block in blocks) <= unit.end - unit.start
        for block in blocks:
            assert len(block.data) <= block_bytes or block.data.count(b"\n") < 2
            assert block.data.endswith(b"\n") or block.is_overlong
            assert block.spans[0].at == 0
        found += events
    return found


def blocks_in(events: Iterable[Event]) -> list[LineBlock]:
    return [event for event in events if isinstance(event, LineBlock)]


def placed_in(events: Iterable[Event]) -> Placed:
    placed = []
    for block in blocks_in(events):
        at = 0
        for line in lines_of(block.data):
            placed.append((*place_of(block, at), line))
            at += len(line)
    return placed


def unterminated_in(events: Iterable[Event]) -> list[str]:
    return [event.member for event in events if isinstance(event, Unterminated)]


def damages_in(events: Iterable[Event]) -> list[Damage]:
    return [event for event in events if isinstance(event, Damage)]


def placed_lines(text: bytes, member: str = "") -> Placed:
    """Returns the lines of a text with their places: the last line has a line feed, too."""
    lines = lines_of(text)
    offsets = itertools.accumulate(map(len, lines), initial=0)
    return [
        (member, str(offset), line.removesuffix(b"\n") + b"\n")
        for offset, line in zip(offsets, lines, strict=False)
    ]


def lacks_feed(text: bytes) -> bool:
    return bool(text) and not text.endswith(b"\n")


@settings(max_examples=300)
@given(texts, cut_places, sizes, sizes)
def test_units_of_a_plain_file_give_each_line_once_and_in_order(
    text: bytes, cuts: list[float], buffer_bytes: int, block_bytes: int
) -> None:
    with buffers_of(buffer_bytes):
        events = read_units(text, units_of(text, "plain", cuts) if text else [], block_bytes)
    assert placed_in(events) == placed_lines(text)
    assert unterminated_in(events) == [""] * lacks_feed(text)
    assert damages_in(events) == []


@settings(max_examples=300)
@given(
    st.lists(st.lists(texts.filter(bool), max_size=8), min_size=1, max_size=3),
    cut_places,
    sizes,
    sizes,
)
def test_units_of_a_bz2_file_give_each_line_once_and_in_order(
    content_of_streams: list[list[bytes]], cuts: list[float], buffer_bytes: int, block_bytes: int
) -> None:
    data = b"".join(map(pack_stream, content_of_streams))
    text = b"".join(itertools.chain(*content_of_streams))
    with buffers_of(buffer_bytes):
        events = read_units(data, units_of(data, "bz2", cuts), block_bytes)
    placed = placed_in(events)
    assert [line for _, _, line in placed] == [line for _, _, line in placed_lines(text)]
    assert placed == placed_in(read_units(data, units_of(data, "bz2", []), 1000))
    assert unterminated_in(events) == [""] * lacks_feed(text)
    assert damages_in(events) == []


@settings(max_examples=300)
@given(texts, st.sampled_from(PACK[1:3]), st.integers(1, 5), sizes, sizes)
def test_stripes_of_a_whole_file_give_each_line_once(
    text: bytes, compress: Callable[[bytes], bytes], stripes: int, run_bytes: int, block_bytes: int
) -> None:
    data = compress(text)
    units = plan_block_units(io.BytesIO(data), "x", len(data), stripes)
    assert [unit.kind for unit in units] == ["whole"] * stripes
    with buffers_of(run_bytes):
        events = read_units(data, units, block_bytes)
    assert sorted(placed_in(events), key=lambda found: int(found[1])) == placed_lines(text)
    assert unterminated_in(events) == [""] * lacks_feed(text)


files = st.lists(
    st.tuples(st.sampled_from(["a.en", "b.en", "c.de", "d/a.en"]), texts, st.sampled_from(PACK)),
    min_size=1,
    max_size=5,
    unique_by=lambda file: file[0],
)


@pytest.mark.slow
@settings(max_examples=300)
@given(files, st.sampled_from(FORMATS), st.sampled_from(PACK[1:]), st.integers(1, 5), sizes, sizes)
def test_stripes_of_an_archive_give_each_line_of_the_wanted_files_once(
    files: list[tuple[str, bytes, Callable[[bytes], bytes]]],
    tar_format: int,
    compress: Callable[[bytes], bytes],
    stripes: int,
    run_bytes: int,
    block_bytes: int,
) -> None:
    data = compress(pack_tar([(name, pack(text)) for name, text, pack in files], tar_format))
    units = plan_block_units(io.BytesIO(data), "x", len(data), stripes)
    assert [(unit.kind, unit.stripe, unit.stripes) for unit in units] == [
        ("tar", stripe, stripes) for stripe in range(stripes)
    ]
    wanted = [(name, text) for name, text, _ in files if name.endswith(".en")]
    with buffers_of(run_bytes):
        if not wanted:
            with pytest.raises(NoMemberError):
                read_units(data, units[-1:], block_bytes, ["*.de.gz", "*.en"])
            return
        events = read_units(data, units, block_bytes, ["*.de.gz", "*.en"])
    expected = itertools.chain(*(placed_lines(text, name) for name, text in wanted))
    assert sorted(placed_in(events)) == sorted(expected)
    assert sorted(unterminated_in(events)) == sorted(
        name for name, text in wanted if lacks_feed(text)
    )
    assert damages_in(events) == []


@settings(max_examples=300)
@given(
    st.lists(texts.filter(bool), min_size=1, max_size=8),
    st.floats(0, 1),
    st.integers(0, 7),
    cut_places,
    st.sampled_from([5, 10_000]),
    sizes,
)
def test_damage_costs_lines_of_its_blocks_however_the_file_is_cut(
    content: list[bytes],
    place: float,
    bit: int,
    cuts: list[float],
    max_line_bytes: int,
    block_bytes: int,
) -> None:
    whole = pack_stream(content)
    damaged = bytearray(whole)
    damaged[min(int(place * len(damaged)), len(damaged) - 1)] ^= 1 << bit
    data = bytes(damaged)
    known = set(placed_in(read_units(whole, units_of(whole, "bz2", []), 1000)))
    units = units_of(data, "bz2", cuts)
    with mock.patch.object(work_units, "MAX_LINE_BYTES", max_line_bytes):
        uncut = read_units(data, units_of(data, "bz2", []), 1000)
        events = read_units(data, units, block_bytes)
    assert placed_in(events) == placed_in(uncut)
    bad, of_uncut = (
        {byte for one in damages_in(found) for byte in range(one.start, one.end)}
        for found in (events, uncut)
    )
    assert bad == of_uncut
    if max_line_bytes > len(b"".join(content)):
        assert set(placed_in(uncut)) <= known
        assert bad or set(placed_in(uncut)) == known


@settings(max_examples=300)
@given(
    st.lists(st.integers(0, 30), max_size=10),
    cut_places,
    st.integers(1, 12),
    st.booleans(),
    sizes,
    st.integers(1, 4),
)
def test_overlong_lines_are_cut_and_come_alone(
    lengths: list[int],
    cuts: list[float],
    piece_bytes: int,
    ends: bool,
    block_bytes: int,
    stripes: int,
) -> None:
    text = b"\n".join(b"x" * length for length in lengths) + b"\n" * ends
    pieces = [text[at : at + piece_bytes] for at in range(0, len(text), piece_bytes)]
    expected = [(place, line[:9], len(line) > 9) for _, place, line in placed_lines(text)]
    packed = gzip.compress(text)
    with mock.patch.object(work_units, "MAX_LINE_BYTES", 9), buffers_of(piece_bytes):
        for kind, data, units in (
            ("bz2", pack_stream(pieces), units_of(pack_stream(pieces), "bz2", cuts)),
            ("plain", text, units_of(text, "plain", cuts) if text else []),
            ("whole", packed, plan_block_units(io.BytesIO(packed), "x", len(packed), stripes)),
        ):
            found = [
                (place, line, block.is_overlong)
                for block in blocks_in(read_units(data, units, block_bytes))
                for _, place, line in placed_in([block])
            ]
            if kind == "bz2":  # its places have a law of their own
                assert [rest for _, *rest in found] == [rest for _, *rest in expected]
            else:
                assert sorted(found) == sorted(expected)


def test_the_end_of_an_overlong_line_is_not_looked_for() -> None:
    """A file that is one line would else be read as often as it has units."""
    text = b"x" * 100_000
    stream = mock.Mock(wraps=io.BytesIO(text))
    with (
        mock.patch.object(work_units, "MAX_LINE_BYTES", 500),
        mock.patch.object(work_units, "READ_BYTES", 1600),
    ):
        (found,) = read_blocks(stream, FileUnit("x", "plain", 0, 100, len(text)))
        assert not list(read_blocks(stream, FileUnit("x", "plain", 100, 200, len(text))))
    assert isinstance(found, LineBlock)
    assert (len(found[0]), found.is_overlong) == (500, True)
    # 100 bytes of its own, then 100 at a time until the line is too long; 100 of the other unit's.
    assert stream.read.call_count == 6 + 1


def test_a_long_line_is_not_joined_over_and_over() -> None:
    """Its parts are joined at its end, and with every block before it."""
    text = b"short\n" + b"x" * 200_000 + b"\nlast\n"
    data = gzip.compress(text, 0)
    (unit,) = plan_block_units(io.BytesIO(data), "x", len(data), 1)
    join = work_units._BlockSplitter._join
    with (
        buffers_of(100),
        mock.patch.object(work_units._BlockSplitter, "_join", autospec=True) as joined,
    ):
        joined.side_effect = join
        events = read_units(data, [unit], 100)
    assert placed_in(events) == placed_lines(text)
    assert joined.call_count <= 6


def test_places_and_members() -> None:
    block = LineBlock(b"a\nbb\nc\nd\n", (Span(0, "m", -1, 70), Span(5, "n", 4, 8)), 0)
    places = [place_of(block, at) for at in (0, 2, 5, 7)]
    assert places == [("m", "70"), ("m", "72"), ("n", "4+8"), ("n", "4+10")]
    data = pack_stream([b"[\n{1", b"},\n", b"{2}\n]"])
    first, _, third = (mark // 8 for mark, is_end in bz2_blocks.find_marks(data) if not is_end)
    assert placed_in(read_units(data, units_of(data, "bz2", [0.5]), 50)) == [
        ("", f"{first}+0", b"[\n"),
        ("", f"{first}+2", b"{1},\n"),
        ("", f"{third}+0", b"{2}\n"),
        ("", f"{third}+4", b"]\n"),
    ]
    assert 4 == first < third


@pytest.mark.parametrize(
    ("following", "goes_on"),
    [
        (Span(30, "m", -1, 120), True),
        (Span(30, "m", -1, 121), False),  # runs of other stripes are between
        (Span(30, "n", -1, 120), False),
        (Span(30, "m", 77, 120), False),
    ],
)
def test_stretches_that_follow_each_other_are_one(following: Span, goes_on: bool) -> None:
    assert work_units._goes_on(Span(10, "m", -1, 100), following) == goes_on
    in_block = Span(10, "m", 50, 100)
    assert not work_units._goes_on(in_block, following)


def test_the_stripes_of_an_archive_have_equal_shares() -> None:
    """Also of files that are smaller than a run."""
    data = gzip.compress(pack_tar([(f"{number}", b"%05d\n" % number * 50) for number in range(80)]))
    with buffers_of(1000):
        shares = [
            sum(len(line) for _, _, line in placed_in(read_units(data, [unit], 2000)))
            for unit in plan_block_units(io.BytesIO(data), "x", len(data), 4)
        ]
    assert sum(shares) == 80 * 300
    assert all(abs(share - 6000) < 20 for share in shares)


def test_blocks_are_as_large_as_may_be() -> None:
    text = b"".join(b"%07d\n" % number for number in range(1000))
    for data, units in (
        (text, units_of(text, "plain", [])),
        (gzip.compress(text), [FileUnit("x", "whole", 0, 1, 1)]),
    ):
        with buffers_of(50):
            sizes = [
                len(block.data)
                for block in blocks_in(read_blocks(io.BytesIO(data), units[0], ["*"], 1000))
            ]
        assert sizes == [1000] * 8
    stripes = [FileUnit("x", "whole", 0, 1, 1, stripe, 4) for stripe in range(4)]
    data = gzip.compress(text)
    with buffers_of(50):
        for unit in stripes:  # gathered out of runs of 50 bytes
            blocks = blocks_in(read_blocks(io.BytesIO(data), unit, ["*"], 1000))
            assert len(blocks) in (2, 3)
            assert len(blocks[0].data) == 1000
            assert len(blocks[0].spans) >= 1000 // 56


def test_an_empty_file_has_no_lines() -> None:
    (unit,) = plan_block_units(io.BytesIO(), "x", 0, 3)
    assert read_units(b"", [unit], 10) == []


NEWS = [
    ("news.2007", b"".join(b"%d\n" % number**5 for number in range(3000))),
    ("other", b"x\n" * 1000),
    ("news.2008", b"".join(b"%d\n" % number**7 for number in range(3000))),
]


def pack_blocks(content: bytes) -> bytes:
    return pack_stream([content[at : at + 5000] for at in range(0, len(content), 5000)])


@pytest.mark.parametrize(
    ("content", "compress", "kind"),
    [
        *((pack_tar(NEWS), compress, "tar") for compress in (*PACK[:3], pack_blocks)),
        *((NEWS[0][1], compress, "whole") for compress in PACK[1:3]),
        (NEWS[0][1], pack_blocks, "bz2"),
    ],
)
@pytest.mark.parametrize("stripes", [1, 3])
def test_a_file_or_an_archive_that_is_cut_off(
    content: bytes, compress: Callable[[bytes], bytes], kind: str, stripes: int
) -> None:
    data = compress(content)
    data = data[: len(data) * 2 // 3] if compress is not bytes else content[:-30_000]
    units = plan_block_units(io.BytesIO(data), "x", len(data), stripes)
    assert [unit.kind for unit in units] == [kind] * (1 if kind == "bz2" else stripes)
    with buffers_of(1000):
        of_stripes = [read_units(data, [unit], 5000, ["news*"]) for unit in units]
    placed = list(itertools.chain(*map(placed_in, of_stripes)))
    known = [*placed_lines(NEWS[0][1], "news.2007"), *placed_lines(NEWS[2][1], "news.2008")]
    if kind != "tar":
        known = placed_in(read_units(compress(content), units_of(compress(content), kind, []), 50))
    assert len(placed) == len(set(placed))
    assert set(placed) < set(known)
    assert set(placed) == set(known[: len(placed)])  # the line that is cut off is not among them
    (damage,) = damages_in(of_stripes[0])
    assert ("inside a bz2 block" if kind == "bz2" else "truncated") in damage.message
    if kind == "bz2":
        assert damage.end == len(data)
    else:
        assert damage.start == damage.end
        assert 0 < damage.start < len(content)
    if kind == "whole":
        assert 0 <= damage.start - sum(len(line) for _, _, line in placed) < 30
    assert [damages_in(events) for events in of_stripes[1:]] == [[]] * (len(units) - 1)
    assert [unterminated_in(events) for events in of_stripes] == [[]] * len(units)


@pytest.mark.parametrize("stripes", [1, 3])
def test_of_a_damaged_member_the_others_are_read(stripes: int) -> None:
    cut = gzip.compress(NEWS[0][1])[:-5000]
    packed = pack_tar([("news.2007.gz", cut), ("news.2008", NEWS[2][1])])
    data = gzip.compress(packed)
    units = plan_block_units(io.BytesIO(data), "x", len(data), stripes)
    with buffers_of(1000):
        of_stripes = [read_units(data, [unit], 5000) for unit in units]
    placed = list(itertools.chain(*map(placed_in, of_stripes)))
    first = [found for found in placed if found[0] == "news.2007.gz"]
    known = placed_lines(NEWS[0][1], "news.2007.gz")
    assert sorted(placed) == sorted(known[: len(first)] + placed_lines(NEWS[2][1], "news.2008"))
    assert 0 < len(first) < len(known)
    (damage,) = damages_in(of_stripes[0])
    assert (damage.start, damage.end) == (1024, 1024 + len(cut))
    assert damage.message.startswith("news.2007.gz is damaged or truncated at byte ")
    assert [damages_in(events) for events in of_stripes[1:]] == [[]] * (stripes - 1)


@pytest.mark.parametrize("pack", [lzma.compress, bz2.compress])
def test_of_a_member_no_stream_is_lost_without_a_word(pack: Callable[[bytes], bytes]) -> None:
    first, second = pack(b"one\n"), bytearray(pack(b"two\n"))
    second[1] ^= 255
    data = gzip.compress(pack_tar([("a", first + bytes(second)), ("b", b"three\n")]))
    events = read_units(data, plan_block_units(io.BytesIO(data), "x", len(data), 1), 50)
    assert [line for _, _, line in placed_in(events)] == [b"one\n", b"three\n"]
    (damage,) = damages_in(events)
    assert damage.message.startswith("a is damaged or truncated at byte 4 of its text: ")


@pytest.mark.parametrize("stripes", [1, 3])
def test_a_wanted_link_is_damage_unless_its_file_is_read(stripes: int) -> None:
    files = [("t/a.en", b"one\ntwo"), ("t/b.de", b"drei\n")]
    links = [
        ("t/again.en", tarfile.LNKTYPE, "t/a.en"),
        ("t/c.de", tarfile.LNKTYPE, "t/gone"),
        ("t/d.en", tarfile.LNKTYPE, "t/b.de"),
        ("t/e.en", tarfile.SYMTYPE, "a.en"),
    ]
    packed = pack_links(files, links)
    data = gzip.compress(packed)
    units = plan_block_units(io.BytesIO(data), "x", len(data), stripes)
    events = read_units(data, units, 50, ["*.en"])
    assert placed_in(events) == placed_lines(b"one\ntwo", "t/a.en")
    assert unterminated_in(events) == ["t/a.en"]
    place = packed.index(b"t/d.en") + 512
    rest = "such an archive has to be unpacked first"
    assert damages_in(events) == [
        Damage(place, place, f"t/d.en is a link to t/b.de: {rest}"),
        Damage(place + 512, place + 512, f"t/e.en is a link to a.en: {rest}"),
    ]


@settings(max_examples=300)
@given(texts.filter(bool), st.floats(0, 0.999), cut_places, sizes, sizes)
def test_a_plain_file_that_has_become_shorter_is_damage(
    text: bytes, place: float, cuts: list[float], buffer_bytes: int, block_bytes: int
) -> None:
    shorter = text[: int(place * len(text))]
    units = units_of(text, "plain", cuts)
    with buffers_of(buffer_bytes):
        events = read_units(shorter, units, block_bytes)
    assert placed_in(events) == placed_lines(shorter[: shorter.rfind(b"\n") + 1])
    assert unterminated_in(events) == []
    assert [(damage.start, damage.end) for damage in damages_in(events)] == [
        (max(unit.start, len(shorter)), unit.end) for unit in units if unit.end > len(shorter)
    ]
    assert {damage.message for damage in damages_in(events)} == {work_units.SHORTER}


def test_what_is_planned() -> None:
    """Kinds are told by content; a head that cannot be decompressed is its reader's affair."""
    packed = pack_tar(NEWS)
    for data, kind in (
        (b"one\n", "plain"),
        (b"BZhello there\n", "plain"),
        (packed, "tar"),
        (bz2.compress(packed), "tar"),
        (gzip.compress(packed), "tar"),
        (gzip.compress(packed)[:40], "whole"),
        (gzip.compress(b"one\n" * 1000), "whole"),
        (bz2.compress(b"one\n" * 1000), "bz2"),
        (b"BZh9" + bytes(1000), "bz2"),
    ):
        stream = io.BytesIO(data)
        units = plan_block_units(stream, "x", len(data), 2)
        assert [unit.kind for unit in units] == [kind] * (2 if kind in ("tar", "whole") else 1)
        assert {(unit.path, unit.start, unit.end) for unit in units} == {("x", 0, len(data))}


@pytest.mark.parametrize(
    ("megabytes", "workers", "shares"), read_cases("files/unit_blocks", "shares")
)
def test_shares(megabytes: list[float], workers: int, shares: list[int]) -> None:
    assert shares_of([int(size * (1 << 20)) for size in megabytes], workers) == shares


@given(st.lists(st.integers(0, 1 << 40), max_size=8), st.integers(1, 100))
def test_no_share_is_too_small_and_all_have_work(stored_bytes: list[int], workers: int) -> None:
    shares = shares_of(stored_bytes, workers)
    assert all(1 <= share <= workers for share in shares)
    # Of what is decompressed twice there is no more than a file for each worker.
    assert sum(shares) <= workers + len(stored_bytes)
    if stored_bytes and min(stored_bytes) > workers << 20:
        assert sum(shares) >= workers


@pytest.mark.parametrize(
    ("file_bytes", "unit_bytes"), read_cases("files/unit_blocks", "units_of_large_files_are_large")
)
def test_units_of_large_files_are_large(file_bytes: int, unit_bytes: int) -> None:
    for head, kind in ((b"[\n", "plain"), (b"BZh91AY&SY", "bz2")):
        units = work_units.plan_units(io.BytesIO(head), "x", file_bytes, 7)
        assert {unit.kind for unit in units} == {kind}
        assert units[0].end == unit_bytes
        assert [unit.start for unit in units] == [0, *(unit.end for unit in units[:-1])]
        assert units[-1].end == file_bytes
        assert all(unit.end - unit.start == unit_bytes for unit in units[:-1])


def test_lines_of_real_blocks() -> None:
    text = b"".join(b"%d\n" % (number**7) for number in range(100_000))
    data = bz2.compress(text, 1)
    placed = placed_in(read_units(data, units_of(data, "bz2", (n / 50 for n in range(50))), 5000))
    assert b"".join(line for _, _, line in placed) == text
    assert len({place.split("+")[0] for _, place, _ in placed}) > 10
