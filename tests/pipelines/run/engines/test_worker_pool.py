"""A pool starts a worker, which asks the runner that wanted it what to do."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
import pytest
from apache_beam.portability.api import beam_fn_api_pb2 as fn_api
from apache_beam.portability.api import beam_fn_api_pb2_grpc as fn_api_grpc
from apache_beam.portability.api import beam_provision_api_pb2_grpc as provision_grpc
from apache_beam.portability.api import endpoints_pb2

from corpusmill.pipelines.run.engines.worker_pool import IS_GONE, PARAMETER, main, worker_pool
from corpusmill.pipelines.run.engines.worker_processes import HEADER, VARIABLE, Workers
from tests.tools.processes import running

SECRET = "of these tests"
SHOWN = {PARAMETER: SECRET}


class Runner(provision_grpc.ProvisionServiceServicer):
    """Notes who asks."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.asked_by: list[tuple[str, str]] = []  # worker, secret

    def GetProvisionInfo(self, _: Any, context: grpc.ServicerContext) -> Any:
        shown = {key: str(value) for key, value in context.invocation_metadata()}
        self.asked_by.append((shown["worker_id"], shown[HEADER]))
        self.asked.set()
        context.abort(grpc.StatusCode.NOT_FOUND, "no job")


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, SECRET)


@pytest.fixture
def runner() -> Iterator[tuple[Runner, str]]:
    server = grpc.server(futures.ThreadPoolExecutor(1))
    service = Runner()
    provision_grpc.add_ProvisionServiceServicer_to_server(service, server)
    port = server.add_insecure_port("localhost:0")
    server.start()
    yield service, f"localhost:{port}"
    server.stop(None)


def test_a_worker_that_a_runner_asks_for(runner: tuple[Runner, str]) -> None:
    service, address = runner
    place = endpoints_pb2.ApiServiceDescriptor(url=address)
    workers = Workers(keeps_output=True)
    try:
        with worker_pool(workers, SECRET) as pool, grpc.insecure_channel(pool) as channel:
            stub = fn_api_grpc.BeamFnExternalWorkerPoolStub(channel)
            request = fn_api.StartWorkerRequest(
                worker_id="7-1", provision_endpoint=place, params=SHOWN
            )
            assert not stub.StartWorker(request).error
            assert service.asked.wait(60)
            assert not stub.StopWorker(fn_api.StopWorkerRequest(worker_id="7-1")).error
    finally:
        workers.end()
    assert service.asked_by == [("7-1", SECRET)]


@pytest.fixture
def pool() -> Iterator["subprocess.Popen[bytes]"]:
    """The pool of a node."""
    command = [
        sys.executable,
        "-m",
        "corpusmill.pipelines.run.engines.worker_pool",
        "--port",
        "0",
    ]
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        yield process
        process.kill()  # else a pool that does not end would be waited for


def address_of(pool: "subprocess.Popen[bytes]") -> str:
    """Returns the address at which a pool listens."""
    assert pool.stdout
    line = pool.stdout.readline()
    assert line.startswith(b"the worker pool listens at 127.0.0.1:")
    return line.split()[-1].decode()


@pytest.mark.slow
def test_a_pool_of_a_node_until_it_is_ended(pool: "subprocess.Popen[bytes]") -> None:
    address_of(pool)
    pool.terminate()
    assert pool.wait(60) == 0


@pytest.mark.slow
@pytest.mark.parametrize("has_worker", [False, True])
def test_a_pool_that_cannot_start_workers_any_more_ends(
    pool: "subprocess.Popen[bytes]", runner: tuple[Runner, str], has_worker: bool
) -> None:
    place = endpoints_pb2.ApiServiceDescriptor(url=runner[1])
    request = fn_api.StartWorkerRequest(worker_id="7", provision_endpoint=place, params=SHOWN)
    with grpc.insecure_channel(address_of(pool)) as channel:
        if has_worker:
            fn_api_grpc.BeamFnExternalWorkerPoolStub(channel).StartWorker(request)
            assert runner[0].asked.wait(60)
        (server,) = Path(f"/proc/{pool.pid}/task/{pool.pid}/children").read_text().split()
        os.killpg(int(server), signal.SIGKILL)
        assert pool.wait(60) == 1
    assert pool.stderr
    assert b"the process that starts workers has ended" in pool.stderr.read()


def test_a_pool_says_that_it_cannot_start_a_worker() -> None:
    workers = Workers(keeps_output=True)
    with worker_pool(workers, SECRET) as pool, grpc.insecure_channel(pool) as channel:
        workers.end()
        stub = fn_api_grpc.BeamFnExternalWorkerPoolStub(channel)
        request = fn_api.StartWorkerRequest(worker_id="7", params=SHOWN)
        assert stub.StartWorker(request).error == IS_GONE


@pytest.mark.parametrize("params", [{}, {PARAMETER: ""}, {PARAMETER: SECRET[:-1]}, {"x": SECRET}])
def test_a_caller_without_the_secret_gets_no_worker(params: dict[str, str]) -> None:
    workers = Workers(keeps_output=True)
    with worker_pool(workers, SECRET) as pool, grpc.insecure_channel(pool) as channel:
        stub = fn_api_grpc.BeamFnExternalWorkerPoolStub(channel)
        with pytest.raises(grpc.RpcError, match="UNAUTHENTICATED"):
            stub.StartWorker(fn_api.StartWorkerRequest(worker_id="7", params=params))
    workers.end()
    assert workers._count == 0


def test_a_pool_needs_a_secret(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE)
    assert main(["--port", "0"]) == 1
    assert "error: CORPUSMILL_SECRET is not set" in capsys.readouterr().err


def test_an_address_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    workers = Workers(keeps_output=True)
    with worker_pool(workers, SECRET) as pool:
        assert main(["--port", pool.rpartition(":")[2]]) == 1
    workers.end()
    assert "corpusmill-worker-pool: error: cannot listen at" in capsys.readouterr().err
