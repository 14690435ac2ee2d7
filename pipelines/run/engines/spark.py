"""Runs builds on Spark, either on a cluster or on this machine."""

import contextlib
import json
import os
import pathlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam
import grpc
from apache_beam.options.pipeline_options import (
    JobServerOptions,
    PipelineOptions,
    PortableOptions,
    SetupOptions,
    SparkRunnerOptions,
)
from apache_beam.portability.api import beam_artifact_api_pb2_grpc as artifact_grpc
from apache_beam.portability.api import beam_job_api_pb2_grpc as job_grpc
from apache_beam.runners.portability import artifact_service
from apache_beam.runners.portability.portable_runner import JobServiceHandle, PortableRunner
from apache_beam.runners.runner import PipelineResult, PipelineState
from apache_beam.transforms.environments import (
    Environment,
    ExternalEnvironment,
    ProcessEnvironment,
    python_sdk_capabilities,
)

from corpusmill.transforms.files.errors import BuildError

from .beam_patches import Options
from .engine import Engine, Started
from .spark_job_server import find_job_server, find_job_server_files, job_server
from .worker import WORKING_FOLDER
from .worker_pool import PARAMETER, worker_pool
from .worker_processes import (
    VARIABLE,
    BadEnd,
    error_of,
    log_bad_end,
    make_secret,
    open_channel,
    worker_processes,
)

WORKER_COMMAND = "corpusmill-worker"
DEFAULT_MEMORY = "-XX:MaxRAMPercentage=40"
"""Option for the JVM: the heap, in which Spark stores the data between stages, may use 40 % of the machine's
memory. Python workers need the rest of the memory.
"""

WORKER_LIFE_MS = 24 * 3600 * 1000
"""Milliseconds after which an unused worker process ends. The value is longer than a job, because starting a
worker takes seconds.
"""

LOCAL_WORKER_LIFE_MS = 10_000
"""Milliseconds after which an unused worker of the pool ends. These workers start fast, and Spark on one
machine keeps no worker longer.
"""

AS_MANY_AS_CORES = 0
"""Value of --sdk_worker_parallelism with which an executor starts one worker fewer than its node
has cores.
"""

FUSE_HERE = "pre_optimize=all"
"""Beam experiment that fuses the steps in Python, as for the in-process runner.

Otherwise Beam's Java code fuses the steps. That code fails on a Flatten if only some of the Flatten's inputs
can be fused ("exactly one producing PTransformNode").
"""


class Spark(Engine):
    """The engine for Spark. It runs pipelines with Beam's job server.

    Without --spark_master_url, Spark runs on this machine, with `workers` tasks and worker processes. With
    --spark_master_url, the executors start the worker command that is installed on their nodes. If
    --environment_type is EXTERNAL, they use the worker pool with the address in --environment_config instead.
    --job_endpoint is the address of a job server that is already running. A worker pool or job server that is
    already running must have the same secret as the build, in the environment variable CORPUSMILL_SECRET.

    Raises ValueError if Java, the job server or the worker command is required and is missing on this
    machine, or if the flags list packages that workers should install.
    """

    def __init__(self, workers: int, beam_flags: Sequence[str]):
        options = PipelineOptions(list(beam_flags))
        _refuse_packages(options)
        self._workers = workers
        self._flags = list(beam_flags)
        self._master: str = f"local[{workers}]"
        if any(flag.startswith("--spark_master_url") for flag in beam_flags):
            self._master = options.view_as(SparkRunnerOptions).spark_master_url
        self._endpoint: str = options.view_as(PortableOptions).job_endpoint or ""
        java = options.view_as(JobServerOptions).job_server_java_launcher
        jar = options.view_as(SparkRunnerOptions).spark_job_server_jar or ""
        self._files = (
            None if self._endpoint else find_job_server_files("" if java == "java" else java, jar)
        )
        self.is_local = not self._endpoint and self._master.startswith("local")
        self._command = "" if self.is_local else _installed_command(options)
        self._secret = os.environ.get(VARIABLE) or make_secret()

    @contextlib.contextmanager
    def started(self, folder: str = "") -> Iterator[Started]:
        """Starts the engine (see Engine)."""
        if not self._files:
            yield Started(lambda: _with_readable_errors(self._pipeline(self._endpoint)))
            return
        with contextlib.ExitStack() as stack:
            pool, loss, logs = "", _Loss(), []
            if self.is_local:
                workers = stack.enter_context(worker_processes())
                pool = stack.enter_context(worker_pool(workers, self._secret, tell=loss.note))
                logs.append(workers.log_tail)
            options = PipelineOptions(self._flags).view_as(JobServerOptions)
            jvm_flags = [DEFAULT_MEMORY, *options.job_server_jvm_properties]
            server = stack.enter_context(
                job_server(self._files, self._master, jvm_flags, self._secret, options.job_port)
            )
            logs.append(server.log_tail)
            yield Started(
                lambda: loss.ends(self._pipeline(server.endpoint, pool)),
                lambda: "\n".join(tail() for tail in logs),
            )

    @contextlib.contextmanager
    def _pipeline(self, endpoint: str, pool: str = "") -> Iterator[beam.Pipeline]:
        flags = [
            f"--sdk_worker_parallelism={self._workers if self.is_local else AS_MANY_AS_CORES}",
            f"--environment_cache_millis={LOCAL_WORKER_LIFE_MS if pool else WORKER_LIFE_MS}",
            "--storage_level=MEMORY_AND_DISK",
            f"--experiments={FUSE_HERE}",
            *self._flags,
            *(f"--files_to_stage={jar}" for jar in self._jars()),
            f"--job_endpoint={endpoint}",
        ]
        options = Options(flags)
        environment = self._environment(options.view_as(PortableOptions), pool)
        runner = _Runner(environment, self._secret)
        try:
            yield beam.Pipeline(runner=runner, options=options)
        finally:
            runner.cancel()

    def _environment(self, options: PortableOptions, pool: str) -> Environment | None:
        """Returns the environment of the workers; None if Beam itself can make it from the flags.

        The workers are those that the flags define, those of `pool`, or processes that run the installed
        command. No packages are staged, because Beam would query pip for them.

        Args:
          pool: The address of a worker pool, host:port; "" for none.
        """
        if options.environment_type == "EXTERNAL" and options.environment_config:
            return self._pool_environment(options.environment_config)
        if options.environment_type not in (None, "PROCESS"):
            return None
        command = _named_command(options)
        if pool and not command:
            return self._pool_environment(pool)
        folder = {WORKING_FOLDER: str(pathlib.Path.cwd())}
        capabilities = python_sdk_capabilities()
        return ProcessEnvironment(command or self._command, env=folder, capabilities=capabilities)

    def _pool_environment(self, pool: str) -> Environment:
        parameters = {PARAMETER: self._secret}
        return ExternalEnvironment(pool, parameters, capabilities=python_sdk_capabilities())

    def _jars(self) -> Sequence[str]:
        """Returns a tuple with the jar of the job server, which the job server must send to executors.

        If the tuple is empty, the job server sends all its jars. It is empty if Spark runs on this machine,
        or if the jar is not found on this machine. A job server that was started by someone else must have
        the jar at the same path as this machine.
        """
        if self._files:
            return () if self.is_local else (self._files.jar,)
        try:
            return (find_job_server(),)
        except ValueError:
            return ()


@contextlib.contextmanager
def _with_readable_errors(
    pipeline: contextlib.AbstractContextManager[beam.Pipeline],
) -> Iterator[beam.Pipeline]:
    """Yields the pipeline. Raises BuildError if the job server at --job_endpoint does not respond."""
    with pipeline as root:
        try:
            yield root
        except (grpc.FutureTimeoutError, grpc.RpcError) as error:
            endpoint = root.options.view_as(PortableOptions).job_endpoint
            raise BuildError(f"the job server at {endpoint} {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if not isinstance(error, grpc.Call):
        return "does not respond: no server is running there"
    if error.code() == grpc.StatusCode.UNAUTHENTICATED:
        return f"refuses this build: set {VARIABLE} to the secret with which the job server was started"
    return f"does not respond: {error.details()}"


class _Loss:
    """Ends the job when a worker on this machine is lost. Spark would wait for the worker for ever."""

    def __init__(self) -> None:
        self._end: BadEnd | None = None
        self._runner: _Runner | None = None

    def note(self, end: BadEnd) -> None:
        """Records the failure of a worker, and cancels the job if Spark waits for the worker."""
        log_bad_end(end)
        if end.is_loss and self._runner:
            self._end = end
            self._runner.cancel()

    @contextlib.contextmanager
    def ends(
        self, pipeline: contextlib.AbstractContextManager[beam.Pipeline]
    ) -> Iterator[beam.Pipeline]:
        """Yields the pipeline. If a worker is lost before the `with` block ends, ends the job and raises
        BuildError.
        """
        with pipeline as root:
            self._runner = root.runner
            try:
                yield root
            except RuntimeError:
                if not self._end:
                    raise
                raise error_of(self._end) from None
            finally:
                self._runner = None


class _Runner(PortableRunner):
    """Beam's client for a job server, with the change that it sends the secret."""

    def __init__(self, environment: Environment | None, secret: str):
        super().__init__()
        self._environment = environment
        self._secret = secret
        self._result: PipelineResult | None = None

    def default_environment(self, options: PipelineOptions) -> Environment:
        """Returns the environment of the workers (see PipelineRunner)."""
        return self._environment or super().default_environment(options)

    def create_job_service(self, options: PipelineOptions) -> JobServiceHandle:
        """Connects to the job server (see PortableRunner)."""
        portable = options.view_as(PortableOptions)
        channel = open_channel(portable.job_endpoint, self._secret)
        grpc.channel_ready_future(channel).result(timeout=portable.job_server_timeout)
        return _JobService(job_grpc.JobServiceStub(channel), options, self._secret)

    def run_portable_pipeline(self, pipeline: Any, options: PipelineOptions) -> PipelineResult:
        """Runs the pipeline and keeps its result (see PortableRunner)."""
        self._result = super().run_portable_pipeline(pipeline, options)
        return self._result

    def cancel(self) -> None:
        """Stops the job if it is running, so that the thread that started it no longer waits."""
        with contextlib.suppress(grpc.RpcError):
            if self._result and not PipelineState.is_terminal(self._result.state):
                self._result.cancel()


class _JobService(JobServiceHandle):
    """Beam's connection to the job server, with the change that it also sends the secret when it uploads
    files.
    """

    def __init__(self, stub: Any, options: PipelineOptions, secret: str):
        super().__init__(stub, options)
        self._secret = secret

    def stage(self, proto_pipeline: Any, endpoint: str, token: str) -> None:
        """Uploads files (see JobServiceHandle)."""
        if endpoint:
            with open_channel(endpoint, self._secret) as channel:
                files = artifact_service.BeamFilesystemHandler(None).file_reader
                artifact_service.offer_artifacts(
                    artifact_grpc.ArtifactStagingServiceStub(channel),
                    artifact_service.ArtifactRetrievalService(files),
                    token,
                )


def _named_command(options: PortableOptions) -> str:
    """Returns the worker command in the options; "" if they contain no worker command."""
    if options.environment_config:
        command: str = json.loads(options.environment_config)["command"]
        return command
    return options.lookup_environment_option("process_command") or ""


def _installed_command(options: PipelineOptions) -> str:
    """Returns the path of the installed worker command; "" if the options define other workers.

    The command must be installed at the same path on all nodes. Raises ValueError if it is not installed
    here.
    """
    portable = options.view_as(PortableOptions)
    if portable.environment_type not in (None, "PROCESS") or _named_command(portable):
        return ""
    command = pathlib.Path(sys.executable).with_name(WORKER_COMMAND)
    if not command.exists():
        raise ValueError(
            f"{command} is missing: install corpusmill at the same path on every node, or set the command"
            " with --environment_type=PROCESS --environment_config='{\"command\": …}', or a worker pool"
            " with --environment_type=EXTERNAL --environment_config=HOST:PORT"
        )
    return str(command)


def _refuse_packages(options: PipelineOptions) -> None:
    """Raises ValueError if the options list packages that workers should install.

    Only workers in Docker containers install packages, so packages may be listed if --environment_type is
    DOCKER.
    """
    if options.view_as(PortableOptions).environment_type == "DOCKER":
        return
    setup = options.view_as(SetupOptions)
    for flag in ("setup_file", "requirements_file", "extra_packages"):
        if getattr(setup, flag):
            raise ValueError(
                f"--{flag} has no effect: Spark's workers use the packages of their nodes;"
                f" install corpusmill there, or use --environment_type=DOCKER"
            )
