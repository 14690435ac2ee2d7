"""Worker processes start from one that has imported everything, and none is left behind."""

import functools
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import apache_beam as beam
import pytest

from corpusmill.pipelines.run.engines import worker_processes
from corpusmill.pipelines.run.engines.fork_server import END_SECONDS, import_all
from corpusmill.pipelines.run.engines.run_pipeline import InProcess, run_pipeline
from corpusmill.pipelines.run.engines.worker_processes import (
    SERVER,
    BadEnd,
    Workers,
    error_of,
    module_path,
    started_early,
)
from corpusmill.transforms.files.errors import BuildError
from tests.tools.processes import running, wait_until

NOBODY = ["--id=7-1", "--provision_endpoint=localhost:1"]  # a worker waits long for an answer
LAUNCHER = f"""
import sys, time
from corpusmill.pipelines.run.engines.worker_processes import Workers
workers = Workers(sys.argv[1:], keeps_output=True)
workers.start({NOBODY})
workers.start({NOBODY})
print(workers._server.pid, flush=True)
time.sleep(600)
"""
IMPORTING = """
import time
from corpusmill.pipelines.run.engines import fork_server
fork_server._LOOK_SECONDS = 2e-5
with fork_server._ended_without_input():
    due = time.monotonic() + 1
    while time.monotonic() < due:
        pass
"""
DEAD_SECONDS = 5.0  # after these no process of a build that was killed is left


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
def workers() -> Workers:
    return Workers(keeps_output=True)


def test_signals_that_come_faster_than_they_are_handled_end_no_import() -> None:
    """As on a machine that is too busy to handle one before the next."""
    command = [sys.executable, "-c", IMPORTING]
    with running(command, stdin=subprocess.PIPE, start_new_session=True) as importing:
        assert importing.wait(60) == 0


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
    workers = Workers(keeps_output=True)
    workers.start(NOBODY)
    wait_until(lambda: len(group_of(workers._server.pid)) == 2)
    workers.end()


def test_an_interrupt_of_the_start_is_told_of(workers: Workers) -> None:
    told: list[BadEnd] = []
    workers.start(NOBODY, told.append)
    os.kill(workers._server.pid, signal.SIGINT)  # before it runs any code of ours
    wait_until(lambda: told == [BadEnd(-signal.SIGINT, SERVER)])


def test_workers_of_an_early_start_get_what_was_set_later(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with started_early(["json"]):
        (early,) = worker_processes._early
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        run_pipeline(
            lambda root: root | beam.Create([1, 2]) | beam.Map(_touch_temporary_file) and None,
            InProcess(2, ()),
        )
        assert early.is_gone
        assert not worker_processes._early
    assert (tmp_path / "worker").exists()


def _touch_temporary_file(_: int) -> None:
    Path(tempfile.gettempdir(), "worker").touch()


def test_an_early_start_that_is_not_used_is_ended() -> None:
    with started_early([]):
        (early,) = worker_processes._early
    assert not group_of(early._server.pid)


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_is_killed_is_told_of(workers: Workers, sent: signal.Signals) -> None:
    server = workers._server.pid
    told: list[BadEnd] = []
    workers.start(NOBODY, told.append)
    wait_until(lambda: len(group_of(server)) == 2)
    (worker,) = set(group_of(server)) - {server}
    os.kill(worker, sent)
    wait_until(lambda: told == [BadEnd(-sent)])
    workers.wait()


@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        (BadEnd(-signal.SIGKILL), "a worker process was killed by SIGKILL"),
        (BadEnd(3), "a worker process ended with status 3"),
        (BadEnd(None), "a worker process could not be started"),
        (
            BadEnd(-signal.SIGRTMIN - 1),
            f"a worker process was killed by signal {signal.SIGRTMIN + 1}",
        ),
        (BadEnd(-signal.SIGTERM, SERVER), "the process that starts workers was killed by SIGTERM"),
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
    killed = BadEnd(-signal.SIGKILL, SERVER)
    wait_until(lambda: told == [killed])
    workers.start(NOBODY, told.append)
    assert told == [killed] * 2
    workers.end()


@pytest.mark.slow
@pytest.mark.parametrize("end", [BadEnd(-signal.SIGKILL), BadEnd(-signal.SIGKILL, SERVER)])
@pytest.mark.parametrize("has_output", [True, False])
def test_a_build_ends_with_a_line_as_soon_as_a_process_is_killed(
    end: BadEnd, has_output: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The other worker has work for two minutes."""

    def add(root: beam.Pipeline) -> None:
        kill = functools.partial(kill_at_second_call, str(tmp_path / "first"), end)
        done = root | beam.Create(range(20)) | beam.Reshuffle() | beam.Map(kill)
        if has_output:
            _ = done | "Shuffle" >> beam.Reshuffle() | beam.Map(str)

    start = time.monotonic()
    with pytest.raises(BuildError) as error:
        run_pipeline(add, InProcess(2, ()))
    assert time.monotonic() - start < 60
    assert str(error.value) == str(error_of(end))
    assert str(error.value).startswith(f"{end}, perhaps because memory ran out: start the same")
    assert capfd.readouterr().err == ""


def kill_at_second_call(first: str, end: BadEnd, number: int) -> int:
    try:
        Path(first).mkdir()
    except FileExistsError:
        os.kill(os.getppid() if end.process == SERVER else os.getpid(), signal.SIGKILL)
    time.sleep(120)
    return number


def test_a_build_whose_workers_cannot_be_started_ends_with_a_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As where the process that forks them may not fork any more."""
    monkeypatch.setattr(
        "corpusmill.pipelines.run.engines.worker_processes.SERVER_MODULE", "no_such_module"
    )
    with pytest.raises(BuildError) as error:
        run_pipeline(
            lambda root: root | beam.Create([1, 2]) | beam.Map(str) and None, InProcess(2, ())
        )
    reason = "ModuleNotFoundError: No module named 'no_such_module'"
    assert str(error.value) == f"a worker process could not be started: {reason}"
    assert capfd.readouterr().err == ""


def start_launcher(folder: Path, *modules: str) -> tuple[subprocess.Popen[bytes], int]:
    """A process that has asked for two workers, and the one that starts them."""
    launcher = subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, *modules],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([*module_path(), str(folder)])},
        stdout=subprocess.PIPE,
    )
    assert launcher.stdout
    return launcher, int(launcher.stdout.readline())


def kill(launcher: subprocess.Popen[bytes]) -> None:
    with launcher:
        launcher.kill()


@pytest.mark.slow
def test_workers_end_with_a_launcher_that_is_killed(tmp_path: Path) -> None:
    launcher, server = start_launcher(tmp_path)
    wait_until(lambda: len(group_of(server)) == 3)
    kill(launcher)
    wait_until(lambda: not group_of(server), DEAD_SECONDS)


@pytest.mark.slow
def test_workers_end_with_a_launcher_and_one_of_them_that_are_killed(tmp_path: Path) -> None:
    """The workers also end if nobody reads the news of their end any more."""
    launcher, server = start_launcher(tmp_path)
    wait_until(lambda: len(group_of(server)) == 3)
    os.kill(server, signal.SIGSTOP)
    kill(launcher)
    os.kill(max(set(group_of(server)) - {server}), signal.SIGKILL)
    os.kill(server, signal.SIGCONT)
    wait_until(lambda: not group_of(server), DEAD_SECONDS)


@pytest.mark.slow
def test_workers_end_with_the_process_that_forks_and_the_launcher(tmp_path: Path) -> None:
    launcher, server = start_launcher(tmp_path)
    wait_until(lambda: len(group_of(server)) == 3)
    os.kill(launcher.pid, signal.SIGSTOP)
    os.kill(server, signal.SIGKILL)
    kill(launcher)
    wait_until(lambda: not group_of(server), DEAD_SECONDS)


@pytest.mark.slow
def test_imports_end_with_a_launcher_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "slow_to_import.py").write_text("import time; time.sleep(60)\n")
    launcher, server = start_launcher(tmp_path, "slow_to_import")
    time.sleep(1)
    kill(launcher)
    wait_until(lambda: not group_of(server), DEAD_SECONDS)


def test_a_module_that_is_not_there_is_passed_over() -> None:
    import_all(["no_such_module_of_anybody"])
