from pathlib import Path

import pytest

from corpusmill.transforms.files.builds.finished_builds import open_build
from corpusmill.transforms.files.read_files import InputError, hash_input
from corpusmill.transforms.news.artefacts import Finding, ListedSum, Status
from corpusmill.transforms.news.check_checksums import (
    Comparison,
    StoredFile,
    list_below,
    plan_comparisons,
    read_list,
)
from tests.makers.sentence_builds import (
    HELDOUT,
    SORTED,
    TOKENIZED,
    TRAIN,
    make_sentence_build,
    texts_below,
)
from tests.tools.error_of import error_of
from tests.tools.object_store import ObjectStore
from tests.transforms.files.test_list_folders import FolderStore

MD5 = "0" * 32
LEFT_OUT = Status.NOT_COMPARED
ONE = f"{TRAIN}/news.en-00001-of-00003"
WHOLE = f"{HELDOUT}/news.en-00000-of-00003"
HELD_OUT = f"{HELDOUT}/news.en.heldout-00001-of-00002"
PARQUET = (
    "paper_test-00000-of-00001",
    *(f"{s}-0000{n}-of-00002" for s in ("test", "train") for n in (0, 1)),
)
OTHERS = dict.fromkeys(
    ["COMPLETED", "manifest.json", "stats.json", *(f"{name}.parquet" for name in PARQUET)],
    "of the build",
)


def listed(*names: str) -> list[ListedSum]:
    return [ListedSum(name, MD5, line) for line, name in enumerate(names, start=1)]


def stored(folder: Path, name: str) -> StoredFile:
    path = str(folder / name)
    return StoredFile(path, hash_input("", path).sha256)


def test_what_there_is_to_compare(tmp_path: Path) -> None:
    folder = make_sentence_build(tmp_path, parts={SORTED: [b"b\n", b"a\n"]})
    names = [f"/home/x/{ONE}", WHOLE, HELD_OUT, SORTED, "train-00000-of-00002.parquet"]
    plan = plan_comparisons(open_build(str(folder)), listed(*names))
    parts = [f"{SORTED}-0000{number}-of-00002" for number in (0, 1)]
    assert plan.comparisons == [
        Comparison(name, MD5, tuple(stored(folder, part) for part in of_name), (), twin)
        for name, of_name, twin in (
            (names[0], [ONE], f"{folder}/train-00000-of-00002.parquet"),
            (WHOLE, [WHOLE], ""),
            (HELD_OUT, [HELD_OUT], f"{folder}/test-00001-of-00002.parquet"),
            (SORTED, parts, ""),
            (names[4], [names[4]], ""),
        )
    ]
    assert plan.bytes == sum(
        (folder / name).stat().st_size for name in (ONE, WHOLE, HELD_OUT, *parts, names[4])
    )


def test_files_that_the_list_does_not_name(tmp_path: Path) -> None:
    folder = make_sentence_build(tmp_path, parts={SORTED: [b"a\n"]})
    (folder / "notes.txt").write_text("x")
    (folder / TRAIN / "news.en-00009-of-00010").write_text("x")
    known = plan_comparisons(open_build(str(folder)), listed(ONE)).known
    names = OTHERS | {"notes.txt": "nor in the manifest"}
    shards = [
        *texts_below(folder).keys() - {ONE},
        f"{SORTED}-00000-of-00001",
    ]
    names |= dict.fromkeys(shards, "a shard or a part of a checkpoint")
    assert f"{TRAIN}/news.en-00009-of-00010" in names
    assert list(known) == [
        Finding(Status.NOT_IN_LIST, name, detail) for name, detail in sorted(names.items())
    ]


@pytest.mark.parametrize(
    ("name", "status", "detail"),
    [
        (f"{TRAIN}/news.en-00003-of-00100", Status.MISSING, "is not in the build"),
        ("news.en.heldout-00009-of-00050", Status.MISSING, "is not in the build"),
        (TOKENIZED, LEFT_OUT, "the build was made without checkpoints; --checkpoints keeps them"),
        (
            "training-monolingual/news.2007.en.shuffled",
            LEFT_OUT,
            "raw input, which is not a part of a build",
        ),
        (
            "tar_archives/training-monolingual.tgz",
            LEFT_OUT,
            "archive, which is not a part of a build",
        ),
        ("README", LEFT_OUT, "not an artefact of a build"),
    ],
)
def test_what_is_not_there(tmp_path: Path, name: str, status: Status, detail: str) -> None:
    build = open_build(str(make_sentence_build(tmp_path)))
    plan = plan_comparisons(build, listed(name))
    assert plan.comparisons == []
    assert [one for one in plan.known if one.status != Status.NOT_IN_LIST] == [
        Finding(status, name, detail)
    ]


def test_checkpoints_that_were_kept_must_be_there(tmp_path: Path) -> None:
    folder = make_sentence_build(tmp_path, parts={SORTED: [b"a\n", b"b\n"], TOKENIZED: [b"a\n"]})
    (folder / f"{SORTED}-00001-of-00002").unlink()
    (folder / f"{TOKENIZED}-00000-of-00001").unlink()
    known = plan_comparisons(open_build(str(folder)), listed(SORTED, TOKENIZED)).known
    assert [one for one in known if one.status != Status.NOT_IN_LIST] == [
        Finding(
            Status.MISSING,
            SORTED,
            f"1 of the 2 parts of {SORTED} are missing, the first is 00001",
        ),
        Finding(
            Status.MISSING,
            TOKENIZED,
            "is not in the build, although the build has kept checkpoints",
        ),
    ]


def test_the_reference_may_have_other_folders(tmp_path: Path) -> None:
    build = open_build(str(make_sentence_build(tmp_path / "build")))
    reference = tmp_path / "r13output"
    (reference / "deep" / TRAIN).mkdir(parents=True)
    path = reference / "deep" / ONE
    path.touch()
    plan = plan_comparisons(build, listed(ONE, WHOLE), str(reference))
    assert [one.reference for one in plan.comparisons] == [(str(path),), ()]


def test_a_reference_that_has_a_file_twice(tmp_path: Path) -> None:
    build = open_build(str(make_sentence_build(tmp_path / "build")))
    for name in ("a", "b"):
        (tmp_path / "reference" / name).mkdir(parents=True)
        (tmp_path / "reference" / name / "news.en-00001-of-00003").touch()
    assert error_of(
        InputError, plan_comparisons, build, listed(ONE), str(tmp_path / "reference")
    ) == (
        f"{tmp_path}/reference: {ONE}: the name is ambiguous, it may be any of a/news.en-00001-of-00003,"
        " b/news.en-00001-of-00003"
    )


@pytest.mark.parametrize(
    ("name", "message"), [("x", "no such folder"), ("f", "a file, not a folder")]
)
def test_a_reference_that_is_no_folder(tmp_path: Path, name: str, message: str) -> None:
    build = open_build(str(make_sentence_build(tmp_path)))
    (tmp_path / "f").touch()
    path = f"{tmp_path}/{name}"
    error = error_of(InputError, plan_comparisons, build, listed(ONE), path)
    assert error == f"{path}: {message}"


def test_files_below_a_folder_links_too(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "two").write_text("22")
    (tmp_path / "one").write_text("1")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert list_below(str(tmp_path)) == {"one": 1, "a/b/two": 2, "link/b/two": 2}


@pytest.mark.parametrize("store", [ObjectStore, FolderStore])
def test_files_that_are_on_no_disk(
    monkeypatch: pytest.MonkeyPatch, store: type[ObjectStore]
) -> None:
    scheme = store.scheme()
    names = {"one": b"1", "a/two": b"22", "a/b/three": b"333"}
    objects = {f"{scheme}://x/build/{name}": content for name, content in names.items()}
    monkeypatch.setattr(ObjectStore, "objects", objects | {f"{scheme}://x/buildings/no": b""})
    sizes = {"one": 1, "a/two": 2, "a/b/three": 3}
    assert list_below(f"{scheme}://x/build") == sizes


def test_reading_a_list(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_bytes(b"\xff prose\n" + f"{MD5}  {ONE}\n".encode())
    assert read_list(str(path)) == [ListedSum(ONE, MD5, 2)]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("prose", "prose: the list has no MD5 checksum"),
        ("sha", "sha: line 1: expected MD5 checksums, found SHA-256"),
        ("none", "none: no such file"),
        ("[ps]*", "[ps]*: 2 files match this pattern; give the path of one list of checksums"),
        ("folder", "folder: a folder, not a file"),
    ],
)
def test_lists_that_cannot_be_used(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "prose").write_text("No sums.\n")
    (tmp_path / "sha").write_text(f"{MD5}{MD5}  x\n")
    assert error_of(InputError, read_list, f"{tmp_path}/{name}") == f"{tmp_path}/{message}"
