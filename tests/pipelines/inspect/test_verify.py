"""`corpusmill verify`: finished builds that are sound, damaged, and that leak."""

import hashlib
import logging
import os
import shutil
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.inspect import verify
from corpusmill.pipelines.inspect.verify import Verdict, check_builds
from corpusmill.pipelines.inspect.verify import verify as verify_folders
from corpusmill.transforms.files.builds.check_builds import Fault, IdCounts
from corpusmill.transforms.files.builds.finished_builds import find_builds, find_folders
from corpusmill.transforms.files.errors import BuildError
from tests.makers.finished_builds import make_build, manifest_of, seal
from tests.makers.sentence_builds import TRAIN, make_sentence_build
from tests.makers.wiki_builds import Command
from tests.tools.error_of import error_of
from tests.tools.golden_tree import GOLDEN

UK = {"train": [["Q1", "Q2"], ["Q3"]], "validation": [["Q4"]], "test": [["Q5", "ukwiki:1"]]}
EL = {"train": [["Q1"]], "test": [["Q5", "elwiki:1"]]}


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    output = tmp_path / "corpora"
    make_build(output, "uk", UK)
    make_build(output, "el", EL)
    return output


def leak(corpora: Path) -> None:
    """Builds of other dates that tell other splits."""
    make_build(corpora, "uk", {"train": [["Q5"]]}, date="20260201")
    make_build(corpora, "vi", {"validation": [["Q3", "Q5"]], "test": [["Q7", "Q1"]]})


def test_sound_builds(corpora: Path, run: Command) -> None:
    assert run("verify", corpora, "--workers", "1").out == (
        "checked: 2 builds, 16 files, 9 rows\n"
        "entities: 7, of which 2 are in two or more editions\n"
        "faults of files: none\n"
        "entities in two splits: none\n"
        "OK: all is well\n"
    )


def test_every_kind_of_finding(corpora: Path, run: Command) -> None:
    leak(corpora)
    uk, el = (corpora / "wiki40b" / name / "20260101-1.0.0" for name in ("uk", "el"))
    (uk / "validation-00000-of-00001.parquet").unlink()
    (uk / "stats.json").write_text("{}")
    (el / "train-00001-of-00002.parquet").write_bytes(b"")
    report = corpora.parent / "report.tsv"
    command = ["verify", str(corpora), "--workers", "1", "--report", str(report)]
    assert run(*command, status=1).out == (
        "checked: 4 builds, 30 files, 13 rows\n"
        "entities: 7, of which 3 are in two or more editions\n"
        "faults of files: 4\n"
        f"  {el}/train-00001-of-00002.parquet: is not in the manifest\n"
        f"  {uk}/stats.json: has 2 bytes, but 115 in the manifest\n"
        f"  {uk}/stats.json: has no counts of the splits\n"
        f"  {uk}/validation-00000-of-00001.parquet: is missing\n"
        "entities in two splits: 3\n"
        "  Q1: train: el/20260101-1.0.0, uk/20260101-1.0.0; test: vi/20260101-1.0.0\n"
        "  Q3: train: uk/20260101-1.0.0; validation: vi/20260101-1.0.0\n"
        "  Q5: train: uk/20260201-1.0.0; validation: vi/20260101-1.0.0;"
        " test: el/20260101-1.0.0, uk/20260101-1.0.0\n"
        "FAILED: 7 faults, listed above; copy or build the editions again\n"
    )
    lines = report.read_text("utf-8").splitlines()
    assert lines[:12] == [
        "what\tname\tdetail",
        f"build\tel/20260101-1.0.0\t{el}",
        f"build\tuk/20260101-1.0.0\t{uk}",
        f"build\tuk/20260201-1.0.0\t{corpora}/wiki40b/uk/20260201-1.0.0",
        f"build\tvi/20260101-1.0.0\t{corpora}/wiki40b/vi/20260101-1.0.0",
        "checked\tunlinked builds\t0",
        "checked\tfiles\t30",
        "checked\tids\t13",
        "checked\tdistinct\t7",
        "checked\tshared\t3",
        "checked\tconflicts\t3",
        "checked\tfaults\t4",
    ]
    assert [line.split("\t")[0] for line in lines[12:]] == ["fault"] * 4 + ["entity"] * 3
    assert "entity\tQ3\ttrain: uk/20260101-1.0.0; validation: vi/20260101-1.0.0" in lines


@pytest.mark.slow
def test_the_report_is_the_same_whatever_the_workers_and_the_order(
    corpora: Path, tmp_path: Path
) -> None:
    leak(corpora)
    (corpora / "wiki40b/uk/20260101-1.0.0/test-00000-of-00001.parquet").unlink()
    builds = find_builds([str(corpora)], "wiki40b")
    one, two = tmp_path / "1.tsv", tmp_path / "2.tsv"
    check_builds(builds, workers=1, report=str(one))
    check_builds(builds, workers=2, report=str(two))
    assert one.read_bytes() == two.read_bytes()
    assert check_builds(builds[::-1], workers=1) == check_builds(builds, workers=1)


def test_a_changed_manifest_is_a_fault_and_the_other_builds_are_checked(corpora: Path) -> None:
    uk = corpora / "wiki40b/uk/20260101-1.0.0"
    with (uk / "manifest.json").open("a") as file:
        file.write("\n")
    verdict = verify_folders([str(corpora)], workers=1)
    assert verdict == Verdict(
        builds=1,
        unlinked_builds=0,
        files=7,
        counts=IdCounts(ids=3, distinct=3, shared=0, conflicts=0),
        fault_count=1,
        faults=(
            Fault(
                f"{uk}/COMPLETED",
                "does not match manifest.json: one of them was changed or is damaged",
            ),
        ),
        conflicts=(),
    )
    assert not verdict.is_sound


def test_what_cannot_be_known_of_builds_without_wikidata_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = {"train": [["ukwiki:1", "ukwiki:2"]]}
    make_build(tmp_path, "uk", pages, settings={"identity": "page id"})
    make_build(tmp_path, "el", {"test": [["Q1"]]}, settings={"identity": "wikidata item"})
    verdict = verify_folders([str(tmp_path)], workers=1)
    assert (verdict.builds, verdict.unlinked_builds) == (2, 1)
    verify.print_verdict(verdict)
    assert "not linked to Wikidata: 1 build;" in capsys.readouterr().out


def test_counts_of_the_manifest_that_do_not_fit_are_faults(corpora: Path) -> None:
    uk = corpora / "wiki40b/uk/20260101-1.0.0"
    counts = {"kept": {"train": 2, "validation": 1, "test": 2, "total": 5}}
    seal(uk, manifest_of(uk) | {"counts": counts})
    assert [fault.message for fault in verify_folders([str(uk)], workers=1).faults] == [
        "the parquet files of train have 3 rows, but 2 records were kept",
        "the tfrecord files of train have 3 rows, but 2 records were kept",
        "has 3 articles of train, but 2 were kept",
    ]


def test_a_build_under_construction_is_not_checked(
    corpora: Path, caplog: pytest.LogCaptureFixture
) -> None:
    el = corpora / "wiki40b/el/20260101-1.0.0"
    (el / "COMPLETED").unlink()
    building = el.rename(el.with_name(f".{el.name}.building-x1"))
    with caplog.at_level(logging.WARNING):
        verdict = verify_folders([str(corpora)], workers=1)
    assert (verdict.builds, verdict.is_sound) == (1, True)
    assert [record.getMessage() for record in caplog.records if record.name == verify.__name__] == [
        f"not checked, because the build is not finished: {building}"
    ]


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        (
            "COMPLETED",
            "is not finished: there is no file COMPLETED; the build was interrupted, or the file was deleted",
        ),
        ("manifest.json", "no build: there is no file manifest.json"),
    ],
)
def test_a_build_that_lost_its_mark_or_manifest_is_a_fault(
    corpora: Path, lost: str, message: str
) -> None:
    table = make_build(corpora, "wikidata", {}, corpus="entities", outputs=[])
    (table / lost).unlink()
    assert verify_folders([str(corpora)], workers=1).faults == (Fault(str(table), message),)


def test_no_build_at_all(tmp_path: Path, run: Command) -> None:
    message = f"corpusmill: error: {tmp_path}: no finished build in this folder or below\n"
    assert run("verify", tmp_path, status=1).err == message


def test_builds_of_other_corpora_have_no_entities_to_compare(corpora: Path) -> None:
    make_build(corpora, "en", {"train": [["Q4"]]}, corpus="another")
    verdict = verify_folders([str(corpora)], workers=1)
    assert (verdict.builds, verdict.files, verdict.counts.ids) == (3, 23, 9)
    assert verdict.is_sound


def test_builds_of_sentences(tmp_path: Path, run: Command) -> None:
    news = make_sentence_build(tmp_path)
    assert run("verify", tmp_path, "--workers", "1").out == (
        "checked: 1 build, 12 files\nfaults of files: none\nOK: all is well\n"
    )
    shard = news / TRAIN / "news.en-00001-of-00003"
    shard.unlink()
    assert run("verify", tmp_path, "--workers", "1", status=1).out == (
        f"checked: 1 build, 12 files\nfaults of files: 1\n  {shard}: is missing\n"
        "FAILED: 1 fault, listed above; copy or build the editions again\n"
    )


def test_the_screen_shows_the_first_and_the_report_all(corpora: Path, run: Command) -> None:
    many = [f"Q{number}" for number in range(100, 150)]
    make_build(corpora, "vi", {"train": [many]})
    make_build(corpora, "ms", {"test": [many]})
    report = corpora.parent / "r.tsv"
    for number in range(30):
        (corpora / f"wiki40b/vi/20260101-1.0.0/x{number:02}.parquet").touch()
    shown = run("verify", corpora, "--workers", "1", "--report", report, status=1).out.splitlines()
    assert len(shown) == 4 + 20 + 1 + 20 + 1 + 1
    assert shown[2] == "faults of files: 30"
    assert shown[23] == f"  … and 10 more; all are in {report}"
    assert shown[-2] == f"  … and 30 more; all are in {report}"
    lines = report.read_text("utf-8").splitlines()
    in_report = [line.split("\t")[1] for line in lines if line.startswith("entity\t")]
    assert sorted(in_report) == many
    assert sum(line.startswith("fault\t") for line in lines) == 30


def test_a_cluster_needs_a_place_for_the_report(corpora: Path, run: Command) -> None:
    assert run("verify", corpora, "--runner", "SparkRunner", status=2).err == (
        "corpusmill: error: --runner SparkRunner needs --report, on a file system that its workers share\n"
    )


def test_a_table_without_ids_ends_with_its_name(corpora: Path) -> None:
    el = corpora / "wiki40b/el/20260101-1.0.0"
    path = el / "test-00000-of-00001.parquet"
    pq.write_table(pa.table({"text": ["a", "b"]}), path)
    manifest = manifest_of(el)
    for file in manifest["outputs"]:
        if file["name"] == path.name:
            content = path.read_bytes()
            file["bytes"], file["sha256"] = len(content), hashlib.sha256(content).hexdigest()
    seal(el, manifest)
    said = error_of(BuildError, verify_folders, [str(corpora)], workers=1)
    assert said.startswith(f"{path}: missing columns: wikidata_id; the file has text")


def test_the_demo_is_sound(demo: Path) -> None:
    verdict = verify_folders([str(demo)], workers=1)
    builds = find_builds([str(demo)], "wiki40b")
    assert [build.edition for build in builds] == ["en", "ja", "uk"]
    kept = sum(build.manifest["counts"]["kept"]["total"] for build in builds)
    assert verdict.is_sound
    assert verdict.counts.ids == kept
    assert verdict.builds == len(find_folders([str(demo)]).finished)  # other corpora, too
    assert verdict.counts.shared > 3  # the samples tell of the same things


# Damage, drawn by a seed.


def damage(random: Random, tree: Path) -> str:
    """Does one thing to one file of a tree, and says which and what."""
    files = sorted(path for path in tree.rglob("*") if path.is_file())
    path, what = random.choice(files), random.choice(("flipped", "cut", "removed", "added"))
    data = bytearray(path.read_bytes())
    if not data:
        what = "removed"
    if what == "added":
        builds = [mark.parent for mark in files if mark.name == "COMPLETED"]
        folders = sorted({one.parent for one in files if any(b in one.parents for b in builds)})
        path = random.choice(folders) / random.choice((".nfs1", "notes.txt", "train-9.parquet"))
    elif what == "flipped":
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    elif what == "cut":
        del data[random.randrange(len(data)) :]
    path.unlink(missing_ok=True)  # the copies share their files
    if what != "removed":
        path.write_bytes(data)
    return f"{path.relative_to(tree)} {what}"


def unnoticed(seed: int, cases: int, whole: Path, folder: Path) -> list[str]:
    """The damages, each to a copy of a corpus, of which one check of all copies says nothing."""
    random = Random(seed)
    done = {}
    for case in range(cases):
        tree = folder / "damaged" / str(case)
        corpus = random.choice(sorted(whole.iterdir()))
        shutil.copytree(corpus, tree / corpus.name, copy_function=os.link)
        done[tree] = damage(random, tree)
    report = folder / "report.tsv"
    assert verify_folders([str(whole)], workers=1).is_sound
    verify_folders([str(folder / "damaged")], workers=1, report=str(report))
    lines = report.read_text("utf-8").splitlines()
    noticed = [line.split("\t")[1] for line in lines if line.startswith("fault\t")]
    return [
        what
        for tree, what in done.items()
        if not any(fault.startswith(f"{tree}/") for fault in noticed)
    ]


def test_damage_to_any_file_is_noticed(tmp_path: Path) -> None:
    """But for a CURRENT that is removed: then no edition is the current one."""
    whole = shutil.copytree(GOLDEN, tmp_path / "whole")
    for mark in whole.rglob("COMPLETED"):
        (mark.parents[1] / "CURRENT").write_text(f"{mark.parent.name}\n")
    missed = unnoticed(0, 100, whole, tmp_path)
    assert [one for one in missed if not one.endswith("CURRENT removed")] == []
