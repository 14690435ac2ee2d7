"""A build is published whole or not at all, whatever happens to its process."""

import contextlib
import errno
import hashlib
import multiprocessing
import os
import pathlib
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from corpusmill.pipelines.run import publish
from corpusmill.pipelines.run.publish import TargetError, building, is_completed
from corpusmill.transforms.files.builds.manifest import MANIFEST

# A fresh process that has imported the module, and forks quickly.
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["corpusmill.pipelines.run.publish"])


def write_build(folder: str, content: str) -> None:
    root = Path(folder)
    (root / "rejected").mkdir()
    (root / "train.parquet").write_text(content)
    (root / "rejected" / "r.parquet").write_text(content)
    (root / "manifest.json").write_text(f'"{content}"')


def make(target: Path, content: str = "new", *, replace: bool = False) -> None:
    with building(str(target), replace=replace) as folder:
        write_build(folder, content)


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "COMPLETED"
    }


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def whole(content: str) -> dict[str, str]:
    return {
        "train.parquet": content,
        "rejected/r.parquet": content,
        "manifest.json": f'"{content}"',
    }


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_build_appears_with_its_mark(
    umask: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    before = os.umask(umask)
    request.addfinalizer(lambda: os.umask(before))
    target = tmp_path / "wiki40b" / "uk" / "2026-1.0.0"
    with building(str(target)) as folder:
        assert Path(folder).parent == target.parent
        assert not target.exists()
        write_build(folder, "new")
    assert contents(target) == whole("new")
    digest = hashlib.sha256((target / "manifest.json").read_bytes()).hexdigest()
    assert (target / "COMPLETED").read_text() == f"{digest}  manifest.json\n"
    assert is_completed(str(target))
    assert names_in(target.parent) == ["2026-1.0.0"]
    for path in (target.parent, target, *target.iterdir()):
        assert path.stat().st_mode & 0o777 == (0o777 if path.is_dir() else 0o666) & ~umask, path


def test_a_build_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with building(str(tmp_path / "t")) as folder:
            write_build(folder, "new")
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        fail()
    assert names_in(tmp_path) == []


def test_a_finished_build_is_not_touched(tmp_path: Path) -> None:
    target = tmp_path / "t"
    make(target, "old")
    before = {path: path.stat().st_mtime_ns for path in target.rglob("*")}
    with pytest.raises(TargetError, match="contains a finished build"):
        make(target)
    assert {path: path.stat().st_mtime_ns for path in target.rglob("*")} == before
    assert contents(target) == whole("old")


def test_a_finished_build_is_replaced_where_asked(tmp_path: Path) -> None:
    make(tmp_path / "t", "old")
    make(tmp_path / "t", "new", replace=True)
    assert contents(tmp_path / "t") == whole("new")
    assert is_completed(str(tmp_path / "t"))


def test_a_finished_build_stays_where_its_replacement_fails(tmp_path: Path) -> None:
    make(tmp_path / "t", "old")
    with pytest.raises(RuntimeError), building(str(tmp_path / "t"), replace=True):
        raise RuntimeError
    assert contents(tmp_path / "t") == whole("old")
    assert is_completed(str(tmp_path / "t"))
    assert names_in(tmp_path) == ["t"]


def test_an_unfinished_folder_is_replaced_never_mixed(tmp_path: Path) -> None:
    target = tmp_path / "t"
    target.mkdir()
    (target / "stale.parquet").write_text("x")
    (target / MANIFEST).write_text("{}")
    assert not is_completed(str(target))
    make(target)
    assert contents(target) == whole("new")


def test_files_that_no_build_wrote_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(TargetError, match="has files that no build wrote; move them, or "):
        make(tmp_path)
    assert names_in(tmp_path) == ["notes.txt"]


def test_two_builds_of_one_target_at_once_the_second_refuses(tmp_path: Path) -> None:
    target = tmp_path / "t"
    with building(str(target)) as folder:
        with pytest.raises(TargetError, match="another build is running: "):
            make(target)
        write_build(folder, "first")
    assert contents(target) == whole("first")


def test_builds_of_different_targets_do_not_disturb_each_other(tmp_path: Path) -> None:
    with building(str(tmp_path / "1.0.0")) as one:
        make(tmp_path / "1.0.0-b", "two")
        write_build(one, "one")
    assert contents(tmp_path / "1.0.0") == whole("one")
    assert contents(tmp_path / "1.0.0-b") == whole("two")


@pytest.fixture
def busy_leftover(tmp_path: Path) -> Iterator[threading.Event]:
    """A leftover folder in which orphaned workers still write, until the event is set."""
    leftover = tmp_path / ".t.building-killed"
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            with contextlib.suppress(FileNotFoundError, FileExistsError):  # it is being removed
                (leftover / "deep").mkdir(parents=True, exist_ok=True)
                (leftover / "deep" / f"{number}.parquet").touch()

    writer = threading.Thread(target=write)
    writer.start()
    while not leftover.exists():
        time.sleep(0.001)
    yield stop
    stop.set()
    writer.join()


def test_a_leftover_is_removed_as_soon_as_nobody_writes_in_it(
    tmp_path: Path, busy_leftover: threading.Event
) -> None:
    threading.Timer(0.2, busy_leftover.set).start()
    make(tmp_path / "t")
    assert contents(tmp_path / "t") == whole("new")


def test_a_leftover_in_which_others_go_on_writing_is_told(
    tmp_path: Path, busy_leftover: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "LEFTOVER_SECONDS", 0.0)
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)
    with pytest.raises(TargetError, match="cannot be removed: workers of a killed build are still"):
        make(tmp_path / "t")
    assert not (tmp_path / "t").exists()


def test_a_target_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(TargetError, match="cannot be created"),
        building(f"{tmp_path}/file/corpus/en"),
    ):
        pass


def test_a_relative_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make(Path("out") / "t")
    assert contents(tmp_path / "out" / "t") == whole("new")


# Killed processes.


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_while_writing(target: Path, replace: bool) -> None:
    with building(str(target), replace=replace) as folder:
        (Path(folder) / "train.parquet").write_text("half")
        die()


def die_before_moving(target: Path, replace: bool) -> None:
    pathlib.Path.rename = lambda *_: die()  # type: ignore[method-assign, assignment]
    make(target, "half", replace=replace)


def die_before_the_mark(target: Path, replace: bool) -> None:
    publish._mark_completed = lambda target: die()
    make(target, "whole, but not marked", replace=replace)


def die_while_deleting(target: Path, replace: bool) -> None:
    """The files of the old build are gone, but not its manifest."""
    remove = shutil.rmtree

    def remove_in_part(path: Path | str, **options: bool) -> None:
        if path == str(target):
            assert names_in(target) == ["manifest.json"]
            die()
        remove(path, **options)

    shutil.rmtree = remove_in_part  # type: ignore[assignment]
    make(target, "half", replace=replace)


def die_before_deleting(target: Path, replace: bool) -> None:
    publish.remove_build = lambda target: die()
    make(target, "half", replace=replace)


def kill_in(stage: Callable[[Path, bool], None], target: Path, replace: bool = False) -> None:
    process = processes.Process(target=stage, args=(target, replace))
    process.start()
    process.join(30)
    assert process.exitcode == -signal.SIGKILL


@pytest.mark.parametrize("stage", [die_while_writing, die_before_moving, die_before_the_mark])
def test_a_killed_build_looks_unfinished_and_the_next_one_is_as_if_nothing_had_been(
    tmp_path: Path, stage: Callable[[Path, bool], None]
) -> None:
    target = tmp_path / "t"
    for _ in range(2):
        kill_in(stage, target)
        assert not is_completed(str(target))
        assert names_in(tmp_path) != []
    make(target)
    assert contents(target) == whole("new")
    assert is_completed(str(target))
    assert names_in(tmp_path) == ["t"]


@pytest.mark.parametrize(
    ("stage", "old_stays"),
    [
        (die_while_writing, True),
        (die_before_deleting, True),
        (die_while_deleting, False),
        (die_before_moving, False),
        (die_before_the_mark, False),
    ],
)
def test_a_killed_replacement_leaves_the_old_build_whole_or_unmarked(
    tmp_path: Path, stage: Callable[[Path, bool], None], old_stays: bool
) -> None:
    target = tmp_path / "t"
    make(target, "old")
    kill_in(stage, target, replace=True)
    assert is_completed(str(target)) == old_stays
    if old_stays:
        assert contents(target) == whole("old")
    make(target, "new", replace=True)
    assert contents(target) == whole("new")
    assert is_completed(str(target))
    assert names_in(tmp_path) == ["t"]


def test_what_a_build_runs_into_is_not_taken_for_another_build(tmp_path: Path) -> None:
    """A process that cannot be started raises the same kind of error as a lock that is held."""
    with pytest.raises(BlockingIOError), building(str(tmp_path / "t")):
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
