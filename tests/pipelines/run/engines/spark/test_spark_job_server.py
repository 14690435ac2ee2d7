"""The job server starts, and whatever happens to the launcher, it and its workers end.

A script plays Java: it listens where it is told to, and has a child.
"""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from corpusmill.pipelines.run.engines.spark_job_server import JobServerFiles, job_server
from corpusmill.transforms.files.errors import BuildError
from tests.tools.processes import running

JAVA = """\
#!{python}
import os, pathlib, socket, subprocess, sys, time
flags = dict(one.split("=", 1) for one in sys.argv[1:] if one.startswith("--") and "=" in one)
pathlib.Path({arguments!r}).write_text("\\n".join(sys.argv[1:]))
worker = subprocess.Popen(["sleep", "600"])
pathlib.Path({pids!r}).write_text(f"{{os.getpid()}} {{worker.pid}}")
print("a line of the log", flush=True)
server = socket.create_server(("localhost", int(flags["--job-port"])))
time.sleep(600)
"""


class Java:
    """The script, and what it has noted."""

    def __init__(self, folder: Path):
        self.arguments, self.pids = folder / "arguments", folder / "pids"
        self.path = folder / "java"
        self.write(
            JAVA.format(python=sys.executable, arguments=str(self.arguments), pids=str(self.pids))
        )
        self.files = JobServerFiles(str(self.path), "a.jar", ("a.jar", "b.jar"))

    def write(self, text: str) -> None:
        self.path.write_text(text, "utf-8")
        self.path.chmod(0o755)

    def running(self) -> list[int]:
        """Returns those of its two processes that run."""
        return [pid for pid in map(int, self.pids.read_text().split()) if is_running(pid)]

    def is_gone(self) -> bool:
        """Do both end? The system takes a moment for it."""
        due = time.monotonic() + 20
        while self.running() and time.monotonic() < due:
            time.sleep(0.05)
        return not self.running()


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def java(tmp_path: Path) -> Java:
    return Java(tmp_path)


def test_it_answers_inside_the_block_and_is_gone_after_it(java: Java) -> None:
    with job_server(java.files, "local[2]", ["-Xmx1g"], "a secret") as server:
        host, port = server.endpoint.split(":")
        socket.create_connection((host, int(port)), 1.0).close()
        assert server.log_tail() == "a line of the log\n"
        assert len(java.running()) == 2
    assert java.is_gone()
    assert not server.folder.exists()


def test_arguments_of_java(java: Java) -> None:
    with job_server(java.files, "local[2]", ["-Xmx1g"], "a secret"):
        arguments = java.arguments.read_text().splitlines()
    assert arguments.index("-Xmx1g") > arguments.index("-Dspark.ui.enabled=false")
    assert arguments[arguments.index("-cp") + 1] == "a.jar:b.jar"
    assert "--spark-master-url=local[2]" in arguments


def test_an_error_inside_the_block_ends_it(java: Java) -> None:
    with pytest.raises(KeyError), job_server(java.files, "local[2]", [], "a secret"):
        raise KeyError
    assert java.is_gone()


def test_a_server_that_does_not_start_is_an_error_with_its_log(java: Java) -> None:
    java.write("#!/bin/sh\necho no memory >&2; exit 1\n")
    with (
        pytest.raises(BuildError, match=r"^Spark's job server ended:\nno memory\n$"),
        job_server(java.files, "local[2]", [], "a secret"),
    ):
        pass


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_launcher_that_is_ended_leaves_nothing(
    java: Java, tmp_path: Path, number: signal.Signals
) -> None:
    launcher = textwrap.dedent(f"""\
        import signal, sys, time
        from corpusmill.pipelines.run.engines.spark_job_server import JobServerFiles
        from corpusmill.pipelines.run.engines.spark_job_server import job_server
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
        with job_server({java.files!r}, "local[2]", [], "a secret"):
            print("ready", flush=True)
            time.sleep(600)
    """)
    folder = tmp_path / "temporary"
    folder.mkdir()
    environment = os.environ | {"TMPDIR": str(folder)}
    with running(
        [sys.executable, "-c", launcher],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        assert len(java.running()) == 2
        process.send_signal(number)
    assert java.is_gone()
    due = time.monotonic() + 20
    while list(folder.iterdir()) and time.monotonic() < due:
        time.sleep(0.05)
    assert not list(folder.iterdir())


def test_a_port_at_which_another_listens_is_refused(java: Java) -> None:
    with socket.socket() as other:
        other.bind(("localhost", 0))
        other.listen()
        port = other.getsockname()[1]
        with (
            pytest.raises(BuildError, match=f"^port {port} is in use"),
            job_server(java.files, "local[2]", [], "a secret", port),
        ):
            pass
