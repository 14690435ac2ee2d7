"""A standalone Spark cluster on this machine for the tests: deploy/spark starts and stops it."""

import contextlib
import functools
import json
import os
import pathlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

from corpusmill.pipelines.run.engines.spark_job_server import find_job_server_files
from corpusmill.pipelines.run.engines.worker_processes import LOOPBACK, VARIABLE

SCRIPTS = pathlib.Path(__file__).parents[5] / "deploy" / "spark"
START_SECONDS = 300


class Cluster(NamedTuple):
    """The addresses of a cluster that a client has to know."""

    state: pathlib.Path  # process ids, logs
    master_url: str
    job_endpoint: str
    pool: str

    @property
    def flags(self) -> list[str]:
        """Of the command line: the job server that runs, workers of the pool."""
        return self._flags("EXTERNAL", self.pool)

    @property
    def process_flags(self) -> list[str]:
        """The same with workers that the executors start."""
        return self._flags(
            "PROCESS", json.dumps({"command": str(self.state / "corpusmill-worker")})
        )

    def _flags(self, kind: str, config: str) -> list[str]:
        return [
            "--runner=SparkRunner",
            f"--job_endpoint={self.job_endpoint}",
            f"--environment_type={kind}",
            f"--environment_config={config}",
        ]


@functools.cache
def missing() -> str:
    """Returns the reason why there cannot be a cluster on this machine; "" if there can."""
    try:
        find_job_server_files()
    except ValueError as error:
        return str(error)
    return ""


@contextlib.contextmanager
def spark_cluster(folder: pathlib.Path, **settings: object) -> Iterator[Cluster]:
    """Runs a cluster.

    Args:
      settings: see deploy/spark/settings.sh.

    Raises RuntimeError if it does not start.
    """
    ports = dict(
        zip(("MASTER_PORT", "MASTER_WEB_PORT", "JOB_PORT", "POOL_PORT"), free_ports(4), strict=True)
    )
    state = folder / "cluster"
    environment = os.environ | {
        "STATE": str(state),
        "PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(
            [str(SCRIPTS.parents[1] / ".package"), os.environ.get("PYTHONPATH", "")]
        ),
        **{name: str(value) for name, value in (ports | settings).items()},
    }
    log = folder / "start.log"
    try:
        with log.open("wb") as stream:
            status = run_script("start.sh", environment, stream.fileno())
        if status:
            raise RuntimeError(f"start.sh ended with {status}:\n{log.read_text('utf-8')}")
        os.environ[VARIABLE] = (state / "secret").read_text("ascii").strip()
        yield Cluster(
            state,
            f"spark://127.0.0.1:{ports['MASTER_PORT']}",
            f"{LOOPBACK}:{ports['JOB_PORT']}",
            f"{LOOPBACK}:{ports['POOL_PORT']}",
        )
    finally:
        os.environ.pop(VARIABLE, None)
        run_script("stop.sh", environment, subprocess.DEVNULL)


def run_script(name: str, environment: dict[str, str], output: int) -> int:
    """Runs one of the two scripts; gives its status."""
    return subprocess.run(
        [str(SCRIPTS / name)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        timeout=START_SECONDS,
        check=False,
    ).returncode


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens at."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in found]
