"""The interface of every engine: a pipeline to fill, which the engine runs."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import apache_beam as beam

from pipelines.engines.beam_patches import Options
from pipelines.settings.memory_model import MemoryModel


class PlannedBuild(NamedTuple):
    """The description of a build that an engine may need before it starts."""

    path: Sequence[str]  # below the output folder: corpus, edition, date and version
    output: str  # the folder that gets builds
    inputs: Sequence[str]  # paths of all input files
    memory: MemoryModel | None  # of the in-process runner; None where nobody is to look


class Started(NamedTuple):
    """An engine whose servers and worker processes run."""

    pipeline: Callable[[], contextlib.AbstractContextManager[beam.Pipeline]]
    """An empty pipeline, which the caller fills and runs inside the block."""

    log_tail: Callable[[], str] = str  # what workers have printed last, as far as it is known here


class Engine(Protocol):
    """A place in which pipelines run."""

    def prepare(self, build: PlannedBuild) -> None:
        """Looks whether a build can run here.

        Raises ValueError for settings that it cannot run with, BuildError for what is in its way now.
        """
        ...

    @property
    def is_local(self) -> bool:
        """Do all workers run on this machine, as children of this process?"""
        ...

    def started(self, folder: str = "") -> contextlib.AbstractContextManager[Started]:
        """Servers and worker processes live as long as the block, for one pipeline after the other.

        Args:
          folder: for what travels between steps, there already; "" for that of temporary files. Engines with
            storage of their own do not use it.
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
    def started(self, folder: str = "") -> Iterator[Started]:
        """As Engine has it."""
        options = Options(self._flags)
        yield Started(lambda: contextlib.nullcontext(beam.Pipeline(options=options)))
