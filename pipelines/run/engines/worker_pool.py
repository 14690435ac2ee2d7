"""A service that starts workers when a runner requests them (environments of type EXTERNAL).

This command runs a pool on a node of a cluster until it is stopped:

    CORPUSMILL_SECRET=… corpusmill-worker-pool --port 50000

A worker runs the code of its caller, so callers must send the secret of the pool, as a parameter of the
environment.
"""

import argparse
import contextlib
import dataclasses
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from apache_beam.portability.api import beam_fn_api_pb2 as fn_api
from apache_beam.portability.api import beam_fn_api_pb2_grpc as fn_api_grpc

from ..corpora import rows
from . import worker_processes

MODULES = (
    "corpusmill.pipelines.inspect.compare",
    "corpusmill.pipelines.inspect.verify",
)
"""Modules that are imported before workers are forked, in addition to the modules of the corpora."""

IS_GONE = f"{worker_processes.SERVER} has ended"
PARAMETER = "secret"
"""Name of the parameter with which an EXTERNAL environment sends the secret to the pool. Runners forward the
parameters of an environment, but not gRPC metadata.
"""


@dataclasses.dataclass
class _Pool(fn_api_grpc.BeamFnExternalWorkerPoolServicer):
    """The gRPC service that starts workers. Several executors may share a pool and use the same
    worker names.
    """

    workers: worker_processes.Workers
    secret: str
    tell: Callable[[worker_processes.BadEnd], None]

    def StartWorker(self, request: Any, context: Any) -> Any:
        if not worker_processes.is_shown(request.params.get(PARAMETER), self.secret):
            context.abort(grpc.StatusCode.UNAUTHENTICATED, worker_processes.REFUSAL)
        if self.workers.is_gone:
            return fn_api.StartWorkerResponse(error=IS_GONE)
        flags = [
            f"--id={request.worker_id}",
            f"--provision_endpoint={request.provision_endpoint.url}",
            f"--logging_endpoint={request.logging_endpoint.url}",
            f"--control_endpoint={request.control_endpoint.url}",
        ]
        self.workers.start(flags, self.tell, self.secret)
        return fn_api.StartWorkerResponse()

    def StopWorker(self, request: Any, context: Any) -> Any:
        """Does nothing, because a worker ends when its connection closes."""
        return fn_api.StopWorkerResponse()


@contextlib.contextmanager
def worker_pool(
    workers: worker_processes.Workers,
    secret: str,
    address: str = f"{worker_processes.LOOPBACK}:0",
    tell: Callable[[worker_processes.BadEnd], None] = worker_processes.log_bad_end,
) -> Iterator[str]:
    """Runs a pool during the `with` block. Yields its address as host:port.

    Args:
      workers: Starts the worker processes.
      secret: The secret that callers must send, and that workers send to their runner.
      address: The address to listen at, host:port; port 0 for a free port.
      tell: Function that is called if a worker fails (see `Workers.start`). Nothing else notifies the
        runner, which waits for each worker.

    Raises OSError if the address is in use, or is not an address of this machine.
    """
    server = grpc.server(ThreadPoolExecutor(1), options=[("grpc.so_reuseport", 0)])
    fn_api_grpc.add_BeamFnExternalWorkerPoolServicer_to_server(_Pool(workers, secret, tell), server)
    try:
        port = server.add_insecure_port(address)
    except RuntimeError:
        raise OSError(
            f"cannot listen at {address}: the address is in use, or is not one of this machine"
        ) from None
    server.start()
    try:
        yield f"{address.rpartition(':')[0]}:{port}"
    finally:
        server.stop(None).wait()


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a pool until SIGTERM or Ctrl-C, or until the process that forks workers has ended.

    Returns the exit status. The output of workers is written to stderr.
    """
    parser = argparse.ArgumentParser(
        prog="corpusmill-worker-pool", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument(
        "--host",
        default=worker_processes.LOOPBACK,
        help="address to listen at (default: %(default)s)",
    )
    settings = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        secret = worker_processes.named_secret()
    except ValueError as error:
        return _fail(error)
    workers = worker_processes.Workers([*(row.module for row in rows().values()), *MODULES])
    try:
        with worker_pool(workers, secret, f"{settings.host}:{settings.port}") as address:
            print(f"the worker pool listens at {address}", flush=True)
            workers.wait_until_gone()  # also if there is no worker whose loss would be reported
            raise OSError(IS_GONE)
    except OSError as error:
        return _fail(error)
    except KeyboardInterrupt:
        return 130
    finally:
        workers.end()
    return 0


def _fail(error: Exception) -> int:
    print(f"corpusmill-worker-pool: error: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
