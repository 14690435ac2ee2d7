"""Folders of stages: what is finished stays, what is not goes, and nobody else writes there."""

import contextlib
import json
import multiprocessing
import operator
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from corpusmill.pipelines.run.publish import TargetError
from corpusmill.pipelines.run.run_stages import (
    MARK,
    DamagedStageError,
    StageFolders,
    stage_folders,
)
from corpusmill.transforms.files.stage_files import LIST

processes = multiprocessing.get_context("forkserver")

KEYS = ("01-sort-aaaa", "02-write-bbbb")


@contextlib.contextmanager
def opened(target: Path, keep: tuple[str, ...] = KEYS) -> Iterator[StageFolders]:
    with stage_folders(str(target)) as folders:
        folders.open(keep)
        yield folders


def run(folders: StageFolders, key: str = KEYS[0], content: str = "lines") -> Path:
    """A stage that writes a file and a piece that waits, and is finished."""
    folder = Path(folders.begin(key))
    (folder / ".scratch").mkdir()
    (folder / ".scratch" / "piece").write_text("a piece")
    (folder / "lines-1").write_text(content)
    (folder / LIST).write_text("{}")
    folders.finish(str(folder), {"read-lines/lines": 7})
    return folder


def test_a_finished_stage_is_found_again(tmp_path: Path) -> None:
    with opened(tmp_path / "t") as folders:
        folder = run(folders)
        assert folders.find(KEYS[1]) is None
    with opened(tmp_path / "t") as folders:
        found = folders.find(KEYS[0])
        assert found
        assert (found.folder, found.counts) == (str(folder), {"read-lines/lines": 7})
        assert found.total_bytes == len("lines") + len("a piece") + len("{}")
        assert (folder / "lines-1").read_text() == "lines"
    assert folder.parent == tmp_path / ".t.stages"


def test_what_is_not_finished_is_removed(tmp_path: Path) -> None:
    with opened(tmp_path / "t") as folders:
        begun = Path(folders.begin(KEYS[0]))
        (begun / "lines-1").write_text("half")
    assert begun.exists()  # as if the process had been killed
    with opened(tmp_path / "t") as folders:
        assert not begun.exists()
        assert folders.find(KEYS[0]) is None


def test_every_attempt_has_a_folder_of_its_own(tmp_path: Path) -> None:
    with opened(tmp_path / "t") as folders:
        first, second = folders.begin(KEYS[0]), folders.begin(KEYS[0])
        assert first != second
        folders.finish(second, {})
        (Path(first) / "lines-9").write_text("of a worker that is left over")
        found = folders.find(KEYS[0])
        assert found
        assert found.folder == second


@pytest.mark.parametrize(("key", "keep"), [("01-sort-cccc", KEYS), (KEYS[0], ())])
def test_stages_that_are_not_to_be_kept_are_removed(
    tmp_path: Path, key: str, keep: tuple[str, ...]
) -> None:
    with opened(tmp_path / "t") as folders:
        folder = run(folders, key)
    with opened(tmp_path / "t", keep):
        assert not folder.exists()


def test_stages_can_be_forgotten(tmp_path: Path) -> None:
    with opened(tmp_path / "t") as folders:
        first, second = run(folders, KEYS[0]), run(folders, KEYS[1])
        folders.forget(KEYS[1:])
        assert (first.exists(), second.exists()) == (True, False)


@pytest.mark.parametrize("name", ["lines-1", ".scratch/piece"])
@pytest.mark.parametrize(("is_cut", "word"), [(True, "truncated"), (False, "missing")])
def test_a_stage_that_lacks_something_is_not_taken(
    tmp_path: Path, name: str, is_cut: bool, word: str
) -> None:
    with opened(tmp_path / "t") as folders:
        path = run(folders) / name
    if is_cut:
        path.write_bytes(path.read_bytes()[:-1])
    else:
        path.unlink()
    with opened(tmp_path / "t") as folders, pytest.raises(DamagedStageError, match=word) as error:
        folders.find(KEYS[0])
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    "content", ["", "[]", "[" * 100_000, '{"files": {}}', '{"files": {"a": "b"}}']
)
def test_a_stage_whose_mark_is_damaged_is_not_taken(tmp_path: Path, content: str) -> None:
    with opened(tmp_path / "t") as folders:
        path = run(folders) / "stage.json"
    path.write_text(content)
    with opened(tmp_path / "t") as folders, pytest.raises(DamagedStageError) as error:
        folders.find(KEYS[0])
    assert str(error.value).startswith(f"{path} is damaged: ")


def test_what_a_worker_adds_to_a_finished_stage_does_no_harm(tmp_path: Path) -> None:
    with opened(tmp_path / "t") as folders:
        folder = run(folders)
        (folder / "lines-2").write_text("of a bundle that was run twice")
        with (folder / ".scratch" / "piece").open("a") as file:
            file.write("and more")
        assert folders.find(KEYS[0])


def test_a_file_that_was_being_written_need_not_be_there_later(tmp_path: Path) -> None:
    with opened(tmp_path / "t") as folders:
        folder = Path(folders.begin(KEYS[0]))
        begun = folder / ".lines-1.abcd.part"
        begun.write_text("half")
        folders.finish(str(folder), {})
        begun.unlink()
        assert folders.find(KEYS[0])


def test_after_an_error_only_finished_stages_stay(tmp_path: Path) -> None:
    def run_two() -> None:
        with opened(tmp_path / "t") as folders:
            run(folders)
            folders.begin(KEYS[1])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        run_two()
    (stays,) = (tmp_path / ".t.stages").iterdir()
    assert stays.name.startswith(KEYS[0])


def test_an_error_in_the_first_stage_leaves_nothing(tmp_path: Path) -> None:
    def run_half() -> None:
        with opened(tmp_path / "t") as folders:
            (Path(folders.begin(KEYS[0])) / "lines-1").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_half()
    assert list(tmp_path.iterdir()) == []


def test_before_it_is_opened_nothing_is_touched(tmp_path: Path) -> None:
    with opened(tmp_path / "t") as folders:
        folder = run(folders)
    with pytest.raises(TargetError), stage_folders(str(tmp_path / "t")) as folders:
        raise TargetError("it is finished")
    assert folder.exists()


def test_in_the_end_all_is_removed(tmp_path: Path) -> None:
    with opened(tmp_path / "t") as folders:
        run(folders)
        folders.remove()
    assert list(tmp_path.iterdir()) == []


def test_two_at_once_the_second_refuses_and_touches_nothing(tmp_path: Path) -> None:
    with opened(tmp_path / "t") as folders:
        folder = run(folders)
        begun = folders.begin(KEYS[1])
        with pytest.raises(TargetError, match="another build is running: "), opened(tmp_path / "t"):
            pass
        assert folder.exists()
        assert Path(begun).exists()


def test_the_lock_is_on_the_folder_that_is_there(tmp_path: Path) -> None:
    """One that has removed its folder holds no lock on the next one."""
    with opened(tmp_path / "t") as first:
        first.remove()
        with opened(tmp_path / "t") as second:
            run(second)
            with pytest.raises(TargetError), opened(tmp_path / "t"):
                pass


def _die_in_it(target: Path) -> None:
    with opened(target) as folders:
        run(folders)
        os.kill(os.getpid(), signal.SIGKILL)


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    process = processes.Process(target=_die_in_it, args=(tmp_path / "t",))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    with opened(tmp_path / "t") as folders:
        assert folders.find(KEYS[0])


def test_the_mark_says_what_belongs_to_a_stage(tmp_path: Path) -> None:
    with opened(tmp_path / "t") as folders:
        mark = json.loads((run(folders) / MARK).read_text())
    assert mark["files"] == {"lines-1": 5, ".scratch/piece": 7, LIST: 2}


# Other users. What waits is unpickled, so whoever can write it runs code as the builder.


def test_only_the_builder_can_enter(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        with opened(tmp_path / "t") as folders:
            stage = run(folders)
            assert {path.stat().st_mode & 0o777 for path in (stage, stage.parent)} == {0o700}
    finally:
        os.umask(old)


def change_owner(folder: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can give files away")
    os.chown(folder, 12345, -1)


def link_elsewhere(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to(folder.with_name("elsewhere"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        *(
            (operator.methodcaller("chmod", mode), rf"can be written by others \(mode {mode:o}\)")
            for mode in (0o720, 0o702, 0o777)
        ),
        (change_owner, r"belongs to another user \(number 12345\)"),
        (link_elsewhere, "cannot be used as a folder for stages"),
    ],
)
def test_a_folder_that_another_user_may_have_changed_is_refused(
    tmp_path: Path, change: Callable[[Path], None], why: str
) -> None:
    with opened(tmp_path / "t") as folders:
        stage = run(folders)
    change(stage.parent)
    with pytest.raises(TargetError, match=why), opened(tmp_path / "t"):
        pass
    assert stage.exists()


def test_a_stage_with_another_list_than_it_wrote_is_not_taken(tmp_path: Path) -> None:
    with opened(tmp_path / "t") as folders:
        written = run(folders) / LIST
        written.write_text("[]")
        with pytest.raises(DamagedStageError, match="has changed since the stage was finished"):
            folders.find(KEYS[0])
