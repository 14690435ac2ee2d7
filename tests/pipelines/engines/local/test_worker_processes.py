"""Worker processes start from one that has imported everything, and none is left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import apache_beam as beam
import pytest

from pipelines.engines.errors import BuildError
from pipelines.engines.local.fork_server import END_SECONDS, import_all
from pipelines.engines.local.in_process import InProcess
from pipelines.engines.local.worker_processes import BadEnd, Workers, module_path
from pipelines.engines.run_pipeline import run_pipeline
from tests.tools.processes import wait_until

NOBODY = ["--id=7-1", "--provision_endpoint=localhost:1"]  # a worker waits long for an answer
LAUNCHER = f"""
import pathlib, sys, time
from pipelines.engines.local.in_process import InProcess, _ForkedWorkerHandler
from pipelines.engines.run_pipeline import run_pipeline
from pipelines.engines.local.worker_processes import Workers
workers = Workers([], pathlib.Path(sys.argv[1]))
workers.start({NOBODY})
print(workers._server.pid, flush=True)
time.sleep(600)
"""


def group_of(pid: int) -> list[int]:
    """Processes of the group, zombies aside."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, group = (folder / "stat").read_text("utf-8").rpartition(") ")[2].split()[:3]
        except OSError:
            continue  # it has ended
        if int(group) == pid and state != "Z":
            found.append(int(folder.name))
    return found


@pytest.fixture
def workers(tmp_path: Path) -> Workers:
    return Workers([], tmp_path / "log")


def test_the_end_kills_those_that_are_starting(workers: Workers) -> None:
    server = workers._server.pid
    workers.start(NOBODY)
    workers.start(NOBODY)
    wait_until(lambda: len(group_of(server)) == 3)
    workers.end()
    wait_until(lambda: not group_of(server), END_SECONDS)
    workers.start(NOBODY)  # none, and no error
    workers.end()
    assert not group_of(server)


def test_workers_that_end_by_themselves_are_waited_for(workers: Workers) -> None:
    server = workers._server.pid
    told: list[BadEnd] = []
    workers.start(["--no-such-flag"], told.append)
    wait_until(lambda: told == [BadEnd(1)])
    start = time.monotonic()
    workers.wait()
    assert not group_of(server)
    assert time.monotonic() - start < 2 * END_SECONDS
    assert "corpusmill-worker: error: the following arguments are required" in workers.log_tail()


def test_a_worker_that_is_forgotten_is_not_told_of(workers: Workers) -> None:
    told: list[BadEnd] = []
    workers.forget(workers.start(["--no-such-flag"], told.append))
    workers.start(["--no-such-flag"], told.append)
    wait_until(lambda: bool(told))
    workers.wait()
    assert told == [BadEnd(1)]


def test_a_folder_with_the_name_of_ours_is_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines" / "__init__.py").write_text("raise SystemExit('not ours')\n")
    monkeypatch.chdir(tmp_path)
    workers = Workers([], tmp_path / "log")
    workers.start(NOBODY)
    wait_until(lambda: len(group_of(workers._server.pid)) == 2)
    workers.end()


def test_a_worker_that_is_killed_is_told_of(workers: Workers) -> None:
    server = workers._server.pid
    told: list[BadEnd] = []
    workers.start(NOBODY, told.append)
    wait_until(lambda: len(group_of(server)) == 2)
    (worker,) = set(group_of(server)) - {server}
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: told == [BadEnd(-signal.SIGKILL)])
    workers.wait()


@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        (BadEnd(-signal.SIGKILL), "a worker process was killed by SIGKILL"),
        (BadEnd(3), "a worker process ended with status 3"),
        (BadEnd(None), "a worker process could not be started"),
    ],
)
def test_what_is_said_of_a_bad_end(end: BadEnd, sentence: str) -> None:
    assert str(end) == sentence
    assert end.was_killed == ("killed" in sentence)


def test_without_the_process_that_forks_none_can_be_started(workers: Workers) -> None:
    told: list[BadEnd] = []
    workers.start(NOBODY, told.append)
    wait_until(lambda: len(group_of(workers._server.pid)) == 2)
    os.killpg(workers._server.pid, signal.SIGKILL)
    wait_until(lambda: told == [BadEnd(None)])
    workers.start(NOBODY, told.append)
    assert told == [BadEnd(None)] * 2
    workers.end()


def test_a_build_ends_with_a_line_that_says_so() -> None:
    with pytest.raises(BuildError, match=r"^a worker process was killed by SIGKILL, by the system"):
        run_pipeline(
            lambda root: root | beam.Create([1]) | beam.Map(end_this_worker) and None,
            InProcess(2, ()),
        )


def test_a_build_whose_workers_cannot_be_started_ends(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pipelines.engines.local.worker_processes.SERVER_MODULE", "no_such_module")
    with pytest.raises(RuntimeError, match=r"^a worker process could not be started$"):
        run_pipeline(
            lambda root: root | beam.Create([1, 2]) | beam.Map(str) and None, InProcess(2, ())
        )
    assert "No module named 'no_such_module'" in capfd.readouterr().err


def end_this_worker(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_workers_end_with_a_launcher_that_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, str(tmp_path / "log")],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(module_path())},
        stdout=subprocess.PIPE,
    ) as launcher:
        assert launcher.stdout
        server = int(launcher.stdout.readline())
        wait_until(lambda: len(group_of(server)) == 2)
        launcher.send_signal(signal.SIGKILL)
    wait_until(lambda: not group_of(server), 3 * END_SECONDS)


def test_a_module_that_is_not_there_is_passed_over() -> None:
    import_all(["no_such_module_of_anybody"])
