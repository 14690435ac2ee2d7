"""Running a build: options, workers, errors of workers, and builds that are killed."""

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from corpusmill.pipelines import sample_builds as samples
from corpusmill.pipelines.run.launch import launch
from corpusmill.pipelines.run.publish import TargetError, building
from corpusmill.pipelines.run.run_stages import MARK
from corpusmill.pipelines.wiki40b import Wiki40b
from corpusmill.pipelines.wiki40b_settings import VERSION, Wiki40bConfig
from corpusmill.transforms.files.read_files import InputError
from tests.makers.wiki_builds import Build, build, entity_table, files_below, outputs_below
from tests.tools.processes import descendants_of, wait_until

ROOT = Path(__file__).parents[3]
TARGET = Path(f"wiki40b/uk/20260101-{VERSION}")


def uk_config() -> Wiki40bConfig:
    """The settings of the demo's build, with a table of its own."""
    return samples.sample_config("uk", entity_table(samples.sample_entities()))


def test_a_launch_returns_the_manifest_and_shows_the_summary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = launch(Wiki40b(uk_config()), str(tmp_path), workers=1)
    assert manifest == Build(tmp_path / TARGET).manifest
    shown = capsys.readouterr().out
    assert f"wiki40b|lang:uk|dump:20260101|v:{VERSION}" in shown
    assert "screen-pages/redirect" in shown
    assert f"the build: {tmp_path / TARGET}" in shown


def test_what_a_kill_has_left_beside_a_finished_build_is_removed(
    tmp_path: Path, demo: Path
) -> None:
    folder = tmp_path / TARGET
    shutil.copytree(demo / TARGET, folder)
    stages = folder.with_name(f".{folder.name}.stages")
    (stages / "01-clean-00-00").mkdir(parents=True)
    stages.chmod(0o700)
    with pytest.raises(TargetError, match="contains a finished build"):
        launch(Wiki40b(uk_config()), str(tmp_path), workers=1)
    assert {path.name for path in folder.parent.iterdir()} == {folder.name, "README.md"}
    assert (folder.parent.parent / "README.md").is_file()


@pytest.mark.parametrize("free", [10**3, 10**12])
def test_the_second_of_two_builds_of_one_target_refuses(
    free: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Before that, a disk that is too small is told."""
    monkeypatch.setattr("corpusmill.transforms.files.stores.free_bytes", lambda _: free)
    with building(str(tmp_path / TARGET)) as folder:
        with pytest.raises(TargetError, match="another build is running"):
            launch(Wiki40b(uk_config()), str(tmp_path), workers=1)
        assert ("of disk space, but only 1.0 kB are free" in caplog.text) == (free == 10**3)
        (Path(folder) / "manifest.json").write_text("{}")
    assert files_below(tmp_path) == [f"{TARGET}/COMPLETED", f"{TARGET}/manifest.json"]


def test_an_unfinished_folder_is_replaced(tmp_path: Path, demo: Path) -> None:
    folder = tmp_path / TARGET
    folder.mkdir(parents=True)
    (folder / "stale.parquet").write_text("x")
    (folder / "manifest.json").write_text("{}")
    assert build(tmp_path, uk_config()).tree() == Build(demo / TARGET).tree()


def test_an_input_that_vanishes_ends_the_build_with_an_error(tmp_path: Path) -> None:
    corpus = Wiki40b(uk_config())
    corpus.tables = corpus.tables._replace(page_props=[str(tmp_path / "gone.sql.gz")])
    with pytest.raises(InputError, match=r"gone\.sql\.gz: no such file"):
        launch(corpus, str(tmp_path / "output"), workers=1)
    assert files_below(tmp_path / "output") == []


# Killed builds.


def start(output: Path, *flags: str) -> subprocess.Popen[bytes]:
    config = uk_config()
    files = ["--dump", *config.dump, "--page-props", *config.page_props]
    command = ["wiki40b", "--language", "uk", *files, "--entities", config.entities]
    return subprocess.Popen(
        [sys.executable, "-m", "corpusmill", *command, "--output", str(output), *flags],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def building_folders(output: Path) -> Iterator[Path]:
    return (output / TARGET).parent.glob(f".{TARGET.name}.building-*")


def has_begun(output: Path) -> bool:
    return any(building_folders(output))


def has_written_articles(output: Path) -> bool:
    return any(any(folder.glob("*.parquet")) for folder in building_folders(output))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "workers"),
    [(has_begun, "1"), (has_written_articles, "2")],
)
def test_a_build_killed_at_any_moment_and_run_again_gives_the_same_bytes(
    tmp_path: Path, demo: Path, moment: Callable[[Path], bool], workers: str
) -> None:
    process = start(tmp_path, "--workers", workers)
    wait_until(lambda: process.poll() is not None or moment(tmp_path))
    children = descendants_of(process.pid)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (tmp_path / TARGET).exists()
    assert has_begun(tmp_path)
    built = build(tmp_path, uk_config())
    assert built.tree() == Build(demo / TARGET).tree()
    built.check_files()
    assert len(children) == (0 if workers == "1" else 1 + 2)  # the process that forks workers
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children), 20)
    if children:  # a worker that outlived the sweep may have written once more
        build(tmp_path, uk_config(), replace=True)
    assert {path.name for path in built.folder.parent.iterdir()} == {built.folder.name, "README.md"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "status", "seconds"),
    [(signal.SIGTERM, 128 + signal.SIGTERM, 0.1), (signal.SIGINT, 130, 1.0)],
)
def test_workers_that_are_starting_end_with_the_build(
    tmp_path: Path, sent: signal.Signals, status: int, seconds: float
) -> None:
    process = start(tmp_path, "--workers", "2")
    wait_until(lambda: process.poll() is not None or has_begun(tmp_path))
    time.sleep(seconds)
    children = descendants_of(process.pid)
    process.send_signal(sent)
    assert process.wait(timeout=30) == status
    assert outputs_below(tmp_path) == []
    # A quick machine may have finished one.
    stages = (tmp_path / TARGET).parent.glob(f".{TARGET.name}.stages/*")
    assert all((stage / MARK).exists() for stage in stages)
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children), 5)


def told_to_end(folder: Path, sent: signal.Signals) -> tuple[Path, int]:
    """A folder in which a build got a signal while it wrote, and its status; some end before they hear it."""
    for attempt in range(5):
        place = folder / str(attempt)
        process = start(place, "--workers", "1")
        wait_until(
            lambda place=place, process=process: (
                process.poll() is not None or has_written_articles(place)
            )
        )
        process.send_signal(sent)
        if status := process.wait():
            return place, status
    raise AssertionError("the build always ends before it is told to")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "status"), [(signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGINT, 130)]
)
def test_a_build_that_is_told_to_end_leaves_what_is_finished(
    tmp_path: Path, sent: signal.Signals, status: int
) -> None:
    folder, ended = told_to_end(tmp_path, sent)
    assert ended == status
    assert not has_begun(folder)
    (stages,) = (folder / TARGET).parent.iterdir()
    assert stages.name == f".{TARGET.name}.stages"
    (finished,) = stages.iterdir()
    assert finished.name.startswith("01-clean-")
    assert (finished / MARK).exists()


@pytest.mark.slow
def test_the_mark_never_stands_over_a_build_that_is_not_whole(tmp_path: Path, demo: Path) -> None:
    """Looks at the target all the while that a build replaces another."""
    build(tmp_path, uk_config())
    process = start(tmp_path, "--workers", "1", "--replace")
    expected = {name: len(content) for name, content in Build(demo / TARGET).tree().items()}
    mark, looks = tmp_path / TARGET / "COMPLETED", 0
    while process.poll() is None:
        before, _ = look_at(mark)
        sizes = {name: look_at(tmp_path / TARGET / name)[1] for name in expected}
        if before and before == look_at(mark)[0]:  # it was there all the while
            assert sizes == expected
            looks += 1
        time.sleep(0.001)
    assert process.returncode == 0
    assert looks > 100
    Build(tmp_path / TARGET).check_files()


def look_at(path: Path) -> tuple[int, int]:
    """Inode and size of a file; (0, -1) if it is not there."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, -1
    return found.st_ino, found.st_size
