import functools
import hashlib
import itertools
import json
import logging
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpusmill.transforms.files.builds.finished_builds import (
    Build,
    CorpusFile,
    CorpusRows,
    ReadCorpus,
    RowGroup,
    count_rows,
    files_of,
    find_builds,
    find_folders,
    open_build,
    read_file,
    read_row_group,
    row_groups_of,
)
from corpusmill.transforms.files.builds.manifest import mark_of
from corpusmill.transforms.files.read_files import InputError
from tests.makers.finished_builds import make_build, manifest_of, seal, text_of
from tests.tools.case_tables import read_cases
from tests.tools.error_of import error_of
from tests.tools.run_pipeline import run_pipeline

IDS = {"train": [["Q1", "Q2", "Q3"], [], ["Q4"]], "test": [["Q5", "ukwiki:6"]]}


@pytest.fixture
def uk(tmp_path: Path) -> Path:
    return make_build(tmp_path, "uk", IDS)


def read(builds: Sequence[Build], columns: Sequence[str], *splits: str) -> list[CorpusRows]:
    transform = ReadCorpus(builds, columns, *([splits] if splits else []))
    return run_pipeline(lambda root: {"rows": root | transform}).elements["rows"]


def ids_of(rows: CorpusRows) -> list[str]:
    assert rows.table.column_names == ["wikidata_id"]
    ids: list[str] = rows.table["wikidata_id"].to_pylist()
    return ids


def plan_row_groups(build: Build, *splits: Sequence[str]) -> list[RowGroup]:
    return [group for file in files_of(build, *splits) for group in row_groups_of(file)]


def names(folders: Sequence[str], root: Path) -> list[str]:
    return [str(Path(folder).relative_to(root)) for folder in folders]


# One build.


def test_a_build_knows_its_files_in_order(uk: Path) -> None:
    build = open_build(str(uk))
    assert build == Build(
        folder=str(uk),
        corpus="wiki40b",
        edition="uk",
        dump_date="20260101",
        signature="wiki40b|lang:uk|dump:20260101|v:1.0.0",
        manifest=manifest_of(uk),
        files={
            "train": [f"{uk}/train-0000{n}-of-00003.parquet" for n in range(3)],
            "validation": [f"{uk}/validation-00000-of-00001.parquet"],
            "test": [f"{uk}/test-00000-of-00001.parquet"],
        },
        sha256=hashlib.sha256((uk / "manifest.json").read_bytes()).hexdigest(),
    )
    assert build.name == "uk/20260101-1.0.0"


def test_files_are_in_order_whatever_the_order_of_the_manifest(uk: Path) -> None:
    expected = open_build(str(uk)).files
    seal(uk, manifest_of(uk) | {"outputs": manifest_of(uk)["outputs"][::-1]})
    assert open_build(str(uk)).files == expected


def test_what_is_not_in_the_manifest_is_not_read(uk: Path) -> None:
    (uk / "train-00003-of-00004.parquet").write_bytes(
        (uk / "train-00000-of-00003.parquet").read_bytes()
    )
    assert len(open_build(str(uk)).files["train"]) == 3


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def change_manifest(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_text(path.read_text("utf-8").replace("20260101", "20260102"), "utf-8")


def seal_bytes(folder: Path, content: bytes) -> None:
    (folder / "manifest.json").write_bytes(content)
    (folder / "COMPLETED").write_bytes(mark_of(content))


def no_json(folder: Path) -> None:
    seal_bytes(folder, b"{'signature'")


@pytest.mark.parametrize(
    ("damage", "name", "message"),
    [
        (remove("COMPLETED"), "", ": no finished build: there is no file COMPLETED"),
        (remove("manifest.json"), "", ": no build: there is no file manifest.json"),
        (
            change_manifest,
            "/COMPLETED",
            ": does not match manifest.json: one of them was changed or is damaged",
        ),
        (
            lambda folder: (folder / "COMPLETED").write_text("done\n"),
            "/COMPLETED",
            ": does not match manifest.json: one of them was changed or is damaged",
        ),
        (
            lambda folder: seal(folder, {"signature": "x", "corpus": "wiki40b"}),
            "/manifest.json",
            ": not the manifest of a build: Object missing required field `edition`",
        ),
        (
            lambda folder: seal(folder, manifest_of(folder) | {"outputs": [{"name": 7}]}),
            "/manifest.json",
            ": not the manifest of a build: Expected `str`, got `int` - at `$.outputs[0].name`",
        ),
        (
            lambda folder: seal_bytes(folder, b'{"\\ud800": 1}'),
            "/manifest.json",
            ": not the manifest of a build: 'utf-8' codec can't encode character",
        ),
        (
            lambda folder: seal(folder, manifest_of(folder) | {"counts": None}),
            "/manifest.json",
            ": not the manifest of a build: Expected `object`, got `null` - at `$.counts`",
        ),
        (no_json, "/manifest.json", ": not JSON: Expecting property name"),
    ],
)
def test_what_is_no_sound_build(
    uk: Path, damage: Callable[[Path], None], name: str, message: str
) -> None:
    damage(uk)
    assert error_of(InputError, open_build, str(uk)).startswith(f"{uk}{name}{message}")


# A build may come from anybody: its values are names, dates and counts, and lead to no file outside it.

HOSTILE_NAMES = (
    "x/../../../../ESCAPED",
    "/etc",
    "..",
    ".",
    "-rf",
    ".hidden",
    "a b",
    "a\\b",
    "C:",
    "gs://bucket",
    "a\0b",
    "a\n",
    "*",
    "a" * 256,
    "a" * 1_000_000,
    ["uk"],
    7,
    None,
)


def change(name: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda manifest: manifest.update({name: value})


def change_file(name: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda manifest: manifest["outputs"][0].update({name: value})


def refusal_of(folder: Path, change: Callable[[dict[str, Any]], object]) -> str:
    manifest = manifest_of(folder)
    change(manifest)
    seal_bytes(folder, json.dumps(manifest).encode())
    message = error_of(InputError, open_build, str(folder))
    assert message.startswith(f"{folder}/manifest.json: not ")
    assert len(message) - len(str(folder)) < 300
    return message


@pytest.mark.parametrize("name", ["corpus", "edition", "dump_date", "version"])
@pytest.mark.parametrize("value", HOSTILE_NAMES, ids=lambda value: ascii(value)[:20])
def test_values_that_become_parts_of_paths_are_names(uk: Path, name: str, value: object) -> None:
    refusal_of(uk, change(name, value))


@pytest.mark.parametrize("name", ["name", "split", "format"])
@pytest.mark.parametrize("value", HOSTILE_NAMES, ids=lambda value: ascii(value)[:20])
def test_files_have_names_below_the_build(uk: Path, name: str, value: object) -> None:
    refusal_of(uk, change_file(name, value))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        *(
            ({"change": change, "change_file": change_file}[what](name, value), message)
            for what, name, value, message in read_cases(
                "files/finished_builds", "values_that_no_build_has"
            )
        ),
        (change("signature", "x" * 10_001), "Expected `str` of length <= 10000"),
        (change("counts", {"pages_read": 10**400}), "larger than 2^63 - at `$.counts.pages_read`"),
        (change("counts", {"pages_read": math.inf}), "a number is not finite"),
        (change("settings", {"x": [0, math.nan]}), "not finite, or larger than 2^63 - at `$.settings.x[1]`"),
        (change("settings", {"x": 10**5000}), "not JSON: Exceeds the limit (4300 digits)"),
        (change("settings", {"x": "\ud800"}), "can't encode character"),
        (change("settings", {"x": functools.reduce(lambda inner, _: [inner], range(60), 0)}), "nested"),
        (change_file("records", 10**400), "larger than 2^63 - at `$.outputs[0].records`"),
    ],
)  # fmt: skip
def test_values_that_no_build_has_are_refused(
    uk: Path, changed: Callable[[dict[str, Any]], object], message: str
) -> None:
    sys.set_int_max_str_digits(0)
    try:
        manifest = manifest_of(uk)
        changed(manifest)
        content = json.dumps(manifest).encode()
    finally:
        sys.set_int_max_str_digits(4300)
    seal_bytes(uk, content)
    assert message in error_of(InputError, open_build, str(uk))


def test_a_manifest_that_is_nested_without_end_is_refused(uk: Path) -> None:
    content = (uk / "manifest.json").read_bytes()
    nested = b'{"settings": ' + b"[" * 100_000 + b"]" * 100_000
    seal_bytes(uk, content.replace(b"{", nested + b",", 1))
    assert "not JSON" in error_of(InputError, open_build, str(uk))


@pytest.mark.parametrize(
    "name", ["train-00000-of-00003.parquet", "notes.txt", ".hidden", "rejected"]
)
@pytest.mark.parametrize("target", ["/etc/hostname", "/etc", "nowhere", "."])
def test_a_build_with_a_link_is_refused(uk: Path, name: str, target: str) -> None:
    (uk / name).unlink(missing_ok=True)
    (uk / name).symlink_to(target)
    message = "a link, which could lead to any file: put the file itself in its place, or remove it"
    assert error_of(InputError, open_build, str(uk)) == f"{uk}/{name}: {message}"


def test_a_link_to_a_build_is_followed(uk: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(uk)
    assert open_build(str(tmp_path / "link")).edition == "uk"


@pytest.mark.parametrize("edition", ["zh-min-nan", "be-x-old", "uk-near-duplicates-0.8", "бе_1"])
def test_names_of_editions_are_accepted(uk: Path, edition: str) -> None:
    seal(uk, manifest_of(uk) | {"edition": edition})
    assert open_build(str(uk)).edition == edition


# Finding builds.


def test_builds_are_found_at_any_depth_sorted_each_once(tmp_path: Path) -> None:
    uk = make_build(tmp_path / "b", "uk", IDS)
    newer = make_build(tmp_path / "a", "uk", IDS, date="20260201")
    el = make_build(tmp_path / "b" / "deep", "el", IDS)
    arguments = [f"{uk}/", str(tmp_path), str(el), f"{tmp_path}/a/../b"]
    found = find_builds(arguments, "wiki40b")
    assert [build.folder for build in found] == [str(el), str(uk), str(newer)]
    assert find_builds(arguments[::-1], "wiki40b") == found
    assert [build.folder for build in find_builds([str(uk)], "wiki40b")] == [str(uk)]


def test_folders_may_hold_any_character(tmp_path: Path) -> None:
    folder = make_build(tmp_path / "a [1] *?", "uk", IDS)
    make_build(tmp_path / "a 1 xx", "uk", IDS)
    assert [build.folder for build in find_builds([str(tmp_path / "a [1] *?")], "wiki40b")] == [
        str(folder)
    ]


def test_a_folder_may_be_named_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_build(tmp_path, "uk", IDS)
    monkeypatch.chdir(tmp_path)
    for name in (".", "wiki40b", "wiki40b/", "./wiki40b/uk"):
        assert [build.folder for build in find_builds([name], "wiki40b")] == [str(folder)]


def test_unfinished_builds_are_passed_over_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make_build(tmp_path, "uk", IDS)
    (make_build(tmp_path, "el", IDS) / "COMPLETED").unlink()
    early = make_build(tmp_path, "vi", IDS)
    for name in ("COMPLETED", "manifest.json"):
        (early / name).unlink()
    hidden = tmp_path / "wiki40b" / "uk" / ".20260201-1.0.0.building-x7"
    make_build(tmp_path, "uk", IDS, date="20260201").rename(hidden)
    found = find_folders([str(tmp_path)])
    assert names(found.finished, tmp_path) == ["wiki40b/uk/20260101-1.0.0"]
    unfinished = [
        "wiki40b/el/20260101-1.0.0",
        "wiki40b/uk/.20260201-1.0.0.building-x7",
        "wiki40b/vi/20260101-1.0.0",
    ]
    assert names(found.unfinished, tmp_path) == unfinished
    with caplog.at_level(logging.WARNING):
        assert [build.name for build in find_builds([str(tmp_path)], "wiki40b")] == [
            "uk/20260101-1.0.0"
        ]
    assert [record.getMessage() for record in caplog.records] == [
        f"skipped a build that is not finished: {tmp_path / name}" for name in unfinished
    ]


def test_other_corpora_and_builds_without_text_are_passed_over(tmp_path: Path) -> None:
    make_build(tmp_path, "uk", IDS)
    make_build(tmp_path, "wikidata", IDS, corpus="entities")
    make_build(tmp_path, "multilingual", IDS, outputs=[])
    assert [build.edition for build in find_builds([str(tmp_path)], "wiki40b")] == ["uk"]
    assert [build.edition for build in find_builds([str(tmp_path)], "entities")] == ["wikidata"]


@pytest.mark.parametrize("argument", ["nowhere", "empty", "wiki40b/el"])
def test_a_folder_without_a_finished_build_is_an_error(tmp_path: Path, argument: str) -> None:
    make_build(tmp_path, "uk", IDS)
    (tmp_path / "empty").mkdir()
    (make_build(tmp_path, "el", IDS) / "COMPLETED").unlink()
    folders = [str(tmp_path), str(tmp_path / argument)]
    message = f"{tmp_path}/{argument}: no finished build in this folder or below"
    assert error_of(InputError, find_builds, folders, "wiki40b") == message


# Reading.


def test_row_groups_come_in_the_order_of_the_files(uk: Path) -> None:
    groups = plan_row_groups(open_build(str(uk)))
    train, test = f"{uk}/train-0000{{}}-of-00003.parquet", f"{uk}/test-00000-of-00001.parquet"
    assert groups == [
        RowGroup(CorpusFile(path, split, "uk", "uk/20260101-1.0.0", "wiki40b"), number, rows)
        for path, split, number, rows in (
            (train.format(0), "train", 0, 2),
            (train.format(0), "train", 1, 1),
            (train.format(2), "train", 0, 1),
            (test, "test", 0, 2),
        )
    ]
    assert plan_row_groups(open_build(str(uk)), ["test"]) == groups[3:]
    rows = read_row_group(groups[1], ["text", "wikidata_id"])
    assert rows.table.to_pydict() == {"text": [text_of("Q3")], "wikidata_id": ["Q3"]}
    assert rows.table.column_names == ["text", "wikidata_id"]


@pytest.mark.parametrize("whole_files", [False, True])
def test_every_row_group_is_an_element(tmp_path: Path, uk: Path, whole_files: bool) -> None:
    make_build(tmp_path, "el", {"validation": [["Q7"]]}, date="20260201")
    builds = find_builds([str(tmp_path)], "wiki40b")
    if whole_files:
        files = itertools.chain(*map(files_of, builds))
        found = [rows for file in files for rows in read_file(file, ["wikidata_id"])]
    else:
        found = read(builds, ["wikidata_id"])
    assert sorted(
        (one.edition, one.split, Path(one.path).name, one.build, ids_of(rows))
        for rows in found
        for one in [rows.file]
    ) == [
        (
            "el",
            "validation",
            "validation-00000-of-00001.parquet",
            "el/20260201-1.0.0",
            ["Q7"],
        ),
        *(
            ("uk", split, f"{split}-{file}.parquet", "uk/20260101-1.0.0", ids)
            for split, file, ids in (
                ("test", "00000-of-00001", ["Q5", "ukwiki:6"]),
                ("train", "00000-of-00003", ["Q1", "Q2"]),
                ("train", "00000-of-00003", ["Q3"]),
                ("train", "00002-of-00003", ["Q4"]),
            )
        ),
    ]


def test_only_the_splits_asked_for_are_read(uk: Path) -> None:
    found = read([open_build(str(uk))], ["wikidata_id"], "test", "validation")
    assert [ids_of(rows) for rows in found] == [["Q5", "ukwiki:6"]]


def test_no_such_split(uk: Path) -> None:
    with pytest.raises(
        ValueError, match=r"^no such split: dev; expected one of train, validation, test$"
    ):
        _ = beam.Pipeline() | ReadCorpus([open_build(str(uk))], ["text"], ["train", "dev"])


def test_no_such_column(uk: Path) -> None:
    build = open_build(str(uk))
    assert error_of(InputError, read_row_group, plan_row_groups(build)[0], ["text", "title"]) == (
        f"{uk}/train-00000-of-00003.parquet: missing columns: title; the file has wikidata_id, text,"
        " version_id"
    )


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.unlink(), "no such file"),
        (lambda path: path.write_bytes(b""), "not a valid Parquet file: "),
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "not a valid Parquet file: "),
    ],
)
def test_a_damaged_file_is_an_error_that_names_it(
    uk: Path, damage: Callable[[Path], None], message: str
) -> None:
    path = uk / "train-00000-of-00003.parquet"
    damage(path)
    assert error_of(InputError, count_rows, str(path)).startswith(f"{path}: {message}")


def test_a_text_that_is_not_utf_8_is_an_error_that_names_the_file(uk: Path) -> None:
    path = uk / "train-00000-of-00003.parquet"
    table = pq.read_table(path)
    texts = pa.array([b"\xff"] * table.num_rows, pa.binary()).view(pa.string())
    pq.write_table(table.set_column(table.column_names.index("text"), "text", texts), path)
    (group, *_) = row_groups_of(files_of(open_build(str(uk)), ["train"])[0])
    message = error_of(InputError, read_row_group, group, ["text"])
    assert message.startswith(f"{path}: not a valid Parquet file: ")


def test_a_damaged_page_is_an_error_that_names_the_file(uk: Path) -> None:
    build = open_build(str(uk))
    groups = plan_row_groups(build)
    path = uk / "train-00000-of-00003.parquet"
    data = bytearray(path.read_bytes())
    data[4:90] = bytes(86)  # the first pages: the footer stays whole
    path.write_bytes(data)
    assert error_of(InputError, read_row_group, groups[0], ["wikidata_id"]).startswith(
        f"{path}: not a valid Parquet file: "
    )


@pytest.mark.parametrize(("corpus", "is_opened"), [("overlap", True), ("lm1b", False)])
def test_only_searches_count_the_kept_documents_by_a_number(
    tmp_path: Path, corpus: str, is_opened: bool
) -> None:
    folder = make_build(tmp_path, "en", {}, corpus=corpus, counts={"kept": 3})
    if is_opened:
        assert open_build(str(folder)).manifest["counts"]["kept"] == 3
    else:
        assert "not divided into splits" in error_of(InputError, open_build, str(folder))


def test_rows_of_a_file_are_counted(uk: Path) -> None:
    assert [count_rows(f"{uk}/train-0000{n}-of-00003.parquet") for n in range(3)] == [3, 0, 1]
