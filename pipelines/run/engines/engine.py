"""The interface of engines. An engine is a system that runs Beam pipelines, such as Spark.

Sets the options of Beam's file systems before a pipeline exists.

Checks the flags that are passed on to Beam.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions

from corpusmill.transforms.files.errors import DATAFLOW

from .beam_patches import Options


class PlannedBuild(NamedTuple):
    """The facts about a build that an engine needs before the build starts."""

    path: Sequence[str]  # below the output folder: corpus, edition, date and version
    output: str  # the folder below which builds are written
    inputs: Sequence[str]  # paths of all input files


class Started(NamedTuple):
    """A started engine: its servers and worker processes are running."""

    pipeline: Callable[[], contextlib.AbstractContextManager[beam.Pipeline]]
    """Returns a context manager that yields an empty pipeline. The caller adds steps, and runs
    it in the `with` block.
    """

    # function that returns the last output of workers; "" if it is not available
    log_tail: Callable[[], str] = str


class Engine:
    """A system that runs Beam pipelines."""

    is_local = False
    """True if all workers run on this machine, as children of this process."""

    def prepare(self, build: PlannedBuild) -> None:
        """Checks that this engine can run a build.

        Raises ValueError for settings with which the build cannot run, and BuildError if it cannot run at the
        moment.
        """

    def started(self, folder: str = "") -> contextlib.AbstractContextManager[Started]:
        """Starts servers and worker processes, which run one or more pipelines during the `with` block.

        Args:
          folder: An existing folder for the data between two steps; "" for the system's folder for temporary
            files. Engines that have their own storage ignore it.
        """
        raise NotImplementedError


class NamedRunner(Engine):
    """An engine for any runner that Beam finds by name. The runner is configured by Beam's flags."""

    def __init__(self, runner: str, beam_flags: Sequence[str]):
        self._flags = [*beam_flags, f"--runner={runner}"]

    @contextlib.contextmanager
    def started(self, folder: str = "") -> Iterator[Started]:
        """Starts the engine (see Engine)."""
        options = Options(self._flags)
        yield Started(lambda: contextlib.nullcontext(beam.Pipeline(options=options)))


def set_file_options(beam_flags: Sequence[str]) -> None:
    """Passes flags, such as those of S3, to all of Beam's file systems in this process.

    Beam does the same when it makes a pipeline, and in its workers. But inputs are read earlier, while the
    build is planned.
    """
    FileSystems.set_options(PipelineOptions(list(beam_flags)))


def check_runner_flags(runner: str, flags: Sequence[str]) -> None:
    """Raises ValueError if a runner cannot start a job with the flags. Only the flags of Dataflow are
    checked.

    The flags are checked before inputs are looked up in object stores, because without a network the look-up
    takes minutes.
    """
    if runner != DATAFLOW:
        return
    from .dataflow import check_flags

    check_flags(PipelineOptions(list(flags)))


def check_beam_flags(flags: Sequence[str], guess: Callable[[str], str] = lambda _: "") -> None:
    """Raises ValueError for flags that Beam does not define, such as misspelled ones, and for arguments that
    belong to no flag.

    Args:
      flags: Flags as on the command line.
      guess: Function (unknown flag) → suggestion for the error message.
    """
    if not flags:
        return  # collecting all of Beam's options takes a third of a second
    from .beam_patches import unknown_flags

    if unknown := unknown_flags(flags):
        if not unknown[0].startswith("-"):
            raise ValueError(
                f"unexpected argument: {' '.join(unknown)} (a pattern such as * may stand for several files)"
            )
        name = next((one.partition("=")[0] for one in unknown if one.startswith("-")), "")
        raise ValueError(f"no such flag: {' '.join(unknown)}{guess(name)}")
