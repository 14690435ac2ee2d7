"""Spark on this machine alone, with nothing but its name: --runner SparkRunner."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from corpusmill.pipelines.sample_builds import sample_entities
from tests.pipelines.run.engines.spark.spark_cluster import missing
from tests.tools.golden_tree import check_golden, tree_of
from tests.tools.processes import running, wait_until, workers_of

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(bool(missing()), reason=missing() or "there is all"),
]


def command(output: Path, *flags: str) -> list[str]:
    build = ["entities", "--dump", sample_entities(), "--output", str(output), "--workers", "2"]
    return [sys.executable, "-m", "corpusmill", *build, "--runner", "SparkRunner", *flags]


def processes_with(marker: str) -> list[str]:
    """Processes that have the marker in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (folder / "environ").read_bytes():
                found.append(folder.name)
        except OSError:
            continue  # it has ended, or belongs to another user
    return found


def test_a_build_without_any_other_flag(tmp_path: Path) -> None:
    subprocess.run(command(tmp_path), check=True, stdin=subprocess.DEVNULL, timeout=600)
    check_golden(tree_of(tmp_path / "entities"), "entities")


def test_a_build_whose_workers_are_killed_ends_with_a_line_that_says_so(tmp_path: Path) -> None:
    """Also those that the runner has not heard of: it would wait for them without end."""
    build = command(tmp_path / "output")
    with running(build, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        while process.poll() is None:
            for worker in workers_of(process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
            time.sleep(0.01)
        assert process.stderr
        last = process.stderr.read().decode().splitlines()[-1]
    assert process.returncode == 1
    assert last.startswith("corpusmill: error: a worker process was killed by SIGKILL")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_build_leaves_no_process_and_no_file(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    marker = f"CORPUSMILL_TEST_MARKER={tmp_path}"
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    name, _, value = marker.partition("=")
    environment = os.environ | {name: value, "TMPDIR": str(temporary)}
    with running(
        command(tmp_path / "output"), env=environment, stdin=subprocess.DEVNULL
    ) as process:
        due = time.monotonic() + 300
        while not list(temporary.glob("*/corpusmill-spark-*/blockmgr-*")):  # Spark works
            assert process.poll() is None
            assert time.monotonic() < due
            time.sleep(0.1)
        process.send_signal(number)
        assert process.wait(60) == status
    wait_until(lambda: not processes_with(marker), 20)
    assert not list(temporary.glob("corpusmill-*"))
    assert not list((tmp_path / "output").rglob("COMPLETED"))
