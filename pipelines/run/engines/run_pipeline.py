"""Finds the engine for a runner, such as Beam's runner for one machine, and runs a pipeline on it."""

import contextlib
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from weakref import WeakValueDictionary

import apache_beam as beam
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.runners.portability.fn_api_runner.worker_handlers import (
    GrpcWorkerHandler,
    WorkerHandler,
)
from apache_beam.transforms.environments import Environment, python_sdk_capabilities

from corpusmill.transforms.files import errors
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.stores import StoreError, is_local

from . import beam_patches
from .beam_patches import remember_signatures
from .engine import Engine, NamedRunner, Started
from .fork_server import MESSAGE_BLOCK, MESSAGE_KEPT, give_back_large_blocks
from .shuffle_files import FileDataChannel, FileGroupingBuffer, FileListBuffer, shuffle_folder
from .spark import Spark
from .worker_processes import LOOPBACK, BadEnd, Workers, error_of, worker_processes

URN = "corpusmill:env:forked:v1"


class InProcess(Engine):
    """The engine that runs pipelines with Beam's in-process runner.

    The name DirectRunner is not passed to Beam, because Beam would then first try to download Prism, another
    runner.
    """

    is_local = True

    def __init__(self, workers: int, beam_flags: Sequence[str]):
        self._workers = workers
        self._flags = [*beam_flags, f"--direct_num_workers={workers}"]

    @contextlib.contextmanager
    def started(self, folder: str = "") -> Iterator[Started]:
        """Starts the engine (see Engine)."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(shuffle_folder(folder if folder and is_local(folder) else ""))
            if self._workers == 1:
                give_back_large_blocks()
                yield Started(self._pipeline)
                return
            give_back_large_blocks(MESSAGE_BLOCK, MESSAGE_KEPT)
            workers = stack.enter_context(worker_processes())
            environment = _ForkedWorker(workers)
            yield Started(lambda: self._pipeline(environment), workers.log_tail)

    @contextlib.contextmanager
    def _pipeline(self, environment: Environment | None = None) -> Iterator[beam.Pipeline]:
        yield beam.Pipeline(
            runner=FnApiRunner(environment), options=beam_patches.Options(self._flags)
        )


_started: WeakValueDictionary[str, Workers] = WeakValueDictionary()
"""Name → workers. A pipeline is passed to the runner as a serialised message. The message cannot contain the
workers of the pipeline, only their name.
"""


class _ForkedWorker(Environment):
    """A Beam environment whose workers are forked. Beam's own environments start a new Python for each
    worker.
    """

    def __init__(self, workers: Workers):
        super().__init__(python_sdk_capabilities())
        self._workers = workers
        self._name = uuid.uuid4().hex
        _started[self._name] = workers

    def to_runner_api_parameter(self, context: Any) -> tuple[str, bytes]:
        return URN, self._name.encode()


beam_patches.guard_environment(URN)
beam_patches.keep_in_buffers(FileListBuffer, FileGroupingBuffer, FileDataChannel)
beam_patches.bound_queues()
beam_patches.sample_often()


@WorkerHandler.register_environment(URN, bytes)
class _ForkedWorkerHandler(GrpcWorkerHandler):
    """Connects Beam's in-process runner with one forked worker."""

    def __init__(
        self, name: bytes, state: Any, provision_info: Any, grpc_server: beam_patches.LoopbackServer
    ):
        super().__init__(state, provision_info, grpc_server)
        self._workers = _started[name.decode()]
        self._secret = grpc_server.secret
        self._number = -1

    def start_worker(self) -> None:
        flags = ["--id", self.worker_id, "--provision_endpoint", self.control_address]
        self._number = self._workers.start(flags, self._give_up, self._secret)

    def host_from_worker(self) -> str:
        return LOOPBACK

    def stop_worker(self) -> None:
        """Stops watching the worker, so that this handler and the pipeline can be freed.

        The worker process ends by itself when its connection closes.
        """
        self._workers.forget(self._number)

    def _give_up(self, end: BadEnd) -> None:
        beam_patches.fail_requests(self.control_conn, error_of(end, self._workers.log_tail()))
        self._workers.give_up(end)


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
