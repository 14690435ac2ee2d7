"""Spark: on this machine with real processes for the Python work, or a cluster."""

import contextlib
import json
import os
import pathlib
import shlex
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
from apache_beam.runners.portability.portable_runner import PortableRunner
from apache_beam.runners.runner import PipelineResult, PipelineState
from apache_beam.transforms.environments import (
    Environment,
    ExternalEnvironment,
    ProcessEnvironment,
    python_sdk_capabilities,
)

from pipelines.engines.engine import PlannedBuild
from pipelines.engines.errors import BuildError
from pipelines.engines.spark_files import (
    JobServerFiles,
    find_job_server,
    find_job_server_files,
)
from pipelines.engines.spark_job_server import JobServer, job_server

SPARK = "SparkRunner"
WORKING_FOLDER = "CORPUSMILL_WORKING_FOLDER"
"""Tells workers where relative names of files begin, as spark_worker.py has it."""

WORKER_MODULE = "pipelines.engines.spark_worker"
WORKER_COMMAND = "corpusmill-worker"
DEFAULT_MEMORY = "-XX:MaxRAMPercentage=40"
"""Of the JVM, which holds what travels between stages; Python's workers need the rest."""

WORKER_LIFE_MS = 24 * 3600 * 1000
"""How long a worker process stays for the stages of a job: until the job ends. Starting one takes seconds."""

AS_MANY_AS_CORES = 0
"""--sdk_worker_parallelism: each executor starts a worker for every core of its node but one."""

FUSE_HERE = "pre_optimize=all"
"""Fuses steps as the in-process runner does. Beam's Java side, which would do it otherwise, fails on a
Flatten of which some inputs can be fused and some cannot ("exactly one producing PTransformNode").
"""


class Spark:
    """Spark by Beam's job server.

    Without a master's URL, Spark runs on this machine with as many tasks, and worker processes, as wanted.
    With one, executors start the worker command that is installed on their nodes, or ask the pool that
    --environment_type=EXTERNAL names. --job_endpoint names a job server that runs already.

    Raises ValueError for what is missing on this machine.
    """

    def __init__(self, workers: int, beam_flags: Sequence[str]):
        options = PipelineOptions(list(beam_flags))
        _refuse_packages(options)
        self._workers = workers
        self._flags = list(beam_flags)
        self._master = _master_url(options, workers, beam_flags)
        self._endpoint: str = options.view_as(PortableOptions).job_endpoint or ""
        self._files = None if self._endpoint else _find_files(options)
        self._command = "" if self.is_local else _installed_command(options)

    @property
    def is_local(self) -> bool:
        """Do all workers run on this machine, as children of this process?"""
        return not self._endpoint and self._master.startswith("local")

    def prepare(self, build: PlannedBuild) -> None:
        """Nothing stands in the way of a build that is not seen when the engine is made."""

    @contextlib.contextmanager
    def pipeline(self) -> Iterator[beam.Pipeline]:
        """As Engine has it."""
        if self._files:
            with self._own_server(self._files) as server:
                try:
                    command = self._command or _write_command(server.folder)
                    yield self._pipeline(_Runner(command), server.endpoint)
                except BuildError:
                    raise
                except Exception:
                    print(server.log_tail(), file=sys.stderr)
                    raise
        else:
            runner = _Runner(self._command)
            try:
                yield self._pipeline(runner, self._endpoint)
            finally:
                runner.cancel()

    def _own_server(self, files: JobServerFiles) -> contextlib.AbstractContextManager[JobServer]:
        options = PipelineOptions(self._flags).view_as(JobServerOptions)
        flags = [DEFAULT_MEMORY, *options.job_server_jvm_properties]
        return job_server(files, self._master, flags, options.job_port)

    def _pipeline(self, runner: PortableRunner, endpoint: str) -> beam.Pipeline:
        flags = [
            f"--sdk_worker_parallelism={self._workers if self.is_local else AS_MANY_AS_CORES}",
            f"--environment_cache_millis={WORKER_LIFE_MS}",
            "--load_balance_bundles",
            "--storage_level=MEMORY_AND_DISK",
            f"--experiments={FUSE_HERE}",
            *self._flags,
            *(f"--files_to_stage={jar}" for jar in self._jars()),
            f"--job_endpoint={endpoint}",
        ]
        return beam.Pipeline(runner=runner, options=PipelineOptions(flags))

    def _jars(self) -> Sequence[str]:
        """The jar that executors need from the job server. Not told, it sends them all of its own.

        A job server that runs already has it at the same place, or none is told.
        """
        if self._files:
            return () if self.is_local else (self._files.jar,)
        try:
            return (find_job_server(),)
        except ValueError:
            return ()


class _Runner(PortableRunner):
    """Beam's client of a job server; workers are processes, if the options do not say otherwise."""

    def __init__(self, worker_command: str):
        super().__init__()
        self._worker_command = worker_command
        self._result: PipelineResult | None = None

    def default_environment(self, options: PipelineOptions) -> Environment:
        """As PipelineRunner has it. Nothing is staged: Beam would ask pip what is installed here."""
        portable = options.view_as(PortableOptions)
        kind, config = portable.environment_type, portable.environment_config
        capabilities = python_sdk_capabilities()
        if kind == "EXTERNAL" and config:
            return ExternalEnvironment(config, capabilities=capabilities)
        if kind and kind != "PROCESS":
            return super().default_environment(options)
        return ProcessEnvironment(
            _named_command(portable) or self._worker_command,
            env={WORKING_FOLDER: str(pathlib.Path.cwd())},
            capabilities=capabilities,
        )

    def run_portable_pipeline(self, pipeline: Any, options: PipelineOptions) -> PipelineResult:
        """As PortableRunner has it."""
        self._result = super().run_portable_pipeline(pipeline, options)
        return self._result

    def cancel(self) -> None:
        """Stops a job that is not over: whoever has started it waits no longer."""
        with contextlib.suppress(grpc.RpcError):
            if self._result and not PipelineState.is_terminal(self._result.state):
                self._result.cancel()


def _master_url(options: PipelineOptions, workers: int, beam_flags: Sequence[str]) -> str:
    """Beam's default would be local[4]."""
    if any(flag.startswith("--spark_master_url") for flag in beam_flags):
        url: str = options.view_as(SparkRunnerOptions).spark_master_url
        return url
    return f"local[{workers}]"


def _named_command(options: PortableOptions) -> str:
    """The worker command that the options name, or ""."""
    if options.environment_config:
        command: str = json.loads(options.environment_config)["command"]
        return command
    return options.lookup_environment_option("process_command") or ""


def _installed_command(options: PipelineOptions) -> str:
    """The worker command beside Python, where it has to be on all nodes; "" if the options say otherwise.

    Raises ValueError if there is none.
    """
    portable = options.view_as(PortableOptions)
    if portable.environment_type not in (None, "PROCESS") or _named_command(portable):
        return ""
    command = pathlib.Path(sys.executable).with_name(WORKER_COMMAND)
    if not command.exists():
        raise ValueError(
            f"there is no {command}: install corpusmill at the same place on every node, or name the command"
            " by --environment_type=PROCESS --environment_config='{\"command\": …}', or a pool of workers"
            " by --environment_type=EXTERNAL --environment_config=HOST:PORT"
        )
    return str(command)


def _write_command(folder: pathlib.Path) -> str:
    """Writes a worker command that finds the modules which this process finds; gives its path."""
    command = folder / WORKER_COMMAND
    paths = shlex.quote(os.pathsep.join(path or str(pathlib.Path.cwd()) for path in sys.path))
    command.write_text(
        f'#!/bin/sh\nPYTHONPATH={paths} exec {shlex.quote(sys.executable)} -m {WORKER_MODULE} "$@"\n',
        "utf-8",
    )
    command.chmod(0o700)
    return str(command)


def _find_files(options: PipelineOptions) -> JobServerFiles:
    java = options.view_as(JobServerOptions).job_server_java_launcher
    jar = options.view_as(SparkRunnerOptions).spark_job_server_jar
    return find_job_server_files("" if java == "java" else java, jar or "")


def _refuse_packages(options: PipelineOptions) -> None:
    """Raises ValueError for packages that workers should install."""
    if options.view_as(PortableOptions).environment_type == "DOCKER":
        return
    setup = options.view_as(SetupOptions)
    for flag in ("setup_file", "requirements_file", "extra_packages"):
        if getattr(setup, flag):
            raise ValueError(
                f"--{flag}: Spark's worker processes run what is installed on their nodes;"
                f" install corpusmill there, or use --environment_type=DOCKER"
            )
