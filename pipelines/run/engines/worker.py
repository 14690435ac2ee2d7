"""A process that does the Python work of a pipeline: the command `corpusmill-worker`.

This command is used by the in-process runner, and by Spark's environments of the types PROCESS and EXTERNAL.
The runner starts the command with flags that a container of Beam would also get: the id of the worker, and
addresses to connect to. The process requests the options of the job from the runner, and then becomes Beam's
worker. (Beam's container images have a similar program, which is not part of Beam's Python package.)

The command installs nothing: the node must have the same installation of corpusmill as the launcher.
"""

import argparse
import contextlib
import io
import json
import os
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

import grpc
from apache_beam.portability.api import beam_provision_api_pb2 as provision
from apache_beam.portability.api import beam_provision_api_pb2_grpc as provision_grpc
from apache_beam.portability.api import endpoints_pb2
from apache_beam.runners.worker import sdk_worker_main
from google.protobuf import json_format, text_format

from corpusmill.transforms.files import counters

from .beam_patches import bound_queues, remember_signatures, sample_often, show_in_all_channels
from .fork_server import NOT_BEGUN, give_back_large_blocks
from .worker_processes import VARIABLE, open_channel

ANSWER_SECONDS = 60.0
WORKING_FOLDER = "CORPUSMILL_WORKING_FOLDER"
"""Environment variable with the folder in which the build was started, the base of relative file names."""


def main(arguments: Sequence[str] | None = None, secret: str = "") -> int:
    """Runs a worker until the runner closes the connection.

    Args:
      arguments: The flags of the worker; by default the arguments of this process.
      secret: The secret to send to the runner; "" for the one in CORPUSMILL_SECRET, if this is set.

    Returns the exit status: 0, or NOT_BEGUN if the runner does not respond.
    """
    flags = _parse(arguments)
    secret = secret or os.environ.get(VARIABLE, "")
    enter_working_folder()
    # nothing reads the stdout of a pool's workers
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.stdout = sys.stderr = io.TextIOWrapper(_Log(sys.stderr.fileno(), "w"), write_through=True)
    named = {"logging": flags.logging_endpoint, "control": flags.control_endpoint}
    try:
        variables = worker_environment(flags.id, flags.provision_endpoint, named, secret)
    except grpc.RpcError as error:
        print(f"{flags.id}: {flags.provision_endpoint} does not respond: {error}", file=sys.stderr)
        return NOT_BEGUN
    os.environ.update(variables)
    show_in_all_channels(secret)
    give_back_large_blocks()
    remember_signatures()
    bound_queues()
    sample_often()
    sdk_worker_main.main([])
    counters.flush()
    return 0


class _Log(io.FileIO):
    """An output stream that ignores a full disk.

    Otherwise, a worker that cannot print an error would not report it to the runner either.
    """

    def write(self, data: Any) -> int:
        """Writes data (see io.RawIOBase)."""
        with contextlib.suppress(OSError):
            super().write(data)
        return len(data)


def enter_working_folder() -> None:
    """Changes to the folder in which the build was started, if it exists on this node.

    This is necessary because Spark's executors start workers in other folders.
    """
    folder = os.environ.get(WORKING_FOLDER, "")
    if pathlib.Path(folder).is_dir():
        os.chdir(folder or ".")


def worker_environment(
    worker_id: str, provision_endpoint: str, endpoints: dict[str, str], secret: str = ""
) -> dict[str, str]:
    """Requests the options of the job from the runner. Returns them as the environment variables that Beam's
    worker reads.

    Args:
      worker_id: The id that the runner has given to this worker.
      provision_endpoint: The address of the runner's provision service, host:port.
      endpoints: "logging" and "control" → host:port, for addresses that are already known. The others are
        taken from the runner's response.
      secret: The secret to send to the runner; "" for none.

    Raises grpc.RpcError if the runner does not respond.
    """
    with open_channel(provision_endpoint, secret) as channel:
        answer = provision_grpc.ProvisionServiceStub(channel).GetProvisionInfo(
            provision.GetProvisionInfoRequest(),
            metadata=[("worker_id", worker_id)],
            timeout=ANSWER_SECONDS,
            wait_for_ready=True,
        )
    info = answer.info
    logging_url = endpoints.get("logging") or info.logging_endpoint.url
    control_url = endpoints.get("control") or info.control_endpoint.url
    return {
        "WORKER_ID": worker_id,
        "PIPELINE_OPTIONS": json.dumps(json_format.MessageToDict(info.pipeline_options)),
        "RUNNER_CAPABILITIES": " ".join(info.runner_capabilities),
        "LOGGING_API_SERVICE_DESCRIPTOR": _descriptor(logging_url),
        "CONTROL_API_SERVICE_DESCRIPTOR": _descriptor(control_url),
    }


def _descriptor(url: str) -> str:
    descriptor = endpoints_pb2.ApiServiceDescriptor(url=url)
    return str(text_format.MessageToString(descriptor, as_one_line=True))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="corpusmill-worker", description=__doc__.splitlines()[0])
    parser.add_argument("--id", required=True, help="the name that the runner gives")
    parser.add_argument("--provision_endpoint", required=True, metavar="HOST:PORT")
    parser.add_argument("--logging_endpoint", default="", metavar="HOST:PORT")
    parser.add_argument("--control_endpoint", default="", metavar="HOST:PORT")
    parser.add_argument("--artifact_endpoint", default="", help="not used", metavar="HOST:PORT")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
