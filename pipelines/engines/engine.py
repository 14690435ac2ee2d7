"""What every engine offers: a pipeline to fill, run where the engine runs."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Protocol

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

IN_PROCESS = "in-process"


class Engine(Protocol):
    """Where pipelines run."""

    def pipeline(self) -> contextlib.AbstractContextManager[beam.Pipeline]:
        """An empty pipeline. The caller fills and runs it inside the block; what the engine needs for it
        (servers, worker processes) lives as long. An error that leaves the block gets what the engine knows
        of its cause printed to stderr.
        """
        ...


class NamedRunner:
    """Any runner that Beam knows by its name; the flags say the rest."""

    def __init__(self, runner: str, beam_flags: Sequence[str]):
        self._flags = [*beam_flags, f"--runner={runner}"]

    @contextlib.contextmanager
    def pipeline(self) -> Iterator[beam.Pipeline]:
        """As Engine has it."""
        yield beam.Pipeline(options=PipelineOptions(self._flags))
