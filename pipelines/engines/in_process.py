"""This machine alone: Beam's own runner, with as many worker processes as wanted."""

import contextlib
import sys
from collections.abc import Iterator, Sequence

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms.environments import SubprocessSDKEnvironment

from pipelines.engines.engine import PlannedBuild
from pipelines.engines.errors import BuildError
from pipelines.engines.memory import check_memory, memory_limit
from pipelines.engines.workers import worker_processes


class InProcess:
    """The in-process runner.

    By the name DirectRunner, Beam would first try to download Prism.
    """

    is_local = True

    def __init__(self, workers: int, beam_flags: Sequence[str]):
        self._workers = workers
        self._flags = [*beam_flags, f"--direct_num_workers={workers}"]

    def prepare(self, build: PlannedBuild) -> None:
        """Raises BuildError for a build that needs more memory than there is."""
        if build.memory:
            check_memory(build.memory, build.input_bytes(), self._workers, memory_limit())

    @contextlib.contextmanager
    def pipeline(self) -> Iterator[beam.Pipeline]:
        """As Engine has it."""
        with worker_processes() as processes:
            runner = self._runner(processes.command)
            try:
                yield beam.Pipeline(runner=runner, options=PipelineOptions(self._flags))
            except BuildError:
                raise
            except Exception:
                print(processes.log_tail(), file=sys.stderr)
                raise

    def _runner(self, worker_command: str) -> FnApiRunner:
        """The environment is the one of --direct_running_mode=multi_processing, but for the log: workers
        write to a file, not into the progress line.
        """
        if self._workers == 1:
            return FnApiRunner()
        return FnApiRunner(SubprocessSDKEnvironment.from_command_string(worker_command))
