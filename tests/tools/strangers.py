"""A build as a stranger sees it: its open ports, and what they answer to calls without the secret."""

import contextlib
import os
import signal
import socket
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import grpc

LISTENING = "0A"  # proc_net_tcp(5)
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
SECONDS = 20
WORKERS = ("worker_0", "1-1")  # names that runners give
BEAM = "/org.apache.beam.model."
METHODS = (
    f"{BEAM}fn_execution.v1.BeamFnControl/Control",
    f"{BEAM}fn_execution.v1.BeamFnData/Data",
    f"{BEAM}fn_execution.v1.BeamFnState/State",
    f"{BEAM}fn_execution.v1.BeamFnLogging/Logging",
    f"{BEAM}fn_execution.v1.ProvisionService/GetProvisionInfo",
    f"{BEAM}fn_execution.v1.BeamFnExternalWorkerPool/StartWorker",
    f"{BEAM}job_management.v1.JobService/Prepare",
    f"{BEAM}job_management.v1.ArtifactStagingService/ReverseArtifactRetrievalService",
    f"{BEAM}job_management.v1.ArtifactRetrievalService/ResolveArtifacts",
    f"{BEAM}expansion.v1.ExpansionService/Expand",
)


def open_ports(pids: Iterable[int]) -> dict[int, str]:
    """TCP port → the address, in the system's hexadecimal digits, at which one of the processes listens."""
    sockets = {name for pid in pids for name in _sockets_of(pid)}
    found = {}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text("ascii").splitlines()[1:]:
            fields = line.split()
            address, port = fields[1].split(":")
            if fields[3] == LISTENING and fields[9] in sockets:
                found[int(port, 16)] = address
    return found


def _sockets_of(pid: int) -> list[str]:
    """Inodes of the sockets that a process has open."""
    found = []
    with contextlib.suppress(OSError):  # it has ended
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                target = str(link.readlink())
                if target.startswith("socket:["):
                    found.append(target[len("socket:[") : -1])
    return found


@contextlib.contextmanager
def stopped(pids: Sequence[int]) -> Iterator[None]:
    """The processes do nothing inside the block."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def answers(port: int) -> set[str]:
    """Calls all of Beam's services at a port. Returns names of gRPC's states; "OK" of an answered call."""
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        return {_state_of(channel, method, name) for method in METHODS for name in WORKERS}


def _state_of(channel: grpc.Channel, method: str, worker: str) -> str:
    empty = iter([b""])  # a message of which all fields have their defaults
    call = channel.stream_stream(method)(empty, metadata=[("worker_id", worker)], timeout=SECONDS)
    try:
        next(call)
    except StopIteration:
        return "OK"
    except grpc.RpcError as error:
        name: str = error.code().name  # type: ignore[attr-defined]
        return name
    return "OK"


def is_reached_from_outside(port: int) -> bool:
    """Connects to the port at an address of this machine that is not of the loopback interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # a documentation address; nothing is sent
        except OSError:
            return False  # the machine has no other interface
        own = probe.getsockname()[0]
    try:
        socket.create_connection((own, port), 1.0).close()
    except OSError:
        return False
    return True
