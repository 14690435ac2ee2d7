"""The interface of engines. An engine is a system that runs Beam pipelines, such as Spark."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import apache_beam as beam

from corpusmill.pipelines.run.engines.beam_patches import Options
from corpusmill.pipelines.run.memory_model import MemoryModel


class PlannedBuild(NamedTuple):
    """The facts about a build that an engine needs before the build starts."""

    path: Sequence[str]  # below the output folder: corpus, edition, date and version
    output: str  # the folder below which builds are written
    inputs: Sequence[str]  # paths of all input files
    memory: MemoryModel | None  # memory that the in-process runner needs; None for no check


class Started(NamedTuple):
    """A started engine: its servers and worker processes are running."""

    pipeline: Callable[[], contextlib.AbstractContextManager[beam.Pipeline]]
    """Returns a context manager that yields an empty pipeline. The caller adds steps, and runs
    it in the `with` block.
    """

    log_tail: Callable[[], str] = (
        str  # function that returns the last output of workers; "" if it is not available
    )


class Engine(Protocol):
    """A system that runs Beam pipelines."""

    def prepare(self, build: PlannedBuild) -> None:
        """Checks that this engine can run a build.

        Raises ValueError for settings with which the build cannot run, and BuildError if it cannot run at the
        moment.
        """
        ...

    @property
    def is_local(self) -> bool:
        """True if all workers run on this machine, as children of this process."""
        ...

    def started(self, folder: str = "") -> contextlib.AbstractContextManager[Started]:
        """Starts servers and worker processes, which run one or more pipelines during the `with` block.

        Args:
          folder: An existing folder for the data between two steps; "" for the system's folder for temporary
            files. Engines that have their own storage ignore it.
        """
        ...


class NamedRunner:
    """An engine for any runner that Beam finds by name. The runner is configured by Beam's flags."""

    is_local = False

    def __init__(self, runner: str, beam_flags: Sequence[str]):
        self._flags = [*beam_flags, f"--runner={runner}"]

    def prepare(self, build: PlannedBuild) -> None:
        """Does nothing, because Beam reports errors when the job starts."""

    @contextlib.contextmanager
    def started(self, folder: str = "") -> Iterator[Started]:
        """Starts the engine (see Engine)."""
        options = Options(self._flags)
        yield Started(lambda: contextlib.nullcontext(beam.Pipeline(options=options)))
