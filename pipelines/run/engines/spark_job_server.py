r"""Runs Beam's job server for Spark as a separate process.

This command runs a server until it is stopped. Many builds can share the server, with --job_endpoint:

    CORPUSMILL_SECRET=… python -m corpusmill.engines.spark.spark_job_server \
        --spark-master-url spark://HOST:7077 --port 8099 [JVM FLAG …]

The server runs the code of jobs, so builds must send the secret.

Finds the files for Spark on the machine that starts a job: Java, Spark's jars, and Beam's job server.
"""

import argparse
import contextlib
import importlib.util
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from corpusmill.transforms.files.errors import BuildError, log_tail

from .worker_processes import LOOPBACK, VARIABLE, named_secret

JOB_SERVER_VARIABLE = "CORPUSMILL_SPARK_JOB_SERVER"
JOB_SERVER_VERSION = "2.62.0"
"""The newest version of Beam whose job server can be assembled from published jars."""
FETCH_COMMAND = "deploy/spark/job-server/fetch.sh"

SPARK_CLASS = "org/apache/spark/SparkContext.class"


class JobServerFiles(NamedTuple):
    """Paths of the files that a job server needs."""

    java: str  # the program `java`
    jar: str  # the jar of Beam's job server, which executors also need
    class_path: tuple[str, ...]  # the jar and its dependencies: files, folders, patterns DIR/*


def find_job_server_files(java: str = "", jar: str = "") -> JobServerFiles:
    """Returns the paths of the files that a job server needs.

    Args:
      java: The program `java`; "" for the one in JAVA_HOME or PATH.
      jar: The path of Beam's job server; "" to search for it (see `find_job_server`).

    Raises ValueError, with advice, if a file is missing.
    """
    server = find_job_server(jar)
    with zipfile.ZipFile(server) as packed:
        has_spark = SPARK_CLASS in packed.namelist()  # as in the job server that Beam publishes
    spark = () if has_spark else (str(_find_spark() / "jars" / "*"),)
    # The folders with the settings of YARN and HDFS.
    hadoop = dict.fromkeys(filter(None, map(os.environ.get, ("HADOOP_CONF_DIR", "YARN_CONF_DIR"))))
    return JobServerFiles(find_java(java), server, (server, *spark, *hadoop))


def find_java(java: str = "") -> str:
    """Returns the path of the program `java`. Raises ValueError if it is not found.

    Args:
      java: The path or name to use; "" for the one in JAVA_HOME or PATH.
    """
    home = os.environ.get("JAVA_HOME")
    wanted = java or (str(pathlib.Path(home, "bin", "java")) if home else "java")
    if not (found := shutil.which(wanted)):
        raise ValueError(
            f"SparkRunner needs Java 8, 11 or 17, but {wanted} was not found: install Java (on Debian, the"
            " package openjdk-17-jre-headless), or set JAVA_HOME"
        )
    return found


def cached_jar() -> pathlib.Path:
    """Returns the path at which deploy/spark/job-server/fetch.sh stores Beam's job server for Spark."""
    caches = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(caches, "corpusmill", f"spark-job-server-{JOB_SERVER_VERSION}.jar")


def find_job_server(jar: str = "") -> str:
    """Returns the path of the jar of Beam's job server. Raises ValueError if there is no such file.

    Args:
      jar: The path of the jar; "" for the path in the environment variable CORPUSMILL_SPARK_JOB_SERVER or, if
        it is not set, for `cached_jar()`.
    """
    server = pathlib.Path(jar or os.environ.get(JOB_SERVER_VARIABLE) or cached_jar())
    if not server.is_file():
        raise ValueError(
            f"SparkRunner needs Beam's job server, but there is no {server}: download it with"
            f" {FETCH_COMMAND},"
            f" or set the path of a jar with --spark_job_server_jar or {JOB_SERVER_VARIABLE}"
        )
    return str(server)


def _find_spark() -> pathlib.Path:
    home = os.environ.get("SPARK_HOME")
    spec = None if home else importlib.util.find_spec("pyspark")
    spark = pathlib.Path(home or (spec and spec.origin and pathlib.Path(spec.origin).parent) or "")
    if not (home or spec) or not any((spark / "jars").glob("spark-core_2.12-*.jar")):
        raise ValueError(
            "SparkRunner needs Spark 3.5 for Scala 2.12: pip install 'corpusmill[spark]', or set SPARK_HOME"
        )
    return spark


MAIN = pathlib.Path(__file__).with_name("GuardedJobServer.java")
COMPILER = "org.codehaus.janino.SimpleCompiler"  # it compiles a file and runs its class
FIRST_COMPILER = "-XX:TieredStopAtLevel=1"
"""JVM flag that turns off Java's optimising compiler. Java only passes data to and from Python here, so this
compiler takes more time than it saves.
"""

START_SECONDS = 120.0
STOP_SECONDS = 10.0
IDLE_SECONDS = 5.0
_POLL_SECONDS = 0.1

_OPENED_PACKAGES = (
    "java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util"
    " java.util.concurrent java.util.concurrent.atomic sun.nio.ch sun.nio.cs sun.security.action"
    " sun.util.calendar"
).split()
"""Packages that Spark 3.5 accesses by reflection (see its JavaModuleOptions). Java 17 needs a flag for each
of them.
"""

_LOG_SETTINGS = """\
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
logger.scheduler.name = org.apache.spark.scheduler.DAGScheduler
logger.scheduler.level = info
"""


class JobServer(NamedTuple):
    """A running job server."""

    endpoint: str  # host:port
    folder: pathlib.Path  # removed when the server ends

    @property
    def log(self) -> pathlib.Path:
        """The path of the log file of the job server and the workers."""
        return self.folder / "log"

    def log_tail(self) -> str:
        """Returns the end of the log file."""
        return log_tail(self.log)


@contextlib.contextmanager
def job_server(
    files: JobServerFiles, master_url: str, jvm_flags: Sequence[str], secret: str, port: int = 0
) -> Iterator[JobServer]:
    """Runs a job server during the `with` block. Ends the server and its workers afterwards.

    Args:
      files: The files that a job server needs.
      master_url: URL of Spark's master: local[2], spark://host:7077, yarn, k8s://….
      jvm_flags: Flags for memory, and Spark's settings as -Dspark.…. They override the defaults.
      secret: The secret that callers must send.
      port: The port of the server; 0 for a free port.

    Raises BuildError if the server does not start, or the port is in use.
    """
    if port and _answers(port):
        raise BuildError(f"port {port} is in use; choose another port for the job server")
    with tempfile.TemporaryDirectory(
        prefix="corpusmill-spark-", ignore_cleanup_errors=True
    ) as folder:
        if not port:
            with socket.socket() as free:
                free.bind((LOOPBACK, 0))
                port = free.getsockname()[1]
        server = JobServer(f"{LOOPBACK}:{port}", pathlib.Path(folder))
        command = _command(files, master_url, jvm_flags, folder, port)
        with (
            server.log.open("wb") as log,
            _process(command, secret, log.fileno(), folder) as process,
        ):
            _wait_for(process, port, server)
            yield server


def _command(
    files: JobServerFiles, master_url: str, jvm_flags: Sequence[str], folder: str, port: int
) -> list[str]:
    log_settings = pathlib.Path(folder, "log4j2.properties")
    log_settings.write_text(_LOG_SETTINGS, "ascii")
    return [
        files.java,
        "-XX:+IgnoreUnrecognizedVMOptions",  # Java 8 knows no modules
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED_PACKAGES),
        f"-Dlog4j2.configurationFile={log_settings}",
        f"-Djava.io.tmpdir={folder}",
        "-Dspark.ui.enabled=false",
        FIRST_COMPILER,
        f"-Dspark.executor.extraJavaOptions={FIRST_COMPILER}",
        *(_LOCAL_FLAGS if master_url.startswith("local") else ()),
        *jvm_flags,
        "-cp",
        os.pathsep.join(files.class_path),
        COMPILER,
        str(MAIN),
        MAIN.stem,
        f"--spark-master-url={master_url}",
        f"--job-port={port}",
        "--artifact-port=0",
        "--expansion-port=0",
        f"--artifacts-dir={pathlib.Path(folder, 'artifacts')}",
    ]


_LOCAL_FLAGS = (
    "-Dspark.driver.host=127.0.0.1",
    "-Dspark.driver.bindAddress=127.0.0.1",
    "-Dspark.authenticate=true",  # Spark makes a secret of its own
)


@contextlib.contextmanager
def _process(
    command: Sequence[str], secret: str, log: int, folder: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a process during the `with` block, in a separate process group, which Ctrl-C does not reach.

    The group is ended after the `with` block, and also if this process is killed.

    Args:
      command: The command line of the process.
      secret: The secret to put into the environment of the process.
      log: The file descriptor for the output of the process.
      folder: A folder to remove if this process is killed.
    """
    with subprocess.Popen(
        command,
        env=os.environ | {VARIABLE: secret},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    ) as process:
        # The pipe closes when this process ends, even if it is killed.
        watch = f"read -r _; kill -9 -{process.pid} 2>/dev/null; rm -rf {shlex.quote(folder)}"
        with subprocess.Popen(
            ["sh", "-c", watch], stdin=subprocess.PIPE, start_new_session=True
        ) as watcher:
            try:
                yield process
            finally:
                _end(process)
                watcher.kill()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()  # lets the server notify the cluster
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(STOP_SECONDS)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # workers are in the process group of the server


def _wait_for(process: subprocess.Popen[bytes], port: int, server: JobServer) -> None:
    due = time.monotonic() + START_SECONDS
    while time.monotonic() < due and process.poll() is None:
        if _answers(port):
            return
        time.sleep(_POLL_SECONDS)
    ended = "ended" if process.poll() is not None else f"did not answer in {START_SECONDS:.0f} s"
    raise BuildError(f"Spark's job server {ended}:\n{server.log_tail()}")


def main() -> int:
    """Runs a job server until SIGTERM or Ctrl-C, or until it ends by itself. Returns the exit status.

    If the server ends by itself, its log is printed to stderr.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spark-master-url", required=True, metavar="URL")
    parser.add_argument("--port", type=int, required=True)
    settings, jvm_flags = parser.parse_known_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        secret, files = named_secret(), find_job_server_files()
        with job_server(
            files, settings.spark_master_url, jvm_flags, secret, settings.port
        ) as server:
            print(
                f"Spark's job server for {settings.spark_master_url} at {server.endpoint}",
                flush=True,
            )
            while _answers(settings.port):
                time.sleep(IDLE_SECONDS)
            print(server.log_tail(), file=sys.stderr)
    except (ValueError, BuildError) as error:
        print(f"Spark's job server: error: {error}", file=sys.stderr)
    return 1


def _answers(port: int) -> bool:
    try:
        with socket.create_connection((LOOPBACK, port), 1.0):
            return True
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
