"""Editions side by side, and the file that names the current one."""

import errno
import fcntl
import os
import shutil
from pathlib import Path

import pytest

from corpusmill.pipelines.run import editions
from corpusmill.transforms.files.read_files import InputError
from tests.pipelines.refresh.wiki_site import tree
from tests.tools.case_tables import read_cases

NAMES = ["20251101-1.9.0", "20251101-1.10.0", "20251120-1.9.0", "20260101-1.10.0"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in NAMES:
        (tmp_path / name / "rejected").mkdir(parents=True)
        (tmp_path / name / "COMPLETED").write_text("x")
        (tmp_path / name / "rejected" / "x.parquet").write_text("x")
    return tmp_path


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_dir())


def test_the_current_edition(folder: Path) -> None:
    assert editions.read_current(str(folder)) == ""
    editions.set_current(str(folder), NAMES[2])
    assert (folder / "CURRENT").read_text() == "20251120-1.9.0\n"
    assert editions.read_current(str(folder)) == NAMES[2]
    editions.set_current(str(folder), NAMES[3])
    assert editions.read_current(str(folder)) == NAMES[3]
    assert not list(folder.glob(".*"))


def test_only_a_finished_build_can_be_current(folder: Path) -> None:
    editions.set_current(str(folder), NAMES[1])
    (folder / NAMES[2] / "COMPLETED").unlink()
    with pytest.raises(InputError, match="no finished build"):
        editions.set_current(str(folder), NAMES[2])
    assert editions.read_current(str(folder)) == NAMES[1]


def test_a_disk_that_does_not_say_is_not_taken_for_one_without_editions(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editions.set_current(str(folder), NAMES[2])

    def fail(_: Path) -> None:
        raise OSError(errno.ESTALE, "Stale file handle")

    monkeypatch.setattr(Path, "stat", fail)
    with pytest.raises(OSError, match="Stale file handle"):
        editions.read_current(str(folder))


@pytest.mark.parametrize("content", ["20251120-1.9.0\n", "../other\n", "", "\udcff"])
def test_a_pointer_to_nothing_counts_for_nothing(
    folder: Path, caplog: pytest.LogCaptureFixture, content: str
) -> None:
    (folder / NAMES[2] / "COMPLETED").unlink()
    (folder / "CURRENT").write_bytes(content.encode("utf-8", "surrogateescape"))
    assert editions.read_current(str(folder)) == ""
    assert "which is not a finished build" in caplog.text


def test_age() -> None:
    older = ["undated-9.0", "latest-9.0", "20991231-9.0", "2099-9.0"]
    assert sorted([*reversed(NAMES), *older], key=editions.edition_age)[4:] == NAMES
    with pytest.raises(ValueError, match="is not the name of an edition; expected one like"):
        editions.edition_age("20251101")


@pytest.mark.parametrize(
    ("current", "keep", "rejected", "left"), read_cases("pipelines/editions", "pruning")
)
def test_pruning(
    folder: Path, current: int, keep: int, rejected: list[int], left: list[int]
) -> None:
    editions.set_current(str(folder), NAMES[current])
    (folder / f"changes-{NAMES[0]}.tsv").write_text("x")
    (folder / f"changes-{NAMES[0]}.tsv.json").write_text("x")
    (folder / f"verified-{NAMES[0]}.tsv").write_text("x")
    removed = editions.prune(str(folder), keep, [NAMES[one] for one in rejected])
    assert names_in(folder) == sorted(NAMES[one] for one in left)
    assert removed == [name for at, name in enumerate(NAMES) if at not in left]
    assert len(list(folder.glob("changes-*"))) == (2 if 0 in left else 0)
    assert len(list(folder.glob("verified-*"))) == (1 if 0 in left else 0)


def test_nothing_is_removed_without_a_current_edition(folder: Path) -> None:
    assert editions.prune(str(folder), 1) == []
    assert names_in(folder) == sorted(NAMES)


def test_what_a_killed_removal_left_is_removed(folder: Path) -> None:
    editions.set_current(str(folder), NAMES[3])
    for at in (0, 2):
        (folder / NAMES[at] / "COMPLETED").unlink()
    (folder / "20260101-2.0.0").mkdir()  # newer: somebody may be building it
    (folder / "multilingual-2").mkdir()
    assert editions.prune(str(folder), 2) == [NAMES[0], NAMES[2]]
    assert names_in(folder) == sorted([NAMES[1], NAMES[3], "20260101-2.0.0", "multilingual-2"])


def test_leftovers_of_builds(folder: Path) -> None:
    editions.set_current(str(folder), NAMES[2])
    names = [f".{NAMES[0]}.building-x1", f".{NAMES[2]}.stages", f".{NAMES[3]}.stages", ".mine"]
    used = f".{NAMES[1]}.stages"
    for name in (*names, used):
        (folder / name / "clean-1").mkdir(parents=True)
    descriptor = os.open(folder / used, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert editions.remove_leftovers(str(folder)) == names[:2]
    assert names_in(folder) == sorted([*NAMES, *names[2:], used])
    os.close(descriptor)
    assert editions.remove_leftovers(str(folder)) == [used]


def test_the_mark_goes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editions.set_current(str(folder), NAMES[3])
    before = tree(folder / NAMES[0])

    def fail(target: str) -> None:
        assert not (folder / NAMES[0] / "COMPLETED").exists()
        raise OSError("killed here")

    monkeypatch.setattr(shutil, "rmtree", fail)
    with pytest.raises(OSError, match="killed here"):
        editions.prune(str(folder), 1)
    assert tree(folder / NAMES[0]).keys() == before.keys() - {"COMPLETED"}
