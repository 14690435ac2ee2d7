import bz2
import gzip
import io
import itertools
from collections.abc import Iterable, Sequence
from unittest import mock

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from corpusmill.transforms.files import bz2_blocks, work_units
from corpusmill.transforms.files.work_units import FileUnit
from corpusmill.transforms.wikipedia import mediawiki_xml
from corpusmill.transforms.wikipedia.mediawiki_xml import (
    Damage,
    PageXml,
    parse_siteinfo,
)
from tests.makers.bz2_files import pack_stream
from tests.makers.compressed import COMPRESS
from tests.makers.dump_files import SamplePage, dump_header, page_xml
from tests.tools.case_tables import read_cases

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


def units_of(data: bytes, kind: str, cuts: Iterable[int]) -> list[FileUnit]:
    """Units cut anywhere but in the last 64 bytes, where `plan_units` begins none."""
    edges = sorted({0, len(data), *(cut for cut in cuts if 0 < cut < len(data) - 64)})
    return [FileUnit("x", kind, start, end, len(data)) for start, end in itertools.pairwise(edges)]


def read(data: bytes, unit: FileUnit) -> list[PageXml | Damage]:
    return list(mediawiki_xml.read_unit(io.BytesIO(data), unit))


def read_units(data: bytes, units: Sequence[FileUnit]) -> list[list[PageXml | Damage]]:
    """The events of each unit: the same with the borders opened before as without.

    But for the last page before damage, which either of them may have seen.
    """
    of_units = [read(data, unit) for unit in units]
    opened = [read(data, unit) for unit in open_borders(data, units)]
    assert [without_last_pages(events) for events in opened] == [
        without_last_pages(events) for events in of_units
    ]
    return of_units


def without_last_pages(events: Iterable[PageXml | Damage]) -> list[PageXml | Damage]:
    return [one._replace(last_page=None) if isinstance(one, Damage) else one for one in events]


def open_borders(data: bytes, units: Sequence[FileUnit]) -> list[FileUnit]:
    opened = [mediawiki_xml.open_border(io.BytesIO(data), unit) for unit in units]
    borders = [border for _, border in opened[1:]]
    return [
        unit._replace(known=(*unit.known, *([border] if border else [])))
        for (unit, _), border in zip(opened, [*borders, None], strict=True)
    ]


def read_all(data: bytes, units: Sequence[FileUnit]) -> list[PageXml | Damage]:
    return [event for events in read_units(data, units) for event in events]


def pages_of(events: Iterable[PageXml | Damage]) -> list[bytes]:
    return [event.xml for event in events if isinstance(event, PageXml)]


def damages_of(events: Iterable[PageXml | Damage]) -> list[Damage]:
    return [event for event in events if isinstance(event, Damage)]


def read_multistream(data: bytes) -> list[PageXml | Damage]:
    return read(data, FileUnit("x", "bz2", 0, len(data), len(data)))


PAGES = make_pages(12)
cut_places = st.lists(st.integers(0, 10**4), max_size=6)
buffer_sizes = st.integers(1, 300)


@given(st.integers(0, 12), cut_places, buffer_sizes)
def test_units_of_a_plain_dump_give_each_page_once_and_in_order(
    count: int, cuts: list[int], buffer_bytes: int
) -> None:
    data = HEADER + b"".join(PAGES[:count]) + CLOSING
    with (
        mock.patch.object(work_units, "READ_BYTES", buffer_bytes * 16),
    ):
        events = read_all(data, units_of(data, "plain", cuts))
    assert damages_of(events) == []
    assert pages_of(events) == [element(page) for page in PAGES[:count]]


def pack_blocks(xml: bytes, cuts: Iterable[int]) -> bytes:
    """One stream, whose blocks end anywhere."""
    edges = [0, *sorted({cut % len(xml) for cut in cuts} - {0}), len(xml)]
    return pack_stream([xml[start:end] for start, end in itertools.pairwise(edges)])


@pytest.mark.parametrize("is_one_stream", [True, False])
@given(
    block_cuts=st.lists(st.integers(0, 10**4), min_size=1, max_size=12),
    unit_cuts=st.lists(st.floats(0, 1), max_size=6),
)
def test_pages_that_lie_across_blocks_are_given_once_and_in_order(
    is_one_stream: bool, block_cuts: list[int], unit_cuts: list[float]
) -> None:
    """A parallel bzip2 ends a stream, and any bzip2 a block, wherever it is full."""
    xml = HEADER + b"".join(PAGES) + CLOSING
    if is_one_stream:
        data = pack_blocks(xml, block_cuts)
    else:
        edges = [0, *sorted(cut % len(xml) for cut in block_cuts), len(xml)]
        data = b"".join(bz2.compress(xml[start:end]) for start, end in itertools.pairwise(edges))
    units = units_of(data, "bz2", (int(cut * len(data)) for cut in unit_cuts))
    events = read_all(data, units)
    assert damages_of(events) == []
    assert pages_of(events) == [element(page) for page in PAGES]


@pytest.mark.parametrize("at", range(len("<page>") + 1))
def test_a_tag_across_two_blocks_of_two_units(at: int) -> None:
    xml = HEADER + b"".join(PAGES) + CLOSING
    edge = xml.index(PAGES[5]) + PAGES[5].index(b"<page>") + at
    data = pack_blocks(xml, [edge])
    second = [bit // 8 for bit, is_end in bz2_blocks.find_marks(data) if not is_end][1]
    of_units = [pages_of(events) for events in read_units(data, units_of(data, "bz2", [second]))]
    begun = 6 if at else 5
    assert of_units == [[*map(element, PAGES[:begun])], [*map(element, PAGES[begun:])]]


@example([5, 68, 103, 775, 1357], 566 - 14, [428])  # ends after the mark and checksum of a block
@given(st.lists(st.integers(0, 10**4), max_size=12), st.integers(0, 10**4), cut_places)
def test_a_single_stream_cut_off_or_unfinished_is_damage_of_one_unit(
    block_cuts: list[int], cut: int, unit_cuts: list[int]
) -> None:
    xml = HEADER + b"".join(PAGES) + CLOSING
    unfinished = pack_blocks(xml[: cut % (len(xml) - 1)] or b" ", block_cuts)
    whole = pack_blocks(xml, block_cuts)
    for data in (unfinished, whole[: 14 + cut % (len(whole) - 14)]):
        events = read_all(data, units_of(data, "bz2", unit_cuts))
        assert len(damages_of(events)) == 1
        pages = pages_of(events)
        assert pages == [element(page) for page in PAGES[: len(pages)]]


@given(
    st.sampled_from([".gz", ".xz"]),
    st.integers(0, 12),
    st.integers(1, 5),
    st.integers(1, 900),
)
def test_stripes_of_a_whole_file_give_each_page_once(
    suffix: str, count: int, stripes: int, run_bytes: int
) -> None:
    xml = HEADER + b"".join(PAGES[:count]) + CLOSING
    data = COMPRESS[suffix](xml)
    with mock.patch.object(work_units, "STRIPE_RUN_BYTES", run_bytes):
        units = work_units.plan_units(io.BytesIO(data), f"x.xml{suffix}", len(data), stripes)
        of_stripes = [read(data, unit) for unit in units]
    assert [unit.kind for unit in units] == ["whole"] * stripes
    for stripe, events in enumerate(of_stripes):
        assert damages_of(events) == []
        starts = [(xml.index(element(page)), page) for page in PAGES[:count]]
        expected = [page for at, page in starts if at // run_bytes % stripes == stripe]
        assert pages_of(events) == [element(page) for page in expected]


@pytest.mark.parametrize(
    ("suffix", "kind"), [("", "plain"), (".gz", "whole"), (".xz", "whole"), (".bz2", "bz2")]
)
def test_a_file_is_planned_by_its_content_not_its_name(suffix: str, kind: str) -> None:
    data = COMPRESS[suffix](HEADER + b"".join(PAGES) + CLOSING)
    units = work_units.plan_units(io.BytesIO(data), "d/pages-articles.xml.bz2", len(data), 2)
    assert {unit.kind for unit in units} == {kind}
    assert len(units) == (2 if kind == "whole" else 1)


@pytest.mark.parametrize("file_bytes", [*range(1, 400, 7), 1000, 1001, 1063, 1064, 1065])
def test_units_cover_a_file_and_the_last_one_holds_its_end(file_bytes: int) -> None:
    with mock.patch.object(work_units, "MIN_UNIT_BYTES", 100):
        units = work_units.plan_units(io.BytesIO(), "x.xml", file_bytes, 1)
    edges = [0, *(unit.end for unit in units)]
    assert [unit.start for unit in units] == edges[:-1]
    assert edges[-1] == file_bytes
    assert units[-1].end - units[-1].start >= min(64, file_bytes)


def test_an_empty_file_is_cut_off() -> None:
    (unit,) = work_units.plan_units(io.BytesIO(), "x.xml", 0, 3)
    assert [damage.message for damage in damages_of(read(b"", unit))] == [
        "the file ends without </mediawiki>: it is truncated or still being written"
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
        units = work_units.plan_units(io.BytesIO(content), "x.xml", len(content), stripes)
        events = [event for unit in units for event in read(content, unit)]
        assert pages_of(events) == [] or b"<page>" in data  # a whole page is kept
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
    events = read_all(bytes(data), units_of(bytes(data), "bz2", cuts))
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
    kind = {"": "plain", ".bz2": "bz2"}.get(suffix, "whole")
    events = read(data, FileUnit(f"x{suffix}", kind, 0, len(data), len(data)))
    assert len(damages_of(events)) == 1
    given_pages = pages_of(events)
    assert given_pages == [element(page) for page in PAGES[: len(given_pages)]]
    (damage,) = damages_of(events)
    assert damage.last_page == (given_pages[-1] if given_pages else None)


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


def test_a_stream_whose_header_is_damaged_is_told_and_loses_nothing() -> None:
    streams = pack_streams(PAGES, 3)
    start = len(streams[0]) + len(streams[1])
    streams[2] = b"XX" + streams[2][2:]
    events = read_multistream(b"".join(streams))
    assert pages_of(events) == [element(page) for page in PAGES]
    ((found, end, *_),) = damages_of(events)
    assert found <= start < end <= start + 5


@pytest.mark.parametrize("content", [b"\0" * 100, b"<!DOCTYPE html><html>", HEADER + CLOSING])
def test_a_file_that_begins_with_no_stream(content: bytes) -> None:
    events = read_multistream(content)
    assert events == [Damage(0, len(content), "the file does not begin with a bz2 stream")]


def test_damage_at_the_start_belongs_to_the_first_unit_alone() -> None:
    data = b"\0" * 100 + b"".join(pack_streams(PAGES, 3))
    of_units = read_units(data, units_of(data, "bz2", [50, 99, 200]))
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
    for kind, data in (("plain", xml), ("bz2", bz2.compress(xml))):
        (damage,) = damages_of(read(data, FileUnit("x", kind, 0, len(data), len(data))))
        assert damage.message == f"{message}: it is truncated or still being written"
        assert (damage.start, damage.end) == (len(data), len(data))


def test_stored_bytes_add_up_to_what_was_read() -> None:
    data = b"".join(pack_streams(PAGES, 3))
    events = read_multistream(data)
    last = len(data) - len(bz2.compress(CLOSING))
    heads_and_ends = last - sum(one.stored_bytes for one in events if isinstance(one, PageXml))
    assert 0 < heads_and_ends <= 5 * (4 + 11)


def test_the_last_page_before_an_offset_is_that_of_the_streams_before() -> None:
    streams = pack_streams(PAGES, 3)
    data = b"".join(streams)
    starts = [0, *itertools.accumulate(map(len, streams))]
    unit = FileUnit("x", "bz2", starts[3], len(data), len(data))
    found = [mediawiki_xml.last_page_before(io.BytesIO(data), unit, start) for start in starts]
    assert found == [None, None, *(element(PAGES[at]) for at in (2, 5, 8, 11)), element(PAGES[11])]
    found = [mediawiki_xml.first_page_after(io.BytesIO(data), unit, start) for start in starts]
    assert found == [element(PAGES[at]) for at in (0, 0, 3, 6, 9)] + [None, None]


@pytest.mark.parametrize("part_bytes", [600, 1000])
def test_the_last_part_shows_whether_a_file_is_whole(part_bytes: int) -> None:
    streams = pack_streams(PAGES, 3)
    xml = HEADER + b"".join(PAGES) + CLOSING
    for kind, data, end in (
        ("bz2", b"".join(streams), len(streams[-1])),
        ("bz2", pack_blocks(xml, range(100, len(xml), 100)), 9),
        ("plain", xml, len(CLOSING)),
    ):
        with mock.patch.object(mediawiki_xml, "_LAST_PART_BYTES", part_bytes):
            last = mediawiki_xml.last_part_of(FileUnit("x", kind, 0, len(data), len(data)))
            assert damages_of(read(data, last)) == []
            cut = data[:-end]
            last = mediawiki_xml.last_part_of(FileUnit("x", kind, 0, len(cut), len(cut)))
            assert len(damages_of(read(cut, last))) == 1


STEM = "enwiki-20260101-pages-articles"


@pytest.mark.parametrize(
    ("path", "index"),
    [
        (f"gs://b/{STEM}-multistream.xml.bz2", f"gs://b/{STEM}-multistream-index.txt.bz2"),
        (f"{STEM}-multistream12.xml-p1p9.bz2", f"{STEM}-multistream-index12.txt-p1p9.bz2"),
        (f"{STEM}.xml.bz2", None),
        ("multistream.xml.bz2", None),
    ],
)
def test_index_paths(path: str, index: str | None) -> None:
    assert mediawiki_xml.index_path_of(path) == index


@pytest.mark.parametrize(
    ("start", "end", "last_page", "next_page", "lost"),
    read_cases("wikipedia/dump_units", "lost_pages_are_counted_by_the_index"),
)
def test_lost_pages_are_counted_by_the_index(
    start: int, end: int, last_page: str, next_page: str, lost: int
) -> None:
    index = [(100, 1), (100, 2), (100, 3), (250, 4), (250, 5), (250, 6), (900, 7)]
    lines = [b"%d:%d:A: b\n" % line for line in index]
    damage = Damage(start, end, "a damaged bz2 block")
    assert mediawiki_xml.count_lost_pages(lines, damage, last_page, next_page) == lost


@pytest.mark.parametrize("suffix", COMPRESS)
def test_the_head_is_read_up_to_the_first_page(suffix: str) -> None:
    xml = HEADER + b"".join(make_pages(50, words=2000)) + CLOSING
    data = COMPRESS[suffix](xml)
    head = mediawiki_xml.read_head(io.BytesIO(data))
    assert xml.startswith(head)
    assert len(HEADER) < len(head) < len(xml)
    assert parse_siteinfo(head).dbname == "enwiki"


@pytest.mark.parametrize("content", [b"BZh91AY&SY\0\0\0\0", b"\x1f\x8b\0\0", b"\xfd7zXZ\0\0"])
def test_a_head_that_cannot_be_decompressed(content: bytes) -> None:
    with pytest.raises(ValueError, match="cannot be decompressed: "):
        mediawiki_xml.read_head(io.BytesIO(content))
