import bz2
import gzip
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import apache_beam as beam
import pytest

from corpusmill.transforms.files import bz2_blocks, work_units
from corpusmill.transforms.files.read_files import InputError, file_bytes_of
from corpusmill.transforms.files.records import Page, Rejected
from corpusmill.transforms.wikipedia import mediawiki_xml, read_dumps
from tests.makers import dump_files
from tests.makers.bz2_files import pack_stream
from tests.makers.compressed import COMPRESS
from tests.makers.dump_files import SamplePage
from tests.tools.run_pipeline import Outcome, run_pipeline

HEADER = dump_files.dump_header("ukwiki", "uk", "Вікіпедія", {0: "", 6: "Файл"})
SAMPLES = [
    SamplePage(number, 0, f"Стаття {number}", f"текст {number} " * 30, number * 10)
    for number in range(1, 11)
]
PAGES = [
    Page(
        one.page_id,
        0,
        one.title,
        one.revision_id,
        "wikitext",
        False,
        False,
        one.wikitext,
        created=one.timestamp,
        revised=one.timestamp,
    )
    for one in SAMPLES
]
NAME = "ukwiki-20260101-pages-articles-multistream"


def read(
    *paths: Path,
    stripes: int = 1,
    on_corrupt: str = "fail",
    namespaces: Sequence[int] | None = None,
    limit: int = 0,
) -> Outcome:
    transform = read_dumps.ReadDump(
        [str(path) for path in paths], stripes, on_corrupt, namespaces, limit
    )
    return run_pipeline(lambda root: root | transform)


def error_of(*paths: Path) -> str:
    with pytest.raises((InputError, RuntimeError)) as raised:
        read(*paths)
    return str(raised.value)


@pytest.fixture
def multistream(tmp_path: Path) -> Path:
    path = tmp_path / f"{NAME}.xml.bz2"
    dump_files.write_multistream(path, tmp_path / f"{NAME}-index.txt.bz2", HEADER, SAMPLES, 3)
    return path


def stream_starts(path: Path) -> list[int]:
    """Returns the starts of the streams of a file, and its end."""
    data, starts = path.read_bytes(), [0]
    while starts[-1] < len(data):
        decompressor = bz2.BZ2Decompressor()
        decompressor.decompress(data[starts[-1] :])
        starts.append(len(data) - len(decompressor.unused_data))
    return starts


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("stripes", [1, 3])
def test_pages_of_every_kind_of_file(
    tmp_path: Path, suffix: str, stripes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_units, "MIN_UNIT_BYTES", 700)
    monkeypatch.setattr(work_units, "STRIPE_RUN_BYTES", 1500)
    path = tmp_path / f"dump.xml{suffix}"
    dump_files.write_xml(path, HEADER, SAMPLES)
    outcome = read(path, stripes=stripes)
    assert sorted(outcome.elements["pages"]) == PAGES
    assert outcome.elements["rejected"] == outcome.elements["lost"] == []
    units = read_dumps.plan_units(str(path), stripes)
    size, times_read = path.stat().st_size, 1
    if suffix in (".gz", ".xz", ".zst"):  # which cannot be entered
        times_read = stripes
        found = [(unit.kind, unit.stripe, unit.start, unit.end) for unit in units]
        assert found == [("whole", stripe, 0, size) for stripe in range(stripes)]
    else:
        assert len(units) > 1
    assert file_bytes_of(str(path)) == size
    assert outcome.counters == {
        "read-dump/pages": 10,
        "read-dump/xml_bytes": sum(
            len(dump_files.page_xml(one).strip().encode()) for one in SAMPLES
        ),
        "read-dump/dump_bytes": read_dumps.dump_bytes_of(str(path), stripes),
    }
    assert outcome.counters["read-dump/dump_bytes"] == times_read * size


@pytest.mark.parametrize(("limit", "kept"), [(0, 10), (1, 1), (4, 4), (7, 7), (10, 10), (11, 10)])
@pytest.mark.parametrize("stripes", [1, 3])
def test_of_several_files_the_first_pages_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, kept: int, stripes: int
) -> None:
    monkeypatch.setattr(work_units, "MIN_UNIT_BYTES", 200)
    paths = [tmp_path / f"part{number}.xml.bz2" for number in (1, 2)]
    for path, pages in zip(paths, (SAMPLES[:4], SAMPLES[4:]), strict=True):
        dump_files.write_multistream(path, tmp_path / "index.bz2", HEADER, pages, 3)
        assert len(read_dumps.plan_units(str(path), stripes)) > 2
    outcome = read(*paths, limit=limit, stripes=stripes)
    found = outcome.elements["pages"]
    assert (found if limit else sorted(found)) == PAGES[:kept]
    assert outcome.counters["read-dump/pages"] == kept
    if not limit:
        stored = sum(file_bytes_of(str(path)) for path in paths)
        assert outcome.counters["read-dump/dump_bytes"] == stored


@pytest.mark.parametrize("is_one_stream", [True, False])
def test_each_block_of_a_file_is_decompressed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_one_stream: bool
) -> None:
    monkeypatch.setattr(work_units, "MIN_UNIT_BYTES", 700)
    pages = [one._replace(wikitext=f"{one.title * 20}\n") for one in SAMPLES * 20]
    path = tmp_path / "dump.xml.bz2"
    dump_files.write_multistream(path, tmp_path / "index.bz2", HEADER, pages, 4)
    if is_one_stream:
        xml = bz2.decompress(path.read_bytes())
        path.write_bytes(pack_stream([xml[at : at + 1000] for at in range(0, len(xml), 1000)]))
    with mock.patch.object(bz2_blocks, "decode_block", wraps=bz2_blocks.decode_block) as decoded:
        outcome = read(path, stripes=16)
    assert len(outcome.elements["pages"]) == len(pages)
    assert len(read_dumps.plan_units(str(path), 16)) > 10
    blocks = sum(not is_end for _, is_end in bz2_blocks.find_marks(path.read_bytes()))
    assert decoded.call_count == blocks > 50


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_cut_inside_a_page_is_an_error_that_names_the_place(tmp_path: Path, suffix: str) -> None:
    xml = HEADER.encode() + b"".join(dump_files.page_xml(one).encode() for one in SAMPLES)
    xml = xml[:-200]
    path = tmp_path / f"dump.xml{suffix}"
    path.write_bytes(COMPRESS[suffix](xml))
    place = path.stat().st_size if suffix == ".bz2" else len(xml)
    assert (
        f"{path}, byte {place}: the file ends inside a page: it is truncated or still being"
        " written; last whole page: 9 Стаття 9"
    ) in error_of(path)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_a_compressed_file_cut_off_is_an_error_that_names_the_place(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"dump.xml{suffix}"
    dump_files.write_xml(path, HEADER, SAMPLES)
    path.write_bytes(path.read_bytes()[:-9])
    message = error_of(path)
    assert f"{path}, byte " in message
    assert "the compressed file is damaged or truncated: " in message
    assert "(bytes of the uncompressed XML)" in message


@pytest.mark.parametrize("unit_bytes", [100, 1 << 18])
def test_a_damaged_stream_is_an_error_or_costs_only_its_own_pages(
    multistream: Path, unit_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_units, "MIN_UNIT_BYTES", unit_bytes)
    starts = stream_starts(multistream)
    flip(multistream, (starts[2] + starts[3]) // 2)
    error = error_of(multistream)
    place = f"{multistream}, byte {starts[2] + 4}"
    assert f"{place}: a damaged bz2 block; the data are damaged up" in error
    assert "; last whole page: 3 Стаття 3" in error
    outcome = read(multistream, on_corrupt="keep-good")
    assert sorted(outcome.elements["pages"]) == PAGES[:3] + PAGES[6:]
    (lost,) = outcome.elements["lost"]
    end_of_block = next(end for end in range(starts[3] - 10, starts[3]) if end == lost.end)
    message = "a damaged bz2 block"
    assert lost[:6] == (multistream.name, starts[2] + 4, end_of_block, message, 3, "3 Стаття 3")
    assert outcome.counters["read-dump/damages"] == 1
    assert outcome.counters["read-dump/pages"] == 7


def test_garbage_between_streams_costs_no_page(multistream: Path) -> None:
    starts, data = stream_starts(multistream), multistream.read_bytes()
    multistream.write_bytes(data[: starts[2]] + b"\0garbage\0" + data[starts[2] :])
    outcome = read(multistream, on_corrupt="keep-good")
    assert sorted(outcome.elements["pages"]) == PAGES
    (lost,) = outcome.elements["lost"]
    assert starts[2] - 11 <= lost.start <= starts[2]
    assert (lost.end, lost.pages_lost) == (starts[2] + 9 + 4, 0)
    assert lost.last_page == "3 Стаття 3"
    assert f"byte {lost.start}: no bz2 stream begins" in error_of(multistream)


def test_a_file_cut_inside_a_stream_keeps_what_is_whole(multistream: Path) -> None:
    starts, data = stream_starts(multistream), multistream.read_bytes()
    multistream.write_bytes(data[: starts[4] - 20])
    outcome = read(multistream, on_corrupt="keep-good")
    assert sorted(outcome.elements["pages"]) == PAGES[:6]
    (lost,) = outcome.elements["lost"]
    assert (lost.start, lost.end) == (starts[3] + 4, starts[4] - 20)
    assert lost.pages_lost == 3
    assert lost.last_page == "6 Стаття 6"


BAD_PAGES = {
    "текст &lol; 2": "not well-formed XML: undefined entity",
    "<a>" * 500 + "</a>" * 500: "elements are nested too deeply: '/page/revision/text/a",
    f"</text></revision><id>{2**64}</id><revision ><id>1</id><text>": f"the page id is '{2**64}'",
}


def bad_page_dump(path: Path, text: str) -> None:
    pages = [dump_files.page_xml(one) for one in SAMPLES[:3]]
    pages[1] = pages[1].replace("текст 2", text, 1)
    path.write_bytes((HEADER + "".join(pages) + "</mediawiki>\n").encode())


@pytest.mark.parametrize("text", BAD_PAGES)
def test_a_malformed_page_is_an_error_or_rejected(tmp_path: Path, text: str) -> None:
    path = tmp_path / "dump.xml"
    bad_page_dump(path, text)
    place = f"in bytes 0 to {path.stat().st_size}"
    error = error_of(path)
    assert f"{path}: {place}: page '<page>\\n    <title>Стаття 2" in error
    assert BAD_PAGES[text] in error
    outcome = read(path, on_corrupt="keep-good")
    assert sorted(outcome.elements["pages"]) == [PAGES[0], PAGES[2]]
    (rejected,) = outcome.elements["rejected"]
    assert rejected == Rejected("2", "Стаття 2", "read-dump", "malformed-xml", rejected.detail)
    assert rejected.detail.startswith(f"dump.xml, {place}: {BAD_PAGES[text]}")
    assert outcome.elements["lost"] == []
    assert outcome.counters["read-dump/malformed-xml"] == 1
    assert outcome.counters["read-dump/pages"] == 3


def test_a_malformed_page_may_be_the_last_before_damage(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    bad_page_dump(path, "&lol;")
    xml = path.read_bytes()
    path.write_bytes(xml[: xml.index("Стаття 3".encode())])
    outcome = read(path, on_corrupt="keep-good")
    assert [one.last_page for one in outcome.elements["lost"]] == ["2 Стаття 2"]


@pytest.mark.parametrize("content", [None, b"no index\n", b"BZh9damaged"])
def test_without_an_index_nobody_knows_how_many_pages_are_lost(
    multistream: Path, content: bytes | None
) -> None:
    starts = stream_starts(multistream)
    flip(multistream, starts[3] + 50)
    index = multistream.parent / f"{NAME}-index.txt.bz2"
    index.unlink()
    if content is not None:
        index.write_bytes(content)
    (lost,) = read(multistream, on_corrupt="keep-good").elements["lost"]
    assert (lost.start, lost.pages_lost) == (starts[3] + 4, -1)
    assert lost.last_page == "6 Стаття 6"


def test_a_page_without_an_end_is_an_error_long_before_memory_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mediawiki_xml, "MAX_PAGE_BYTES", 100_000)
    path = tmp_path / "dump.xml.gz"
    endless = dump_files.page_xml(SAMPLES[0]).partition("</page>")[0] + "x" * 10_000_000
    path.write_bytes(gzip.compress((HEADER + endless).encode()))
    message = error_of(path)
    assert "a page has more than 100000 bytes" in message
    assert str(path) in message


def test_of_other_namespaces_heads_alone_are_read(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    talk = SAMPLES[2]._replace(namespace=1, title='Обговорення:A & "B"')
    dump_files.write_xml(path, HEADER, [*SAMPLES[:2], talk])
    path.write_bytes(path.read_bytes().replace("текст 3".encode(), b"&undefined;"))
    outcome = read(path, namespaces=(0,))
    page = Page(3, 1, talk.title, 30, "", False, False, "")
    assert sorted(outcome.elements["pages"]) == [*PAGES[:2], page]
    assert outcome.counters["read-dump/pages"] == 3


@pytest.mark.parametrize("on_corrupt", ["fail", "keep-good"])
def test_a_history_export_is_refused_where_it_is_met(tmp_path: Path, on_corrupt: str) -> None:
    path = tmp_path / "dump.xml"
    dump_files.write_xml(path, HEADER, SAMPLES)
    xml = path.read_text("utf-8")
    first, rest = xml.split("</page>", 1)
    path.write_text(
        first + "</page>" + rest.replace("<contributor>", "</revision><revision><id>4</id>", 1)
    )
    message = f"{path}: in bytes 0 to {path.stat().st_size}: a page has 2 revisions"
    read_dumps.read_siteinfo(str(path))  # the first page has one
    with pytest.raises((InputError, RuntimeError)) as raised:
        read(path, on_corrupt=on_corrupt)
    assert message in str(raised.value)
    path.write_text(
        first.replace("<contributor>", "</revision><revision><id>4</id>", 1) + "</page>"
    )
    with pytest.raises(InputError, match="this is a history export"):
        read_dumps.read_siteinfo(str(path))


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ValueError, match=r"on_corrupt must be one of .*, not 'ignore'"):
        _ = beam.Pipeline() | read_dumps.ReadDump(["a.xml"], on_corrupt="ignore")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "byte 0: the file is empty"),
        (b"<!DOCTYPE html><html>404</html>", "byte 0: expected a dump, found an HTML page"),
        (HEADER.encode("utf-16"), "byte 0: expected UTF-8, found UTF-16"),
        (bz2.compress(HEADER.encode("utf-16")), "byte 0: expected UTF-8, found UTF-16"),
        (b'<!DOCTYPE x [<!ENTITY a "b">]>' + HEADER.encode(), "byte 0: found a DOCTYPE (x)"),
        (b"BZh9" + b"\0" * 50, "byte 0: cannot be decompressed"),
        (HEADER.encode()[:300], "not well-formed XML"),
    ],
)
def test_what_is_no_dump_is_told_with_its_name(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        read_dumps.read_siteinfo(str(path))
    assert str(path) in str(raised.value)
    assert message in str(raised.value)


def test_the_end_of_whole_files_is_in_order(tmp_path: Path, multistream: Path) -> None:
    read_dumps.check_end(str(multistream))
    for suffix in COMPRESS:
        path = tmp_path / f"dump.xml{suffix}"
        dump_files.write_xml(path, HEADER, SAMPLES)
        read_dumps.check_end(str(path))


def test_a_file_cut_anywhere_near_its_end_is_found_without_reading_it_all(
    tmp_path: Path, multistream: Path
) -> None:
    data = multistream.read_bytes()
    starts = stream_starts(multistream)
    places = [
        starts[-2] - 1,
        starts[-2],
        starts[-2] + 1,
        len(data) - 1,
        starts[-3],
        starts[-3] + 50,
    ]
    for place in places:
        multistream.write_bytes(data[:place])
        with pytest.raises(InputError, match=f"{multistream}, byte "):
            read_dumps.check_end(str(multistream))
    path = tmp_path / "dump.xml"
    dump_files.write_xml(path, HEADER, SAMPLES)
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(
        InputError, match=r"ends without </mediawiki>.*last whole page: 10 Стаття 10"
    ):
        read_dumps.check_end(str(path))
