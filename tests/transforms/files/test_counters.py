import collections
import json
import os
import time
from pathlib import Path

import pytest

from corpusmill.transforms.files import counters


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(counters, "_tally", collections.Counter())
    monkeypatch.setattr(counters, "_last_written", 0.0)
    monkeypatch.setenv(counters.PROGRESS_DIR, str(tmp_path))
    return tmp_path


def test_a_tally_is_written_at_once_and_then_now_and_again(folder: Path) -> None:
    counters.count("screen-pages", "redirect")
    assert counters.read_tallies(folder) == {"screen-pages/redirect": 1}
    counters.count("screen-pages", "redirect", 4)
    counters.count("read-dump", "pages", 2)
    assert counters.read_tallies(folder) == {"screen-pages/redirect": 1}
    counters.flush()
    assert counters.read_tallies(folder) == {"screen-pages/redirect": 5, "read-dump/pages": 2}
    assert [path.name for path in folder.iterdir()] == [f"{os.getpid()}.json"]


def test_tallies_of_all_processes_add_up(folder: Path) -> None:
    counters.count("read-dump", "pages", 3)
    (folder / "77.json").write_text(json.dumps({"read-dump/pages": 10, "a/b": 1}), "utf-8")
    (folder / "78.tmp").write_text('{"read-dump/pages": 1', "utf-8")
    assert counters.read_tallies(folder) == {"read-dump/pages": 13, "a/b": 1}


def test_the_tally_of_the_next_job_in_the_process_begins_at_zero(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    counters.count("read-dump", "pages", 3)
    second = tmp_path_factory.mktemp("second")
    monkeypatch.setenv(counters.PROGRESS_DIR, str(second))
    counters.count("read-dump", "pages", 2)
    counters.flush()
    assert counters.read_tallies(second) == {"read-dump/pages": 2}
    assert counters.read_tallies(folder) == {"read-dump/pages": 3}


def test_a_folder_that_is_gone_does_no_harm(folder: Path) -> None:
    folder.rmdir()
    counters.count("read-dump", "pages")
    counters.flush()
    assert not folder.exists()


def test_without_a_folder_nothing_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(counters.PROGRESS_DIR)
    counters.count("read-dump", "pages")
    counters.flush()
    assert list(folder.iterdir()) == []


def test_what_was_counted_last_is_written_a_while_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(counters.PROGRESS_DIR, str(tmp_path))
    monkeypatch.setattr(counters, "WRITE_EVERY_SECONDS", 0.05)
    for _ in range(100):
        counters.count("clean", "pages")
    end = time.monotonic() + 10
    while counters.read_tallies(tmp_path) != {"clean/pages": 100}:
        assert time.monotonic() < end
        time.sleep(0.01)
