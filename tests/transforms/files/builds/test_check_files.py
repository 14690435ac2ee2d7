import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpusmill.transforms.files.builds.check_builds import (
    CheckFiles,
    Fault,
    check_counts,
    check_stats,
    find_unlisted,
)
from corpusmill.transforms.files.builds.finished_builds import CorpusFile, open_build
from tests.makers.finished_builds import make_build, manifest_of, seal
from tests.makers.sentence_builds import SORTED, make_sentence_build
from tests.makers.sentence_builds import TRAIN as TRAIN_TEXT
from tests.tools.case_tables import read_cases
from tests.tools.run_pipeline import run_pipeline

IDS = {"train": [["Q1", "Q2", "Q3"], ["Q4"]], "test": [["Q5"]]}
TRAIN = "train-00000-of-00002.parquet"
FRAMES = "wiki40b-train.tfrecord-00001-of-00002"
SHA = r"[0-9a-f]{64}"


@pytest.fixture
def uk(tmp_path: Path) -> Path:
    return make_build(tmp_path, "uk", IDS)


def check(*folders: Path) -> tuple[list[CorpusFile], list[Fault]]:
    """(whole Parquet files, faults)"""
    builds = [open_build(str(folder)) for folder in folders]
    found = run_pipeline(lambda root: root | CheckFiles(builds)).elements
    return sorted(found["whole"]), sorted(found["faults"])


def test_sound_builds_have_whole_files_and_no_faults(tmp_path: Path, uk: Path) -> None:
    el = make_build(tmp_path, "el", {})
    whole, faults = check(uk, el)
    assert faults == []
    assert [(file.edition, file.split, Path(file.path).name) for file in whole] == [
        ("el", "test", "test-00000-of-00001.parquet"),
        ("el", "train", "train-00000-of-00001.parquet"),
        ("el", "validation", "validation-00000-of-00001.parquet"),
        ("uk", "test", "test-00000-of-00001.parquet"),
        ("uk", "train", "train-00000-of-00002.parquet"),
        ("uk", "train", "train-00001-of-00002.parquet"),
        ("uk", "validation", "validation-00000-of-00001.parquet"),
    ]
    assert whole[4] == CorpusFile(f"{uk}/{TRAIN}", "train", "uk", "uk/20260101-1.0.0", "wiki40b")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("name", [TRAIN, FRAMES])
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (Path.unlink, "is missing"),
        (cut, r"has [\d,]+ bytes, but [\d,]+ in the manifest"),
        (flip, f"has the SHA-256 {SHA}, but {SHA} in the manifest"),
    ],
)
def test_every_damaged_file_is_told_and_the_others_are_whole(
    uk: Path, name: str, damage: Callable[[Path], None], message: str
) -> None:
    before, _ = check(uk)
    damage(uk / name)
    whole, faults = check(uk)
    assert [fault.path for fault in faults] == [f"{uk}/{name}"]
    assert re.fullmatch(message, faults[0].message)
    assert whole == [file for file in before if file.path != f"{uk}/{name}"]


def relist(folder: Path, name: str, **changed: Any) -> None:
    """Lists a file with the hash that it has, and with other values."""
    manifest = manifest_of(folder)
    content = (folder / name).read_bytes()
    now = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    manifest["outputs"] = [
        file | now | changed if file["name"] == name else file for file in manifest["outputs"]
    ]
    seal(folder, manifest)


def test_rows_are_counted_in_the_files(uk: Path) -> None:
    relist(uk, TRAIN, records=4)
    assert check(uk)[1] == [Fault(f"{uk}/{TRAIN}", "has 3 rows, but 4 in the manifest")]


def test_what_was_listed_broken_is_no_parquet_file(uk: Path) -> None:
    cut(uk / TRAIN)
    relist(uk, TRAIN)
    [fault] = check(uk)[1]
    assert fault.path == f"{uk}/{TRAIN}"
    assert fault.message.startswith("not a valid Parquet file: ")


def test_counts_of_the_manifest(uk: Path) -> None:
    assert list(check_counts(open_build(str(uk)))) == []
    kept = {"train": 5, "validation": 0, "test": 1, "total": 6}
    seal(uk, manifest_of(uk) | {"counts": {"kept": kept}})
    assert list(check_counts(open_build(str(uk)))) == [
        Fault(str(uk), "the parquet files of train have 4 rows, but 5 records were kept"),
        Fault(str(uk), "the tfrecord files of train have 4 rows, but 5 records were kept"),
    ]


def test_a_split_whose_files_are_not_listed(uk: Path) -> None:
    manifest = manifest_of(uk)
    manifest["outputs"] = [file for file in manifest["outputs"] if file["format"] != "parquet"]
    seal(uk, manifest)
    assert list(check_counts(open_build(str(uk)))) == [
        Fault(str(uk), "the parquet files of train have 0 rows, but 4 records were kept"),
        Fault(str(uk), "the parquet files of test have 0 rows, but 1 records were kept"),
    ]


def test_a_build_in_one_format(uk: Path) -> None:
    manifest = manifest_of(uk)
    manifest["outputs"] = [file for file in manifest["outputs"] if file["format"] == "parquet"]
    seal(uk, manifest)
    assert list(check_counts(open_build(str(uk)))) == []


def test_a_build_that_keeps_no_splits(tmp_path: Path) -> None:
    folder = make_build(tmp_path, "wikidata", {}, corpus="entities", counts={}, outputs=[])
    build = open_build(str(folder))
    (folder / "stats.json").unlink()
    assert not [*check_counts(build), *check_stats(build, "sentences")]


def test_files_that_the_manifest_does_not_list(uk: Path) -> None:
    names = [".hidden", "rejected/more/notes.txt", "train-00002-of-00003.parquet"]
    (uk / "rejected" / "more").mkdir(parents=True)
    for name in names:
        (uk / name).write_bytes(b"")
    assert find_unlisted(open_build(str(uk))) == [f"{uk}/{name}" for name in names]


@pytest.mark.parametrize(
    ("content", "messages"),
    [*read_cases("files/check_files", "the_statistics_fit"), (None, ["is missing"])],
)
def test_the_statistics_fit(uk: Path, content: str | None, messages: list[str]) -> None:
    (uk / "stats.json").unlink()
    if content is not None:
        (uk / "stats.json").write_text(content)
    assert list(check_stats(open_build(str(uk)), "articles")) == [
        Fault(f"{uk}/stats.json", message) for message in messages
    ]


@pytest.fixture
def news(tmp_path: Path) -> Path:
    return make_sentence_build(tmp_path, parts={SORTED: [b"One .\n", b"Two .\n"]})


def test_a_build_of_sentences_is_sound(news: Path) -> None:
    build = open_build(str(news))
    whole, faults = check(news)
    assert faults == []
    assert [(file.corpus, file.split) for file in whole] == [("lm1b", "test")] * 2 + [
        ("lm1b", "train")
    ] * 2
    assert not [*check_counts(build), *check_stats(build, "sentences"), *find_unlisted(build)]


@pytest.mark.parametrize("name", read_cases("files/check_files", "damaged_files_of_sentences"))
def test_damaged_files_of_sentences(news: Path, name: str) -> None:
    flip(news / name)
    [fault] = check(news)[1]
    assert fault.path == f"{news}/{name}"
    assert re.fullmatch(f"has the SHA-256 {SHA}, but {SHA} in the manifest", fault.message)


def test_lines_are_counted_in_the_files(news: Path) -> None:
    name = f"{TRAIN_TEXT}/news.en-00001-of-00003"
    (news / name).write_bytes(b"One .\nTwo .\nThree .")
    relist(news, name, records=3)
    assert check(news)[1] == [Fault(f"{news}/{name}", "has 2 lines, but 3 in the manifest")]


def test_counts_of_sentences(news: Path) -> None:
    kept = {"train": 5, "test": 2, "paper_test": 2, "total": 7}
    seal(news, manifest_of(news) | {"counts": {"kept": kept}})
    build = open_build(str(news))
    assert list(check_counts(build)) == [
        Fault(str(news), "the parquet files of train have 4 rows, but 5 records were kept"),
        Fault(str(news), "the parquet files of paper_test have 1 rows, but 2 records were kept"),
        Fault(str(news), "the text files of train have 4 rows, but 5 records were kept"),
    ]
    assert list(check_stats(build, "sentences")) == [
        Fault(f"{news}/stats.json", "has 4 sentences of train, but 5 were kept"),
        Fault(f"{news}/stats.json", "has 1 sentences of paper_test, but 2 were kept"),
    ]
