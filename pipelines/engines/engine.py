"""What every engine offers: a pipeline to fill, run where the engine runs."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from pipelines.engines.memory_model import MemoryModel

IN_PROCESS = "in-process"
DATAFLOW = "DataflowRunner"


class PlannedBuild(NamedTuple):
    """What an engine may want to know of a build before it starts."""

    path: Sequence[str]  # below the output folder: corpus, edition, date and version
    places: Sequence[str]  # the output folder, and all input files
    memory: MemoryModel | None  # of the in-process runner; None where nobody is to look
    input_bytes: Callable[[], int]  # of all that is read, as it is stored


class Engine(Protocol):
    """Where pipelines run."""

    def prepare(self, build: PlannedBuild) -> None:
        """Looks whether a build can run here.

        Raises ValueError for settings that it cannot run with, BuildError for what stands in its way now.
        """
        ...

    @property
    def is_local(self) -> bool:
        """Do all workers run on this machine, as children of this process?"""
        ...

    def pipeline(self) -> contextlib.AbstractContextManager[beam.Pipeline]:
        """An empty pipeline. The caller fills and runs it inside the block; what the engine needs for it
        (servers, worker processes) lives as long. An error that leaves the block gets what the engine knows
        of its cause printed to stderr.
        """
        ...


class NamedRunner:
    """Any runner that Beam knows by its name; the flags say the rest."""

    is_local = False

    def __init__(self, runner: str, beam_flags: Sequence[str]):
        self._flags = [*beam_flags, f"--runner={runner}"]

    def prepare(self, build: PlannedBuild) -> None:
        """Beam says what is wrong, when the job starts."""

    @contextlib.contextmanager
    def pipeline(self) -> Iterator[beam.Pipeline]:
        """As Engine has it."""
        yield beam.Pipeline(options=PipelineOptions(self._flags))
