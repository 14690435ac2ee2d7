"""A command that is killed leaves one folder of temporary files, which the next one removes."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from corpusmill.pipelines.sample_builds import SAMPLES
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.write_files import locked, remove_dead, temporary_files
from tests.tools.processes import running, wait_until, workers_of

ROOT = Path(__file__).parents[3]
NAME = "corpusmill-temporary-0123456789ab"


def make_folder(top: Path, name: str = NAME) -> None:
    (top / name / "below").mkdir(parents=True)
    (top / name / "below" / "file").write_text("x")


def make_link(top: Path) -> None:
    (top / "elsewhere").mkdir()
    (top / NAME).symlink_to(top / "elsewhere")


@pytest.mark.parametrize(
    ("make", "left"),
    [
        (make_folder, []),
        (
            lambda top: make_folder(top, "corpusmill-temporary-of-mine"),
            ["corpusmill-temporary-of-mine"],
        ),
        (lambda top: (top / NAME).write_text("x"), [NAME]),
        (make_link, [NAME, "elsewhere"]),
    ],
    ids=["dead", "another name", "a file", "a link"],
)
def test_only_folders_of_commands_are_removed(
    make: Callable[[Path], object], left: list[str], tmp_path: Path
) -> None:
    make(tmp_path)
    remove_dead(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == left


def test_folders_in_use_and_of_other_users_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_folder(tmp_path)
    with locked(tmp_path / NAME):
        remove_dead(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        remove_dead(tmp_path)
    assert (tmp_path / NAME / "below" / "file").exists()


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_the_folder_is_private_and_there_as_long_as_the_block(top: Path) -> None:
    with temporary_files():
        (folder,) = top.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        assert os.environ["TMPDIR"] == tempfile.gettempdir() == str(folder)
        remove_dead(top)
        with tempfile.NamedTemporaryFile() as file:
            assert Path(file.name).parent == folder
    assert os.environ["TMPDIR"] == tempfile.gettempdir() == str(top)
    assert not list(top.iterdir())


def test_a_folder_that_cannot_be_made_is_named(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(top / "gone"))
    with (
        pytest.raises(
            BuildError, match=r"No such file or directory: '.*/gone/.*; set TMPDIR to a folder"
        ),
        temporary_files(),
    ):
        pass


def test_a_file_system_without_locks_will_do(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with temporary_files():
        remove_dead(top)
        assert Path(tempfile.gettempdir()).is_dir()
    assert not list(top.iterdir())


@pytest.mark.slow
def test_a_build_that_is_killed_leaves_what_the_next_command_removes(
    tmp_path: Path, top: Path
) -> None:
    top = top / "temporary"
    top.mkdir()
    command = [sys.executable, "-m", "corpusmill"]
    news = next((SAMPLES / "news").glob("*"))
    build = ["lm1b", "--workers", "2", "--input", str(news), "--output", str(tmp_path / "corpora")]
    environment = os.environ | {"TMPDIR": str(top)}
    with running([*command, *build], cwd=ROOT, env=environment) as process:
        wait_until(lambda: process.poll() is not None or bool(workers_of(process.pid)))
        process.send_signal(signal.SIGKILL)
    assert list(top.iterdir())
    subprocess.run(
        [*command, "verify", str(tmp_path / "corpora")], cwd=ROOT, env=environment, check=False
    )
    assert not list(top.iterdir())
