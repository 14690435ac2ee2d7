"""Bad input: exit status 1, a message that names the place, and nothing that looks finished."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from corpusmill.pipelines.wiki40b_settings import VERSION
from corpusmill.transforms.files import work_units
from corpusmill.transforms.files.bz2_blocks import find_marks
from corpusmill.transforms.wikipedia import mediawiki_xml
from tests.makers import dump_files
from tests.makers.wiki_builds import (
    ENTITIES,
    Build,
    WikiFiles,
    build,
    files_below,
    run_cli,
    sample_wiki,
)
from tests.transforms.wikipedia.test_read_dumps import flip, stream_starts

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
}
LAUGHS = '<!DOCTYPE mediawiki [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>\n'


class Failed:
    """Runs the command, which must fail and leave nothing behind but the stages that it has finished."""

    def __init__(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        self.output = tmp_path / "output"
        self.capsys = capsys

    def __call__(self, dump: Path, *flags: object, language: str = "uk") -> str:
        common = ("--language", language, "--output", self.output, "--workers", 1)
        status = run_cli("wiki40b", "--dump", dump, *common, *flags)
        assert status == 1
        for path in self.output.rglob("*"):
            is_left = path.is_file() or path.name.startswith(".")
            assert not is_left or ".stages" in str(path), path
        message = self.capsys.readouterr().err
        assert message.startswith("corpusmill: error: ")
        assert "Traceback" not in message
        assert len(message.splitlines()) == 1
        return message


@pytest.fixture
def failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Failed:
    return Failed(tmp_path, capsys)


def xml_of(uk: WikiFiles) -> str:
    return uk.write_xml("").read_text("utf-8")


@pytest.mark.parametrize("suffix", COMPRESS)
def test_xml_cut_inside_a_page(uk: WikiFiles, failed: Failed, suffix: str) -> None:
    xml = xml_of(uk).encode()
    cut = xml.index(b"</page>", xml.index("<title>Вишивка".encode())) - 10
    path = uk.folder / f"ukwiki-20260101-pages-articles.xml{suffix}"
    path.write_bytes(COMPRESS[suffix](xml[:cut]))
    message = failed(path)
    place = path.stat().st_size if suffix == ".bz2" else cut
    assert f"{path}, byte {place}: the file ends inside a page" in message
    assert "last whole page: 190 Бджільництво" in message


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_a_compressed_file_cut_off(uk: WikiFiles, failed: Failed, suffix: str) -> None:
    path = uk.write_xml(suffix)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    message = failed(path)
    assert f"{path}, byte " in message
    assert "damaged or truncated" in message
    assert "last whole page: " in message


def test_a_bz2_file_cut_inside_its_first_block(uk: WikiFiles, failed: Failed) -> None:
    path = uk.write_xml(".bz2")
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    assert f"{path}, byte 0: cannot be decompressed: " in failed(path)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_what_is_whole_of_a_cut_file_can_be_kept(
    uk: WikiFiles, tmp_path: Path, suffix: str
) -> None:
    xml = xml_of(uk).encode()
    cut = xml.index("<title>Вишивка".encode()) + 100
    path = uk.folder / f"ukwiki-20260101-pages-articles.xml{suffix}"
    path.write_bytes(COMPRESS[suffix](xml[:cut]))
    built = build(tmp_path, uk.linked(dump=path, on_corrupt="keep-good"))
    whole = [page for page in uk.wiki.pages if page.page_id <= 190]
    built.check_fates(uk.wiki, whole)
    assert built.manifest["counts"]["pages_read"] == len(whole)
    (lost,) = built.manifest["lost"]
    place = path.stat().st_size if suffix == ".bz2" else cut
    assert (lost["name"], lost["start"], lost["pages_lost"]) == (path.name, place, -1)
    assert lost["last_page"] == "190 Бджільництво"


def test_a_multistream_file_cut_inside_a_stream(uk: WikiFiles, failed: Failed) -> None:
    starts = stream_starts(uk.multistream)
    uk.multistream.write_bytes(uk.multistream.read_bytes()[: starts[3] - 40])
    message = failed(uk.multistream)
    assert f"{uk.multistream}, byte {starts[2] + 4}: the file ends inside a bz2 block" in message
    assert "last whole page: 118 Кобза" in message or "last whole page: 104 Борщ" in message


@pytest.fixture
def damaged(uk: WikiFiles) -> tuple[int, int]:
    """The block of the middle stream of the dump is damaged; where it begins and ends."""
    starts = stream_starts(uk.multistream)
    start = starts[2] + 4
    ends = (-(-bit // 8) for bit, is_end in find_marks(uk.multistream.read_bytes()) if is_end)
    end = next(end for end in ends if end > start)
    flip(uk.multistream, (start + end) // 2)
    return start, end


def test_a_damaged_stream(uk: WikiFiles, failed: Failed, damaged: tuple[int, int]) -> None:
    message = failed(uk.multistream, "--page-props", uk.write_page_props())
    start, end = damaged
    assert f"{uk.multistream}, byte {start}: a damaged bz2 block; " in message
    last = uk.wiki.pages[9]
    assert (
        f"the data are damaged up to byte {end}; last whole page: {last.page_id} {last.title}"
        in message
    )


def test_a_damaged_stream_with_worker_processes(
    uk: WikiFiles, damaged: tuple[int, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "output"
    flags = ("--language", "uk", "--output", output, "--workers", 2)
    assert run_cli("wiki40b", "--dump", uk.multistream, *flags) == 1
    message = capsys.readouterr().err
    last = uk.wiki.pages[9]
    assert message.startswith(f"corpusmill: error: {uk.multistream}, byte {damaged[0]}: a damaged ")
    assert message.endswith(f"last whole page: {last.page_id} {last.title}\n")
    assert files_below(output) == []


@pytest.mark.slow
@pytest.mark.parametrize(("has_index", "unit_bytes"), [(True, 500), (False, 1 << 18)])
def test_a_damaged_stream_costs_only_its_own_pages(
    uk: WikiFiles,
    tmp_path: Path,
    damaged: tuple[int, int],
    has_index: bool,
    unit_bytes: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(work_units, "MIN_UNIT_BYTES", unit_bytes)
    if not has_index:
        uk.index.unlink()
    built = build(tmp_path, uk.linked(on_corrupt="keep-good"))
    built.check_fates(uk.wiki, uk.wiki.pages[:10] + uk.wiki.pages[20:])
    (lost,) = built.manifest["lost"]
    last = uk.wiki.pages[9]
    assert (lost["start"], lost["end"]) == damaged
    assert lost["pages_lost"] == (10 if has_index else -1)
    assert lost["last_page"] == f"{last.page_id} {last.title}"
    built.check_files()


def test_garbage_between_streams(uk: WikiFiles, failed: Failed, tmp_path: Path, demo: Path) -> None:
    starts, data = stream_starts(uk.multistream), uk.multistream.read_bytes()
    uk.multistream.write_bytes(data[: starts[2]] + b"garbage" * 9 + data[starts[2] :])
    message = failed(uk.multistream)
    assert "no bz2 stream begins where the one before it ended" in message
    built = build(tmp_path / "kept", uk.linked(on_corrupt="keep-good"))
    assert built.articles() == Build(demo / f"wiki40b/uk/20260101-{VERSION}").articles()
    (lost,) = built.manifest["lost"]
    assert starts[2] - 11 <= lost["start"] <= starts[2]
    assert (lost["end"], lost["pages_lost"]) == (starts[2] + 63 + 4, 0)
    assert f"{uk.multistream}, byte {lost['start']}: " in message


def test_a_stream_whose_header_is_damaged(uk: WikiFiles, failed: Failed) -> None:
    starts = stream_starts(uk.multistream)
    flip(uk.multistream, starts[3] + 1)
    message = failed(uk.multistream)
    place = next(at for at in range(starts[3] - 11, starts[3] + 1) if f"byte {at}: " in message)
    assert f"{uk.multistream}, byte {place}: no bz2 stream begins" in message
    assert f"the data are damaged up to byte {starts[3] + 4}" in message


def test_a_dump_without_a_page(uk: WikiFiles, failed: Failed) -> None:
    path = uk.write_xml("")
    xml = path.read_text("utf-8")
    path.write_text(f"{xml.partition('<page>')[0]}</mediawiki>\n", "utf-8")
    assert f"{path.name}: the dump has no pages; is the wiki empty" in failed(path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty"),
        (
            b"<!DOCTYPE html>\n<html><body>404 Not Found</body></html>",
            "expected a dump, found an HTML page",
        ),
        (b"503 Service Unavailable", "expected <mediawiki> at the start"),
        ("<mediawiki>\n</mediawiki>\n".encode("utf-16"), "expected UTF-8, found UTF-16"),
        (bz2.compress("<mediawiki>".encode("utf-16")), "expected UTF-8, found UTF-16"),
        (bz2.compress(b"<html></html>"), "expected a dump, found an HTML page"),
        (b"BZh91AY&SY" + b"\0" * 500, "cannot be decompressed"),
        (gzip.compress(b"", mtime=0)[:12], "cannot be decompressed"),
    ],
)
@pytest.mark.parametrize("policy", ["fail", "keep-good"])
def test_a_file_that_is_no_dump(
    uk: WikiFiles, failed: Failed, content: bytes, problem: str, policy: str
) -> None:
    path = uk.folder / "ukwiki-latest-pages-articles.xml.bz2"
    path.write_bytes(content)
    message = failed(path, "--on-corrupt", policy)
    assert f"{path}, byte 0: {problem}" in message


@pytest.mark.parametrize("policy", ["fail", "keep-good"])
def test_entities_in_the_head_are_not_expanded(uk: WikiFiles, failed: Failed, policy: str) -> None:
    path = uk.write_xml("")
    path.write_text(LAUGHS + xml_of(uk).replace("Вікіпедія</sitename>", "&b;</sitename>"), "utf-8")
    assert f"{path}, byte 0: found a DOCTYPE (mediawiki)" in failed(path, "--on-corrupt", policy)


@pytest.fixture
def bad_page(uk: WikiFiles) -> Path:
    """In the text of the page "Київ" stands an entity that XML does not know."""
    xml = xml_of(uk)
    start = xml.index('xml:space="preserve">', xml.index("<title>Київ</title>"))
    path = uk.write_xml("")
    path.write_text(
        f"{xml[:start]}xml:space='preserve'>{LAUGHS.strip()}&b;{xml[start + 21 :]}", "utf-8"
    )
    return path


def test_entities_in_a_page_are_not_expanded(bad_page: Path, failed: Failed) -> None:
    message = failed(bad_page)
    assert f"{bad_page}: in bytes 0 to {bad_page.stat().st_size}: page " in message
    assert "Київ" in message
    assert "not well-formed XML" in message


@pytest.mark.slow
def test_a_page_that_is_not_well_formed_is_rejected_where_good_pages_are_kept(
    uk: WikiFiles, bad_page: Path, tmp_path: Path
) -> None:
    built = build(tmp_path, uk.linked(dump=bad_page, on_corrupt="keep-good"))
    expected = uk.wiki.expected | {42: "malformed-xml"}
    assert built.reasons() == {page: why for page, why in expected.items() if why != "kept"}
    (rejected,) = (one for one in built.rejected() if one.reason == "malformed-xml")
    assert (rejected.id, rejected.title, rejected.stage) == ("42", "Київ", "read-dump")
    counts = built.manifest["counts"]
    assert counts["rejected"]["read-dump/malformed-xml"] == 1
    assert counts["pages_read"] == len(uk.wiki.pages)
    assert counts["kept"]["total"] + counts["rejected"]["total"] == counts["pages_read"]


@pytest.mark.parametrize(("language", "wiki"), [("el", "elwiki"), ("zh-tw", "zhwiki")])
def test_a_dump_of_another_wiki(uk: WikiFiles, failed: Failed, language: str, wiki: str) -> None:
    message = f"byte 0: a dump of ukwiki, not of {wiki}; did you mean --language uk?"
    assert f"{uk.multistream}, {message}" in failed(uk.multistream, language=language)


def test_a_part_file_of_another_wiki(uk: WikiFiles, failed: Failed, tmp_path: Path) -> None:
    other = WikiFiles(tmp_path, sample_wiki("en")).write_xml(".bz2")
    assert f"{other}, byte 0: a dump of enwiki, not of ukwiki" in failed(
        uk.multistream, "--dump", uk.multistream, other
    )


def test_a_missing_file(uk: WikiFiles, failed: Failed, tmp_path: Path) -> None:
    for flag in ("--page-props", "--items-per-site", "--page-table"):
        assert f"{tmp_path}/nowhere.gz: no such file" in failed(
            uk.multistream, flag, tmp_path / "nowhere.gz"
        )
    assert "no such file" in failed(tmp_path / "*.xml.bz2")
    assert "a folder, not a file" in failed(tmp_path)


@pytest.mark.parametrize("flag", ["--page-props", "--items-per-site", "--page-table"])
def test_a_table_cut_off(uk: WikiFiles, failed: Failed, flag: str) -> None:
    path = {
        "--page-props": uk.write_page_props,
        "--items-per-site": uk.write_items_per_site,
        "--page-table": uk.write_page_table,
    }[flag]()
    path.write_bytes(path.read_bytes()[:-60])
    props = ["--page-props", uk.write_page_props()] if flag == "--page-table" else []
    message = failed(uk.multistream, flag, path, *props)
    assert f"{path}, byte " in message
    assert "damaged or truncated" in message


def test_a_table_cut_inside_a_row(uk: WikiFiles, failed: Failed) -> None:
    path = uk.write_page_props()
    sql = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(sql[: sql.index(b"'wikibase_item'") + 20]))
    message = failed(uk.multistream, "--page-props", path)
    assert f"{path}, byte " in message


def test_another_table_than_the_one_asked_for(uk: WikiFiles, failed: Failed) -> None:
    path = uk.write_page_table()
    message = failed(uk.multistream, "--page-props", path)
    assert str(path) in message
    assert "page_props" in message


def test_a_table_of_another_wiki(uk: WikiFiles, failed: Failed) -> None:
    path = uk.folder / "page_props.sql.gz"
    dump_files.write_page_props(path, [(42, "wikibase_item", "Q42")], "viwiki")
    message = failed(uk.multistream, "--page-props", path)
    assert f"{path}, byte 0: a table of viwiki, not of ukwiki" in message


def test_a_damaged_entity_dump(uk: WikiFiles, failed: Failed) -> None:
    path = uk.folder / "wikidata-20260101-all.json.gz"
    data = Path(ENTITIES).read_bytes()
    path.write_bytes(data[:2000] + b"\xff" * 50 + data[2050:])
    message = failed(uk.multistream, "--page-props", uk.write_page_props(), "--entities", path)
    assert f"{path}, byte " in message
    assert "damaged or truncated" in message


def test_a_page_without_an_end(
    uk: WikiFiles, failed: Failed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mediawiki_xml, "MAX_PAGE_BYTES", 1 << 20)
    path = uk.folder / "ukwiki-20260101-pages-articles.xml.gz"
    page = dump_files.page_xml(uk.wiki.pages[1]).partition("</text>")[0]
    path.write_bytes(gzip.compress((uk.wiki.header + page + "x" * (3 << 20)).encode()))
    assert f"{path}: in bytes 0 to {path.stat().st_size}: a page has more than" in failed(path)
