"""The worker asks the runner what Beam's worker has to know."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
import pytest
from apache_beam.portability.api import beam_provision_api_pb2 as provision
from apache_beam.portability.api import beam_provision_api_pb2_grpc as provision_grpc
from apache_beam.portability.api import endpoints_pb2
from apache_beam.runners.worker.sdk_worker_main import _load_pipeline_options
from google.protobuf import struct_pb2, text_format

from corpusmill.pipelines.run.engines.worker import (
    WORKING_FOLDER,
    enter_working_folder,
    worker_environment,
)
from corpusmill.transforms.files import counters

COUNT = """
import os, sys
from apache_beam.runners.worker import sdk_worker_main
from corpusmill.pipelines.run.engines import worker
from corpusmill.transforms.files import counters
sdk_worker_main.main = lambda _: [counters.count("read", "pages") for _ in range(3)]
os._exit(worker.main(sys.argv[1:]))
"""


class Provision(provision_grpc.ProvisionServiceServicer):
    """The service of a runner."""

    def GetProvisionInfo(self, _: Any, context: grpc.ServicerContext) -> Any:
        assert ("worker_id", "7-1") in {
            (key, value) for key, value in context.invocation_metadata()
        }
        options = struct_pb2.Struct()
        options.update({"beam:option:job_name:v1": "x", "beam:option:experiments:v1": ["y"]})
        return provision.GetProvisionInfoResponse(
            info=provision.ProvisionInfo(
                pipeline_options=options,
                logging_endpoint=endpoints_pb2.ApiServiceDescriptor(url="localhost:1"),
                control_endpoint=endpoints_pb2.ApiServiceDescriptor(url="localhost:2"),
                runner_capabilities=["a", "b"],
            )
        )


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = grpc.server(futures.ThreadPoolExecutor(1))
    provision_grpc.add_ProvisionServiceServicer_to_server(Provision(), server)
    port = server.add_insecure_port("localhost:0")
    server.start()
    yield f"localhost:{port}"
    server.stop(None)


def url_of(descriptor: str) -> str:
    url: str = text_format.Parse(descriptor, endpoints_pb2.ApiServiceDescriptor()).url
    return url


def test_the_variables_that_the_worker_of_beam_reads(endpoint: str) -> None:
    variables = worker_environment("7-1", endpoint, {})
    assert url_of(variables.pop("LOGGING_API_SERVICE_DESCRIPTOR")) == "localhost:1"
    assert url_of(variables.pop("CONTROL_API_SERVICE_DESCRIPTOR")) == "localhost:2"
    options = _load_pipeline_options(variables.pop("PIPELINE_OPTIONS"))
    assert options == {"job_name": "x", "experiments": ["y"]}
    assert variables == {"WORKER_ID": "7-1", "RUNNER_CAPABILITIES": "a b"}


def test_relative_names_begin_where_the_build_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    monkeypatch.setenv(WORKING_FOLDER, str(tmp_path / "not on this node"))
    enter_working_folder()
    assert Path.cwd() == Path("/")
    monkeypatch.setenv(WORKING_FOLDER, str(tmp_path))
    enter_working_folder()
    assert Path.cwd() == tmp_path


def test_places_that_the_flags_name_win(endpoint: str) -> None:
    variables = worker_environment("7-1", endpoint, {"control": "node:3"})
    assert url_of(variables["CONTROL_API_SERVICE_DESCRIPTOR"]) == "node:3"
    assert url_of(variables["LOGGING_API_SERVICE_DESCRIPTOR"]) == "localhost:1"


def test_the_last_counts_of_a_worker_are_written(endpoint: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", COUNT, "--id", "7-1", "--provision_endpoint", endpoint]
    env = {**os.environ, counters.PROGRESS_DIR: str(tmp_path)}
    subprocess.run(command, env=env, check=True, stdin=subprocess.DEVNULL)
    assert counters.read_tallies(tmp_path) == {"read/pages": 3}
