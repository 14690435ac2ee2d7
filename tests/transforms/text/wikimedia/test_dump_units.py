import bz2
import gzip
import io
import itertools
from collections.abc import Iterable, Sequence
from unittest import mock

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.makers.compressed import COMPRESS
from tests.makers.dump_files import SamplePage, dump_header, page_xml
from transforms.text.wikimedia import dump_units
from transforms.text.wikimedia.dump_units import Damage, PageXml, WorkUnit
from transforms.text.wikimedia.mediawiki_xml import parse_page, parse_siteinfo

HEADER = dump_header("enwiki", "en", "Wikipedia", {0: "", 6: "File"}).encode()
CLOSING = b"</mediawiki>\n"


def make_pages(count: int, words: int = 6) -> list[bytes]:
    return [
        page_xml(
            SamplePage(
                number, 0, f"Стаття {number}", f"текст & {number} " * (words + number % 3), number
            )
        ).encode()
        for number in range(1, count + 1)
    ]


def element(page: bytes) -> bytes:
    return page.strip()


def pack_streams(pages: Sequence[bytes], per_stream: int) -> list[bytes]:
    """The streams of a multistream dump, as Wikimedia cuts them."""
    batches = (b"".join(pages[at : at + per_stream]) for at in range(0, len(pages), per_stream))
    return [bz2.compress(part) for part in (HEADER, *batches, CLOSING)]


def units_of(data: bytes, kind: str, cuts: Iterable[int]) -> list[WorkUnit]:
    """Units cut anywhere but in the last 64 bytes, where `plan_units` begins none."""
    edges = sorted({0, len(data), *(cut for cut in cuts if 0 < cut < len(data) - 64)})
    return [WorkUnit("x", kind, start, end, len(data)) for start, end in itertools.pairwise(edges)]


def read(data: bytes, unit: WorkUnit) -> list[PageXml | Damage]:
    return list(dump_units.read_unit(io.BytesIO(data), unit))


def pages_of(events: Iterable[PageXml | Damage]) -> list[bytes]:
    return [event.xml for event in events if isinstance(event, PageXml)]


def damages_of(events: Iterable[PageXml | Damage]) -> list[Damage]:
    return [event for event in events if isinstance(event, Damage)]


def read_multistream(data: bytes) -> list[PageXml | Damage]:
    return read(data, WorkUnit("x", "multistream", 0, len(data), len(data)))


PAGES = make_pages(12)
cut_places = st.lists(st.integers(0, 10**4), max_size=6)
buffer_sizes = st.integers(1, 300)


@given(st.integers(0, 12), cut_places, buffer_sizes)
def test_units_of_a_plain_dump_give_each_page_once_and_in_order(
    count: int, cuts: list[int], buffer_bytes: int
) -> None:
    data = HEADER + b"".join(PAGES[:count]) + CLOSING
    with (
        mock.patch.object(dump_units, "READ_BYTES", buffer_bytes),
        mock.patch.object(dump_units, "SCAN_BYTES", buffer_bytes + 9),
    ):
        events = [event for unit in units_of(data, "plain", cuts) for event in read(data, unit)]
    assert damages_of(events) == []
    assert pages_of(events) == [element(page) for page in PAGES[:count]]


@given(st.integers(0, 12), st.integers(1, 13), cut_places, buffer_sizes)
def test_units_of_a_multistream_dump_give_each_page_once_and_in_order(
    count: int, per_stream: int, cuts: list[int], buffer_bytes: int
) -> None:
    data = b"".join(pack_streams(PAGES[:count], per_stream))
    with (
        mock.patch.object(dump_units, "READ_BYTES", buffer_bytes),
        mock.patch.object(dump_units, "SCAN_BYTES", buffer_bytes),
    ):
        events = [
            event for unit in units_of(data, "multistream", cuts) for event in read(data, unit)
        ]
    assert damages_of(events) == []
    assert pages_of(events) == [element(page) for page in PAGES[:count]]


@given(
    st.lists(st.integers(0, 10**4), min_size=1, max_size=12),
    st.lists(st.floats(0, 1), max_size=6),
)
def test_pages_that_lie_across_streams_are_given_once_and_in_order(
    stream_cuts: list[int], unit_cuts: list[float]
) -> None:
    """A parallel bzip2 cuts the XML wherever a block is full."""
    xml = HEADER + b"".join(PAGES) + CLOSING
    before_closing = len(xml) - len(CLOSING)
    edges = [0, *sorted(cut % before_closing for cut in stream_cuts), len(xml)]
    data = b"".join(bz2.compress(xml[start:end]) for start, end in itertools.pairwise(edges))
    units = units_of(data, "multistream", (int(cut * len(data)) for cut in unit_cuts))
    events = [event for unit in units for event in read(data, unit)]
    assert damages_of(events) == []
    assert pages_of(events) == [element(page) for page in PAGES]


@given(
    st.sampled_from([".gz", ".xz", ".bz2"]),
    st.integers(0, 12),
    st.integers(1, 5),
    st.integers(1, 4),
)
def test_stripes_of_a_whole_file_give_each_page_once(
    suffix: str, count: int, stripes: int, run: int
) -> None:
    data = COMPRESS[suffix](HEADER + b"".join(PAGES[:count]) + CLOSING)
    path = f"x.xml{suffix}"
    with mock.patch.object(dump_units, "PAGES_PER_STRIPE_RUN", run):
        units = dump_units.plan_units(io.BytesIO(data), path, len(data), stripes)
        of_stripes = [read(data, unit) for unit in units]
    assert [unit.kind for unit in units] == ["whole"] * stripes
    for stripe, events in enumerate(of_stripes):
        assert damages_of(events) == []
        expected = [page for at, page in enumerate(PAGES[:count]) if at // run % stripes == stripe]
        assert pages_of(events) == [element(page) for page in expected]


@pytest.mark.parametrize(
    ("suffix", "kind"), [("", "plain"), (".gz", "whole"), (".xz", "whole"), (".bz2", "whole")]
)
def test_a_file_is_planned_by_its_content_not_its_name(suffix: str, kind: str) -> None:
    data = COMPRESS[suffix](HEADER + b"".join(PAGES) + CLOSING)
    units = dump_units.plan_units(io.BytesIO(data), "d/pages-articles.xml.bz2", len(data), 2)
    assert {unit.kind for unit in units} == {kind}
    assert len(units) == (2 if kind == "whole" else 1)


def test_a_bz2_file_of_several_streams_is_multistream() -> None:
    data = b"".join(pack_streams(PAGES, 5))
    with mock.patch.object(dump_units, "MIN_UNIT_BYTES", 100):
        units = dump_units.plan_units(io.BytesIO(data), "x.bz2", len(data), 7)
    assert {unit.kind for unit in units} == {"multistream"}
    assert [unit.start for unit in units] == list(range(0, len(data) - 64, 100))
    assert [unit.end for unit in units] == [*range(100, len(data) - 64, 100), len(data)]


@pytest.mark.parametrize("file_bytes", [*range(1, 400, 7), 1000, 1001, 1063, 1064, 1065])
def test_units_cover_a_file_and_the_last_one_holds_its_end(file_bytes: int) -> None:
    with mock.patch.object(dump_units, "MIN_UNIT_BYTES", 100):
        units = dump_units.plan_units(io.BytesIO(), "x.xml", file_bytes, 1)
    edges = [0, *(unit.end for unit in units)]
    assert [unit.start for unit in units] == edges[:-1]
    assert edges[-1] == file_bytes
    assert units[-1].end - units[-1].start >= min(64, file_bytes)


def test_an_empty_file_is_cut_off() -> None:
    (unit,) = dump_units.plan_units(io.BytesIO(), "x.xml", 0, 3)
    assert [damage.message for damage in damages_of(read(b"", unit))] == [
        "the file ends without </mediawiki>: it is cut off or still being written"
    ]


@given(st.binary(max_size=400), st.integers(1, 3))
def test_any_bytes_are_damage(data: bytes, stripes: int) -> None:
    assume(b"</mediawiki>" not in data)
    stored = (
        data,
        bz2.compress(data) + data,
        b"BZh91AY&SY" + data,
        gzip.compress(data)[:-4],
        b"\xfd7zXZ\x00" + data,
    )
    for content in stored:
        units = dump_units.plan_units(io.BytesIO(content), "x.xml", len(content), stripes)
        events = [event for unit in units for event in read(content, unit)]
        assert pages_of(events) == []
        assert damages_of(events)


@settings(max_examples=300)
@given(st.integers(1, 4), st.integers(0, 10**5), st.integers(1, 255), cut_places)
def test_a_damaged_stream_costs_only_its_own_pages(
    per_stream: int, place: int, flip: int, cuts: list[int]
) -> None:
    streams = pack_streams(PAGES, per_stream)
    whole = b"".join(streams)
    place %= len(whole)
    data = bytearray(whole)
    data[place] ^= flip
    ends = list(itertools.accumulate(map(len, streams)))
    damaged = next(number for number, end in enumerate(ends) if place < end)
    events = [
        event
        for unit in units_of(bytes(data), "multistream", cuts)
        for event in read(bytes(data), unit)
    ]
    first = max(damaged - 1, 0) * per_stream if damaged else 0
    lost = PAGES[first : first + per_stream] if 0 < damaged < len(streams) - 1 else []
    given_pages = pages_of(events)
    others = [element(page) for page in PAGES if page not in lost]
    assert [page for page in given_pages if page in others] == others
    assert set(given_pages) <= {element(page) for page in PAGES}
    for damage in damages_of(events):
        assert damage.start <= place < max(damage.end, damage.start + 1)


@settings(max_examples=300)
@given(st.sampled_from([*COMPRESS]), st.integers(0, 10**5))
def test_a_file_cut_anywhere_is_damaged_and_gives_whole_pages_only(suffix: str, cut: int) -> None:
    whole = COMPRESS[suffix](HEADER + b"".join(PAGES) + CLOSING)
    end_of_root = len(whole) - (not suffix)  # the line feed at the end may go
    data = whole[: cut % end_of_root]
    unit = WorkUnit(f"x{suffix}", "whole" if suffix else "plain", 0, len(data), len(data))
    events = read(data, unit)
    assert len(damages_of(events)) == 1
    given_pages = pages_of(events)
    assert given_pages == [element(page) for page in PAGES[: len(given_pages)]]
    (damage,) = damages_of(events)
    assert damage.last_page == (given_pages[-1] if given_pages else None)
    assert damage.salvaged == len(given_pages)


@given(st.integers(0, 10**5), st.integers(1, 12))
def test_a_multistream_file_cut_anywhere_is_damaged(cut: int, per_stream: int) -> None:
    streams = pack_streams(PAGES, per_stream)
    whole = b"".join(streams)
    data = whole[: cut % len(whole)]
    events = read_multistream(data)
    assert data == b"" or len(damages_of(events)) == 1
    assert pages_of(events) == [element(page) for page in PAGES[: len(pages_of(events))]]
    whole_streams = sum(end <= len(data) for end in itertools.accumulate(map(len, streams)))
    assert len(pages_of(events)) >= min(max(whole_streams - 1, 0) * per_stream, len(PAGES))


def test_damage_is_told_with_its_place() -> None:
    streams = pack_streams(PAGES, 3)
    starts = [0, *itertools.accumulate(map(len, streams))]
    body = bytearray(b"".join(streams))
    body[starts[2] + len(streams[2]) // 2] ^= 0xFF
    (damage,) = damages_of(read_multistream(bytes(body)))
    assert (damage.start, damage.end, damage.salvaged) == (starts[2], starts[3], 0)
    assert damage.message.startswith("bz2: ")
    assert damage.last_page == element(PAGES[2])


def test_garbage_between_streams() -> None:
    streams = pack_streams(PAGES, 3)
    start = len(streams[0]) + len(streams[1])
    data = b"".join((*streams[:2], b"\0" * 50, *streams[2:]))
    events = read_multistream(data)
    assert pages_of(events) == [element(page) for page in PAGES]
    message = "no bz2 stream begins where the one before it ended"
    assert damages_of(events) == [Damage(start, start + 50, message, 3, element(PAGES[2]))]


def test_a_stream_whose_header_is_damaged() -> None:
    streams = pack_streams(PAGES, 3)
    start = len(streams[0]) + len(streams[1])
    streams[2] = b"XX" + streams[2][2:]
    events = read_multistream(b"".join(streams))
    assert pages_of(events) == [element(page) for page in PAGES[:3] + PAGES[6:]]
    ((found, end, *_),) = damages_of(events)
    assert (found, end) == (start, start + len(streams[2]))


@pytest.mark.parametrize("content", [b"\0" * 100, b"<!DOCTYPE html><html>", HEADER + CLOSING])
def test_a_file_that_begins_with_no_stream(content: bytes) -> None:
    events = read_multistream(content)
    assert events == [Damage(0, len(content), "the file begins with no bz2 stream")]


def test_damage_at_the_start_belongs_to_the_first_unit_alone() -> None:
    data = b"\0" * 100 + b"".join(pack_streams(PAGES, 3))
    of_units = [read(data, unit) for unit in units_of(data, "multistream", [50, 99, 200])]
    assert [len(damages_of(events)) for events in of_units] == [1, 0, 0, 0]
    assert list(itertools.chain(*map(pages_of, of_units))) == [element(page) for page in PAGES]


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        (HEADER + PAGES[0] + PAGES[1][:-20], "the file ends inside a page"),
        (HEADER + PAGES[0] + PAGES[1], "the file ends without </mediawiki>"),
        (HEADER, "the file ends without </mediawiki>"),
        (HEADER + PAGES[0] + b"</mediaw", "the file ends without </mediawiki>"),
    ],
)
def test_a_file_that_ends_early(xml: bytes, message: str) -> None:
    for kind, data in (("plain", xml), ("multistream", bz2.compress(xml))):
        (damage,) = damages_of(read(data, WorkUnit("x", kind, 0, len(data), len(data))))
        assert damage.message == f"{message}: it is cut off or still being written"
        assert (damage.start, damage.end) == (len(data), len(data))


def test_stored_bytes_add_up_to_what_was_read() -> None:
    data = b"".join(pack_streams(PAGES, 3))
    events = read_multistream(data)
    last = len(data) - len(bz2.compress(CLOSING))
    assert sum(event.stored_bytes for event in events if isinstance(event, PageXml)) == last


@given(st.binary(max_size=60), st.integers(0, 80), st.integers(0, 80), st.integers(1, 20))
def test_streams_are_found_by_their_header(junk: bytes, start: int, limit: int, scan: int) -> None:
    data = junk + b"BZh91AY&SY" + junk + b"BZh5\x17rE8P\x90"
    with mock.patch.object(dump_units, "SCAN_BYTES", scan):
        found = dump_units.find_stream(io.BytesIO(data), start, limit)
    at = [place for place in (len(junk), 2 * len(junk) + 10) if start <= place < limit]
    assert found == (at[0] if at else None)


def test_the_last_page_before_an_offset_is_that_of_the_streams_before() -> None:
    streams = pack_streams(PAGES, 3)
    data = b"".join(streams)
    starts = [0, *itertools.accumulate(map(len, streams))]
    unit = WorkUnit("x", "multistream", starts[3], len(data), len(data))
    found = [dump_units.last_page_before(io.BytesIO(data), unit, start) for start in starts]
    assert found == [None, None, *(element(PAGES[at]) for at in (2, 5, 8, 11)), element(PAGES[11])]


def test_the_last_part_shows_whether_a_file_is_whole() -> None:
    streams = pack_streams(PAGES, 3)
    data = b"".join(streams)
    unit = WorkUnit("x", "multistream", 0, len(data), len(data))
    last = dump_units.last_part_of(io.BytesIO(data), unit)
    assert (last.start, last.end) == (len(data) - len(streams[-1]), len(data))
    assert read(data, last) == []
    cut = data[: -len(streams[-1])]
    last = dump_units.last_part_of(
        io.BytesIO(cut), unit._replace(end=len(cut), file_bytes=len(cut))
    )
    assert len(damages_of(read(cut, last))) == 1


@pytest.mark.parametrize(
    ("path", "index"),
    [
        (
            "gs://b/enwiki-20260101-pages-articles-multistream.xml.bz2",
            "gs://b/enwiki-20260101-pages-articles-multistream-index.txt.bz2",
        ),
        (
            "enwiki-20260101-pages-articles-multistream12.xml-p1p41242.bz2",
            "enwiki-20260101-pages-articles-multistream-index12.txt-p1p41242.bz2",
        ),
        ("enwiki-20260101-pages-articles.xml.bz2", None),
        ("multistream.xml.bz2", None),
    ],
)
def test_index_paths(path: str, index: str | None) -> None:
    assert dump_units.index_path_of(path) == index


def test_indexed_pages_are_counted_by_the_start_of_their_stream() -> None:
    lines = [b"100:1:A\n", b"100:2:B: c\n", b"250:3:C\n", b"900:4:D\n"]
    counted = [
        dump_units.count_indexed_pages(lines, start, end)
        for start, end in ((0, 100), (100, 250), (100, 251), (101, 900), (0, 10**9))
    ]
    assert counted == [0, 2, 3, 1, 4]


@pytest.mark.parametrize("suffix", COMPRESS)
def test_the_head_is_read_up_to_the_first_page(suffix: str) -> None:
    xml = HEADER + b"".join(make_pages(50, words=2000)) + CLOSING
    data = COMPRESS[suffix](xml)
    head = dump_units.read_head(io.BytesIO(data))
    assert xml.startswith(head)
    assert len(HEADER) < len(head) < len(xml)
    assert parse_siteinfo(head).dbname == "enwiki"


@pytest.mark.parametrize("content", [b"BZh91AY&SY\0\0\0\0", b"\x1f\x8b\0\0", b"\xfd7zXZ\0\0"])
def test_a_head_that_cannot_be_decompressed(content: bytes) -> None:
    with pytest.raises(ValueError, match="cannot be decompressed: "):
        dump_units.read_head(io.BytesIO(content))


def test_the_head_of_an_empty_file_is_empty() -> None:
    assert dump_units.read_head(io.BytesIO(b"")) == b""


def test_units_are_read_to_pages_that_parse() -> None:
    data = b"".join(pack_streams(PAGES, 4))
    assert [parse_page(xml).page_id for xml in pages_of(read_multistream(data))] == list(
        range(1, 13)
    )
