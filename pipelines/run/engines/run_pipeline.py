"""Runs one pipeline on an engine, and waits until it has ended."""

import sys
from collections.abc import Callable, Sequence

import apache_beam as beam

from corpusmill.transforms.files import errors
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.stores import StoreError

from .beam_patches import remember_signatures
from .engine import Engine, NamedRunner, Started
from .in_process import InProcess
from .spark import Spark


def find_engine(runner: str, workers: int, beam_flags: Sequence[str]) -> Engine:
    """Returns the engine for a runner.

    Args:
      runner: The name of a runner, as in --runner.
      workers: The number of worker processes, for runners on this machine.
      beam_flags: The flags to pass on to Beam.

    Raises ValueError for an unknown runner, and for flags with which the runner cannot run.
    """
    runner = errors.runner_named(runner)
    if runner == errors.IN_PROCESS:
        return InProcess(workers, beam_flags)
    if runner == errors.SPARK:
        return Spark(workers, beam_flags)
    if runner == errors.DATAFLOW:
        # Imported here, because the clients are an extra.
        from .dataflow import Dataflow

        return Dataflow(beam_flags)
    return NamedRunner(runner, beam_flags)


def run_pipeline(build: Callable[[beam.Pipeline], None], engine: Engine) -> None:
    """Runs a pipeline on an engine, which is started only for this pipeline.

    Args:
      build: Function that adds the steps to the pipeline.

    Raises the errors of `run_on`.
    """
    with engine.started() as started:
        run_on(started, build)


def run_on(started: Started, build: Callable[[beam.Pipeline], None]) -> None:
    """Runs a pipeline on an engine that is already started.

    Args:
      build: Function that adds the steps to the pipeline.

    Raises BuildError for bad inputs, and if an object store refuses a write. For other errors, prints the end
    of the workers' log to stderr, and raises the error unchanged.
    """
    remember_signatures()
    try:
        with started.pipeline() as pipeline:
            _run_to_the_end(build, pipeline)
    except errors.BuildError:
        raise
    except Exception:
        print(started.log_tail(), file=sys.stderr)
        raise


def _run_to_the_end(build: Callable[[beam.Pipeline], None], pipeline: beam.Pipeline) -> None:
    try:
        build(pipeline)
        pipeline.run().wait_until_finish()
    except (InputError, StoreError) as error:
        raise errors.BuildError(str(error)) from None
    except RuntimeError as error:
        _raise_interruption(error)
        if not (message := errors.find_worker_error(str(error))):
            raise
        raise errors.BuildError(message) from None


def _raise_interruption(error: BaseException) -> None:
    """Raises KeyboardInterrupt or SystemExit again, if one of them is the cause of a Beam error."""
    wrapped: BaseException | None = error
    while wrapped:
        if isinstance(wrapped, KeyboardInterrupt | SystemExit):
            raise wrapped from None
        wrapped = wrapped.__cause__ or wrapped.__context__
