"""Runs one pipeline on an engine, and waits until it has ended."""

import sys
from collections.abc import Callable, Sequence

import apache_beam as beam

from corpusmill.pipelines.run.engines.beam_patches import remember_signatures
from corpusmill.pipelines.run.engines.engine import Engine, NamedRunner, Started
from corpusmill.pipelines.run.engines.in_process import InProcess
from corpusmill.pipelines.run.engines.spark_engine import Spark
from corpusmill.transforms.files.errors import BuildError, find_worker_error
from corpusmill.transforms.files.open_input import InputError
from corpusmill.transforms.files.runners import DATAFLOW, IN_PROCESS, SPARK, runner_named
from corpusmill.transforms.files.stores import StoreError


def find_engine(runner: str, workers: int, beam_flags: Sequence[str]) -> Engine:
    """Returns the engine for a runner.

    Args:
      runner: The name of a runner, as in --runner.
      workers: The number of worker processes, for runners on this machine.
      beam_flags: The flags to pass on to Beam.

    Raises ValueError for an unknown runner, and for flags with which the runner cannot run.
    """
    runner = runner_named(runner)
    if runner == IN_PROCESS:
        return InProcess(workers, beam_flags)
    if runner == SPARK:
        return Spark(workers, beam_flags)
    if runner == DATAFLOW:
        # Imported here, because the clients are an extra.
        from corpusmill.pipelines.run.engines.dataflow_engine import Dataflow

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
    except BuildError:
        raise
    except Exception:
        print(started.log_tail(), file=sys.stderr)
        raise


def _run_to_the_end(build: Callable[[beam.Pipeline], None], pipeline: beam.Pipeline) -> None:
    try:
        build(pipeline)
        pipeline.run().wait_until_finish()
    except (InputError, StoreError) as error:
        raise BuildError(str(error)) from None
    except RuntimeError as error:
        _raise_interruption(error)
        message = find_worker_error(str(error))
        if not message:
            raise
        raise BuildError(message) from None


def _raise_interruption(error: BaseException) -> None:
    """Raises KeyboardInterrupt or SystemExit again, if one of them is the cause of a Beam error."""
    wrapped: BaseException | None = error
    while wrapped:
        if isinstance(wrapped, KeyboardInterrupt | SystemExit):
            raise wrapped from None
        wrapped = wrapped.__cause__ or wrapped.__context__
