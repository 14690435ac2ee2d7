"""`corpusmill verify lm1b DIR --md5 LIST`: builds that fit a list, are damaged, and are another corpus."""

import logging
import shutil
from pathlib import Path

import pytest

from corpusmill.pipelines.cli import main
from corpusmill.pipelines.inspect.verify import ChecksumVerdict, verify_checksums
from corpusmill.pipelines.lm1b import Lm1b
from corpusmill.pipelines.lm1b_settings import Lm1bConfig
from corpusmill.pipelines.run.launch import launch
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.news.artefacts import Finding, Status
from tests.makers.sentence_builds import (
    HELD_OUT,
    HELDOUT,
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

ONE, TWO = (f"{TRAIN}/news.en-0000{number}-of-00003" for number in (1, 2))
RAW = {"training-monolingual/news.2007.en.shuffled": b"x"}


@pytest.fixture
def build(tmp_path: Path) -> Path:
    return make_sentence_build(tmp_path / "corpora")


def write_list(folder: Path, *contents: dict[str, bytes]) -> str:
    path = folder / "list.md5"
    path.write_text("".join(map(list_sums, contents)))
    return str(path)


def test_a_build_that_fits(build: Path, tmp_path: Path, run: Command) -> None:
    listed = write_list(tmp_path, RAW, texts_below(build))
    folder = str(build.parent)  # above the build
    for positionals in (["lm1b", folder], [folder]):
        assert run("verify", *positionals, "--md5", listed, "--workers", "1").out == (
            "checked: lm1b en/2007-2011-1.0.0\n"
            "match the list: 5 of the 6 files in it\n"
            "different: none\n"
            "damaged: none\n"
            "missing: none\n"
            "not compared: 1\n"
            "  training-monolingual/news.2007.en.shuffled: raw input, which is not a part of a build\n"
            "not in the list: 8, of which 0 are unexpected\n"
            "OK: all is well\n"
        )


def test_every_kind_of_finding(
    build: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contents = texts_below(build)
    heldout = f"{HELDOUT}/news.en-00000-of-00003"
    del contents[f"{HELDOUT}/news.en.heldout-00000-of-00002"]
    contents[ONE] = b"One .\nOther .\n"
    contents["news.en-00003-of-00003"] = b""
    listed = write_list(tmp_path, {SORTED: b"x"}, contents)
    damaged = SHARDS[2].replace(b"Four", b"Fou?")
    (build / TWO).write_bytes(damaged)
    (build / "left.parquet").touch()
    report = tmp_path / "report.tsv"
    command = ["verify", "lm1b", str(build), "--md5", listed, "--report", str(report)]
    assert main([*command, "--workers", "1"]) == 1
    different = f"has the MD5 {md5_of(SHARDS[1])}, but {md5_of(contents[ONE])} in the list"
    damage = (
        f"has the MD5 {md5_of(damaged)}, but {md5_of(SHARDS[2])} in the list; is not what the build wrote"
        ", according to the SHA-256 in its manifest; first difference: line 2:"
        " “Fou? .” in the build, “Four .” in the build's own Parquet"
    )
    unlisted = f"{HELDOUT}/news.en.heldout-00000-of-00002: a shard or a part of a checkpoint"
    assert capsys.readouterr().out.splitlines() == [
        "checked: lm1b en/2007-2011-1.0.0",
        "match the list: 2 of the 6 files in it",
        "different: 1",
        f"  {ONE}: {different}",
        "damaged: 1",
        f"  {TWO}: {damage}",
        "missing: 1",
        "  news.en-00003-of-00003: is not in the build",
        "not compared: 1",
        f"  {SORTED}: the build was made without checkpoints; --checkpoints keeps them",
        "not in the list: 10, of which 2 are unexpected",
        f"  {unlisted}",
        "  left.parquet: nor in the manifest",
        "FAILED: 3 faults, listed above; --reference shows where files differ",
    ]
    lines = report.read_text("utf-8").splitlines()
    assert lines[:2] == ["what\tname\tdetail", f"build\ten/2007-2011-1.0.0\t{build}"]
    assert lines[2:6] == [
        f"different\t{ONE}\t{different}",
        f"damaged\t{TWO}\t{damage}",
        "missing\tnews.en-00003-of-00003\tis not in the build",
        f"not compared\t{SORTED}\tthe build was made without checkpoints; --checkpoints keeps them",
    ]
    assert lines[-2:] == [
        f"equal\t{heldout}\t{md5_of(SHARDS[0])}",
        f"equal\t{HELDOUT}/news.en.heldout-00001-of-00002\t{md5_of(HELD_OUT[1])}",
    ]
    assert len(lines) == 2 + 4 + 10 + 2


def test_another_corpus_beside_the_scripts_output(tmp_path: Path) -> None:
    """A build that differs in the tokenisation of one line, and has kept its checkpoints."""
    lines = b"".join(sorted(b"".join(SHARDS).splitlines(keepends=True)))
    ours = lines.replace(b"Two .", b"Two.")
    build = make_sentence_build(
        tmp_path / "corpora",
        (SHARDS[0], SHARDS[1].replace(b"Two .", b"Two."), SHARDS[2]),
        parts={SORTED: [lines[:6], lines[6:]], TOKENIZED: [ours[:6], ours[6:]]},
    )
    reference = make_sentence_build(tmp_path / "scripts", parts={})
    (reference / SORTED).parent.mkdir()
    (reference / SORTED).write_bytes(lines)
    (reference / TOKENIZED).write_bytes(lines)
    listed = write_list(tmp_path, {SORTED: lines, TOKENIZED: lines}, texts_below(reference))
    verdict = verify_checksums(str(build), listed, reference=str(reference), workers=1)
    assert not verdict.is_sound
    assert [one.name for one in verdict.of(Status.DIFFERENT)] == [TOKENIZED, ONE]
    assert [one.detail.partition("first difference: ")[2] for one in verdict.findings[:2]] == [
        "line 6: “Two.” in the build, “Two .” in the reference",
        "line 2: “Two.” in the build, “Two .” in the reference",
    ]
    assert SORTED in [one.name for one in verdict.of(Status.EQUAL)]


@pytest.mark.slow
def test_the_report_is_the_same_whatever_the_workers(build: Path, tmp_path: Path) -> None:
    contents = texts_below(build) | {ONE: b"Other .\n", "x": b""}
    listed = write_list(tmp_path, contents)
    one, two = tmp_path / "1.tsv", tmp_path / "2.tsv"
    assert verify_checksums(str(build), listed, workers=1, report=str(one)) == verify_checksums(
        str(build), listed, workers=2, report=str(two)
    )
    assert one.read_bytes() == two.read_bytes()


def test_a_list_of_another_corpus_has_nothing_to_compare(
    build: Path, tmp_path: Path, run: Command
) -> None:
    listed = write_list(tmp_path, RAW)
    assert (
        "match the list: 0 of the 1 files in it\n"
        in run("verify", "lm1b", build, "--md5", listed, "--workers", "1", status=1).out
    )


def test_what_is_sound() -> None:
    equal = Finding(Status.EQUAL, "x", "")
    others = [Finding(status, "y", "") for status in (Status.NOT_COMPARED, Status.NOT_IN_LIST)]
    assert ChecksumVerdict("", (equal, *others)).is_sound
    assert not ChecksumVerdict("", tuple(others)).is_sound
    for status in (Status.DIFFERENT, Status.DAMAGED, Status.MISSING):
        assert not ChecksumVerdict("", (Finding(status, "y", ""), equal)).is_sound


def test_the_screen_shows_the_first_and_the_report_all(
    build: Path, tmp_path: Path, run: Command
) -> None:
    missing = {f"news.en-{number:05d}-of-00100": b"" for number in range(30)}
    listed = write_list(tmp_path, texts_below(build), missing)
    report = tmp_path / "r.tsv"
    command = ["verify", str(build), "--md5", listed, "--report", str(report), "--workers", "1"]
    shown = run(*command, status=1).out.splitlines()
    assert shown[4] == "missing: 30"
    assert shown[5 + 20] == f"  … and 10 more; all are in {report}"
    rows = report.read_text("utf-8").splitlines()
    assert sum(row.startswith("missing\t") for row in rows) == 30


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a", "b", "--md5", "x"], "--md5 compares one build: verify lm1b DIR --md5 LIST"),
        (["lm1b", "a", "b", "--md5", "x"], "--md5 compares one build: verify lm1b DIR --md5 LIST"),
        (["lm1b", "a"], "verify lm1b DIR needs --md5 LIST; without a list, use verify DIR"),
        (["lm1b", "a", "--reference", "x"], "--reference needs --md5 LIST"),
        (
            ["lm1b", "a", "--md5", "x", "--runner", "SparkRunner"],
            "--runner SparkRunner needs --report, on a file system that its workers share",
        ),
    ],
)
def test_wrong_settings(arguments: list[str], message: str, run: Command) -> None:
    assert run("verify", *arguments, status=2).err == f"corpusmill: error: {message}\n"


def test_a_folder_that_is_called_like_the_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = make_sentence_build(tmp_path)
    listed = write_list(tmp_path, texts_below(build))
    monkeypatch.chdir(tmp_path)
    assert main(["verify", "lm1b", "--md5", listed, "--workers", "1"]) == 0


def test_one_build_is_needed(build: Path, tmp_path: Path) -> None:
    corpora = tmp_path / "corpora"
    listed = write_list(tmp_path, texts_below(build))
    later = make_sentence_build(corpora, date="2007-2012")
    with pytest.raises(InputError) as raised:
        verify_checksums(str(corpora), listed, workers=1)
    assert str(raised.value) == (
        f"{corpora}: contains 2 builds; give the folder of one: {build}, {later}"
    )
    other = make_sentence_build(tmp_path / "other", corpus="pg19")
    with pytest.raises(InputError) as raised:
        verify_checksums(str(other), listed, workers=1)
    assert str(raised.value) == f"{other}: no finished build of lm1b in this folder or below"


def test_a_build_that_is_not_finished(
    build: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    listed = write_list(tmp_path, texts_below(build))
    (build / "COMPLETED").unlink()
    with caplog.at_level(logging.WARNING), pytest.raises(InputError) as raised:
        verify_checksums(str(build), listed, workers=1)
    assert str(raised.value) == f"{build}: no finished build in this folder or below"


def test_a_list_that_is_none(build: Path, tmp_path: Path, run: Command) -> None:
    (tmp_path / "list").write_text("No sums.\n")
    message = f"corpusmill: error: {tmp_path}/list: the list has no MD5 checksum\n"
    assert run("verify", build, "--md5", f"{tmp_path}/list", status=1).err == message


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder above a build that the pipeline has made."""
    folder = tmp_path_factory.mktemp("real")
    (folder / "news.2007.en.shuffled").write_bytes(b"".join(LINES))
    config = Lm1bConfig(
        [str(folder / "news.2007.en.shuffled")], shards=3, heldout_shards=2, checkpoints=True
    )
    launch(Lm1b(config), str(folder / "corpora"), workers=1)
    return folder / "corpora"


LINES = [f"Line {number} – \u201cof news\u201d.\n".encode() for number in range(200)]


def test_what_the_pipeline_has_made(real: Path, tmp_path: Path) -> None:
    assert main(["verify", str(real), "--workers", "1"]) == 0
    [sums] = real.rglob("md5sums")
    contents = {SORTED: b"".join(sorted(LINES))}
    tokenized = [f'Line {number} -- " of news . "\n'.encode() for number in range(200)]
    contents[TOKENIZED] = b"".join(line for _, line in sorted(zip(LINES, tokenized, strict=True)))
    listed = tmp_path / "list"
    listed.write_text(sums.read_text() + list_sums(contents))
    verdict = verify_checksums(str(real), str(listed), workers=1)
    assert verdict.is_sound
    assert len(verdict.of(Status.EQUAL)) == 3 + 2 + 2
    looked_at = [one for one in verdict.of(Status.NOT_IN_LIST) if one.detail != "of the build"]
    assert looked_at == []


def test_what_the_pipeline_has_made_and_somebody_damaged(real: Path, tmp_path: Path) -> None:
    copy = tmp_path / "corpora"
    shutil.copytree(real, copy)
    [path] = copy.rglob("news.en-00001-of-00003")
    content = path.read_bytes()
    path.write_bytes(content.replace(b"news", b"gnus", 1))
    [sums] = copy.rglob("md5sums")
    verdict = verify_checksums(str(copy), str(sums), workers=1)
    [found] = verdict.of(Status.DAMAGED)
    assert found.name.endswith("/news.en-00001-of-00003")
    assert "first difference: line 1: “" in found.detail
    assert "gnus" in found.detail
    assert main(["verify", str(copy), "--workers", "1"]) == 1
