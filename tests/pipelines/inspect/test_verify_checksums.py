"""`corpusmill verify DIR --md5 LIST`: builds that fit a list, are damaged, and are another corpus."""

import json
from pathlib import Path

import pytest

from corpusmill.pipelines.cli import main
from corpusmill.pipelines.inspect.verify import DIFFERENT, verify
from corpusmill.pipelines.lm1b import Lm1b
from corpusmill.pipelines.lm1b_settings import Lm1bConfig
from corpusmill.pipelines.run.launch import launch
from corpusmill.transforms.files.read_files import InputError
from tests.makers.sentence_builds import (
    SHARDS,
    SORTED,
    TOKENIZED,
    TRAIN,
    list_sums,
    make_sentence_build,
    md5_of,
    texts_below,
)
from tests.makers.wiki_builds import Command
from tests.tools.error_of import error_of

ONE, TWO = (f"{TRAIN}/news.en-0000{number}-of-00003" for number in (1, 2))


@pytest.fixture
def build(tmp_path: Path) -> Path:
    return make_sentence_build(tmp_path / "corpora")


def write_list(folder: Path, *contents: dict[str, bytes]) -> str:
    path = folder / "list.md5"
    path.write_text("".join(map(list_sums, contents)))
    return str(path)


def test_build_that_equals_the_list(build: Path, tmp_path: Path, run: Command) -> None:
    listed = write_list(tmp_path, {"raw/news.2007.en.shuffled": b"x"}, texts_below(build))
    for folder in (build, build.parent):
        lines = run("verify", folder, "--md5", listed, "--workers", "1").out.splitlines()
        assert lines[0] == "match the list: 5 of the 6 files in it"
        assert lines[-2:] == ["faults of files: none", "OK: all is well"]


def test_differing_damaged_and_missing_files(build: Path, tmp_path: Path, run: Command) -> None:
    contents = texts_below(build) | {ONE: b"One .\nOther .\n", "news.en-00003-of-00003": b""}
    listed = write_list(tmp_path, contents)
    (build / TWO).write_bytes(SHARDS[2].replace(b"Four", b"Fou?"))
    report = tmp_path / "report.tsv"
    found = run("verify", build, "--md5", listed, "--report", report, "--workers", "1", status=1)
    lines = found.out.splitlines()
    assert lines[0] == "match the list: 3 of the 6 files in it"
    assert "faults of files: 4" in lines
    different = f"{ONE}: has the MD5 {md5_of(SHARDS[1])}, but {md5_of(contents[ONE])} in the list"
    assert f"  {different}" in lines
    assert "  news.en-00003-of-00003: is in the list of checksums, but not in the build" in lines
    assert [line for line in lines if line.startswith(f"  {build}/{TWO}: ")]
    assert lines[-1] == f"FAILED: 4 faults, listed above; {DIFFERENT}"
    assert report.read_text("utf-8").count("\nfault\t") == 4
    shown = run("verify", build, "--md5", listed, "--json", "--workers", "1", status=1).out
    assert {name: json.loads(shown)[name] for name in ("listed", "equal", "fault_count")} == {
        "listed": 6,
        "equal": 3,
        "fault_count": 4,
    }


def test_reference_needs_a_list(run: Command) -> None:
    found = run("verify", "a", "--reference", "x", status=2)
    assert found.err == "corpusmill: error: --reference needs --md5 LIST\n"


def test_list_needs_exactly_one_build(build: Path, tmp_path: Path) -> None:
    corpora = tmp_path / "corpora"
    listed = write_list(tmp_path, texts_below(build))
    later = make_sentence_build(corpora, date="2007-2012")
    other = make_sentence_build(tmp_path / "other", corpus="pg19")
    for folder, told in ((corpora, f"2: {build} {later}"), (other, "0")):
        said = error_of(InputError, verify, [str(folder)], md5_list=listed, workers=1)
        assert said == f"{folder}: --md5 needs one build of lm1b, but here are {told}"


def test_build_of_the_pipeline_equals_its_list(tmp_path: Path) -> None:
    lines = [f"Line {number} – \u201cof news\u201d.\n".encode() for number in range(200)]
    (tmp_path / "news.2007.en.shuffled").write_bytes(b"".join(lines))
    config = Lm1bConfig(
        [str(tmp_path / "news.2007.en.shuffled")], shards=3, heldout_shards=2, checkpoints=True
    )
    corpora = tmp_path / "corpora"
    launch(Lm1b(config), str(corpora), workers=1)
    [sums] = corpora.rglob("md5sums")
    tokenized = [f'Line {number} -- " of news . "\n'.encode() for number in range(200)]
    checkpoints = {
        SORTED: b"".join(sorted(lines)),
        TOKENIZED: b"".join(line for _, line in sorted(zip(lines, tokenized, strict=True))),
    }
    listed = tmp_path / "list"
    listed.write_text(sums.read_text() + list_sums(checkpoints))
    verdict = verify([str(corpora)], md5_list=str(listed), workers=1)
    assert verdict.is_sound
    assert (verdict.listed, verdict.equal) == (7, 7)
    assert main(["verify", str(corpora), "--workers", "1"]) == 0
