"""A running build, seen from outside: it listens on the loopback interface, and refuses strangers."""

import subprocess
import sys
from pathlib import Path

import pytest

from corpusmill.pipelines.sample_builds import sample_entities
from tests.pipelines.run.engines.spark.spark_cluster import missing
from tests.tools.golden_tree import check_golden, tree_of
from tests.tools.processes import descendants_of, running, wait_until, workers_of
from tests.tools.strangers import LOOPBACK, answers, is_reached_from_outside, open_ports, stopped

needs_spark = [
    pytest.mark.spark,
    pytest.mark.skipif(bool(missing()), reason=missing() or "there is all"),
]
WORKERS = 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "unknown"),
    [
        ([], 0),
        pytest.param(["--runner=SparkRunner"], 2, marks=needs_spark),  # Spark's own ports
    ],
    ids=["in-process", "spark"],
)
def test_a_stranger_at_a_build_that_runs(tmp_path: Path, flags: list[str], unknown: int) -> None:
    command = [sys.executable, "-m", "corpusmill", "entities", "--dump", sample_entities()]
    with running(
        [*command, "--output", str(tmp_path), f"--workers={WORKERS}", *flags],
        stdout=subprocess.DEVNULL,
    ) as build:
        wait_until(lambda: len(workers_of(build.pid)) == WORKERS or build.poll() is not None, 120)
        with stopped(workers_of(build.pid)):
            processes = [build.pid, *descendants_of(build.pid)]
            ports = open_ports(processes)
            assert set(ports.values()) <= LOOPBACK
            assert not any(map(is_reached_from_outside, ports))
            answered = {port: answers(port) for port in ports}
        assert build.wait(300) == 0  # no stranger has taken a part of the work
    served = [states for states in answered.values() if states != {"UNAVAILABLE"}]
    assert served
    assert all(states <= {"UNIMPLEMENTED", "UNAUTHENTICATED"} for states in served), answered
    assert all("UNAUTHENTICATED" in states for states in served), answered
    assert len(answered) - len(served) == unknown, answered
    check_golden(tree_of(tmp_path / "entities"), "entities")
