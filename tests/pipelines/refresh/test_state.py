"""The state, the lock, and the metrics for monitoring."""

import fcntl
import multiprocessing
import os
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from corpusmill.pipelines.refresh.refresh import write_metrics
from corpusmill.pipelines.refresh.state import NAME, CorpusState, StateFolder, locked
from corpusmill.pipelines.run.publish import BusyError
from corpusmill.transforms.files.write_files import write_whole

STATE = CorpusState(
    edition_folder="wiki40b/uk",
    current="20261101-1.3.0",
    signature="wiki40b|lang:uk|dump:20261101|v:1.3.0",
    settings={"near_duplicates": 0.8},
    last_run=30.0,
    last_success=20.0,
    last_failure=30.5,
    failures=2,
    error='no "room"\nat all',
    downloaded_bytes=1 << 40,
    seconds={"build": 1.5},
    compared="20261101-1.3.0",
    documents={"added": 3, "moved": 0},
    rejected={"20261120-1.3.0": "лихо"},
)


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    states = StateFolder(str(tmp_path))
    assert states.load("uk") == states.load("uk", sets_aside=False) == CorpusState()
    states.save("uk", STATE)
    assert states.load("uk") == states.load("uk", sets_aside=False) == STATE
    assert states.load("el") == CorpusState()
    assert [path.name for path in tmp_path.iterdir()] == ["uk.json"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b'{"failures": "x"}',
        b"[]",
        b"\xff",
        b'{"error": "\xff"}',
        b'{"a":' * 9_999,
        b"null",
    ],
)
def test_a_damaged_state_is_moved_aside(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes
) -> None:
    states = StateFolder(str(tmp_path))
    path = Path(states.path_of("uk"))
    path.write_bytes(content)
    assert states.load("uk", sets_aside=False) == CorpusState()
    assert path.read_bytes() == content
    assert states.load("uk") == CorpusState()
    assert "uk.json is damaged" in caplog.text
    assert (tmp_path / "uk.json.corrupt").read_bytes() == content
    states.save("uk", STATE)
    assert states.load("uk") == STATE


def test_a_file_is_written_whole_or_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    (tmp_path / ".x.part").write_text("of a killed process")
    write_whole(path, b"old")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new")
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == {"x": b"old"}


def hold(folder: str, ready: "multiprocessing.synchronize.Event") -> None:
    with locked([folder]):
        ready.set()
        ready.wait(60)
        import time

        time.sleep(60)


def test_the_lock_ends_with_its_process(tmp_path: Path) -> None:
    processes = multiprocessing.get_context("spawn")
    ready = processes.Event()
    holder = processes.Process(target=hold, args=(str(tmp_path), ready))
    holder.start()
    assert ready.wait(60)
    with (
        pytest.raises(BusyError, match=f"process {holder.pid} holds {tmp_path}/{NAME}"),
        locked([str(tmp_path)]),
    ):
        pass
    holder.kill()
    holder.join()
    with locked([str(tmp_path), str(tmp_path)]):  # the same folder twice is one lock
        pass
    with locked([str(tmp_path)]):
        pass


def test_a_lock_that_cannot_be_had_gives_back_the_other(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    with locked([str(other)]):
        with pytest.raises(BusyError), locked([str(one), str(other)]):
            pass
        descriptor = os.open(one / NAME, os.O_RDWR)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(descriptor)


def test_metrics(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "refresh.prom"
    run = (1_795_000_000.25, 9.5, 1)
    write_metrics(str(path), run, {"uk": STATE, "el": CorpusState()})
    found = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(path.read_text())
        for sample in family.samples
    }
    prefix = "corpusmill_refresh_"
    assert found == {
        (prefix + "run_end_timestamp_seconds",): 1_795_000_000.25,
        (prefix + "run_duration_seconds",): 9.5,
        (prefix + "run_exit_status",): 1,
        (prefix + "last_run_timestamp_seconds", "uk"): 30,
        (prefix + "last_success_timestamp_seconds", "uk"): 20,
        (prefix + "last_failure_timestamp_seconds", "uk"): 30.5,
        (prefix + "failed", "uk"): 1,
        (prefix + "failed", "el"): 0,
        (prefix + "failures_total", "uk"): 2,
        (prefix + "failures_total", "el"): 0,
        (prefix + "downloaded_bytes_total", "uk"): 1 << 40,
        (prefix + "downloaded_bytes_total", "el"): 0,
        (prefix + "step_duration_seconds", "build", "uk"): 1.5,
        (prefix + "documents", "20261101-1.3.0", "added", "uk"): 3,
        (prefix + "documents", "20261101-1.3.0", "moved", "uk"): 0,
        (prefix + "edition_info", "20261101-1.3.0", "uk", "wiki40b/uk", STATE.signature): 1,
    }
    assert [one.name for one in path.parent.iterdir()] == ["refresh.prom"]
