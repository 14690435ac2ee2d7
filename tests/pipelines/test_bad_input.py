"""Bad input: exit status 1, a message that names the place, and nothing that looks finished."""

from pathlib import Path

import pytest

from corpusmill.transforms.files import work_units
from corpusmill.transforms.files.bz2_blocks import find_marks
from tests.makers import dump_files
from tests.makers.wiki_builds import (
    WikiFiles,
    build,
    files_below,
    run_cli,
    sample_wiki,
)
from tests.transforms.wikipedia.test_read_dumps import flip, stream_starts

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


def test_a_dump_without_a_page(uk: WikiFiles, failed: Failed) -> None:
    path = uk.write_xml("")
    xml = path.read_text("utf-8")
    path.write_text(f"{xml.partition('<page>')[0]}</mediawiki>\n", "utf-8")
    assert f"{path.name}: the dump has no pages; is the wiki empty" in failed(path)


@pytest.mark.parametrize("policy", ["fail", "keep-good"])
def test_entities_in_the_head_are_not_expanded(uk: WikiFiles, failed: Failed, policy: str) -> None:
    path = uk.write_xml("")
    path.write_text(LAUGHS + xml_of(uk).replace("Вікіпедія</sitename>", "&b;</sitename>"), "utf-8")
    assert f"{path}, byte 0: found a DOCTYPE (mediawiki)" in failed(path, "--on-corrupt", policy)


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


def test_a_table_of_another_wiki(uk: WikiFiles, failed: Failed) -> None:
    path = uk.folder / "page_props.sql.gz"
    dump_files.write_page_props(path, [(42, "wikibase_item", "Q42")], "viwiki")
    message = failed(uk.multistream, "--page-props", path)
    assert f"{path}, byte 0: a table of viwiki, not of ukwiki" in message
