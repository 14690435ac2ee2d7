"""The in-process runner: Beam's runner for one machine, with one or more worker processes.

Checks, before a build starts, that the in-process runner has enough memory.

The memory that a build needs depends on its input and on the number of workers. Without this check, a build
that needs too much memory might run for hours before the system kills it, without a message.
"""

import contextlib
import os
import pathlib
import resource
import uuid
from collections.abc import Iterator, Sequence
from typing import Any
from weakref import WeakValueDictionary

import apache_beam as beam
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.runners.portability.fn_api_runner.worker_handlers import (
    GrpcWorkerHandler,
    WorkerHandler,
)
from apache_beam.transforms.environments import Environment, python_sdk_capabilities

from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.read_files import file_bytes_of
from corpusmill.transforms.files.stores import is_local

from ..cost import MemoryModel
from .beam_patches import (
    LoopbackServer,
    Options,
    bound_queues,
    fail_requests,
    guard_environment,
    keep_in_buffers,
    sample_often,
)
from .engine import PlannedBuild, Started
from .fork_server import MESSAGE_BLOCK, MESSAGE_KEPT, give_back_large_blocks
from .shuffle_files import FileDataChannel, FileGroupingBuffer, FileListBuffer, shuffle_folder
from .worker_processes import LOOPBACK, BadEnd, Workers, error_of, worker_processes

CGROUPS = pathlib.Path("/sys/fs/cgroup")
OWN_CGROUPS = pathlib.Path("/proc/self/cgroup")
_V1_LIMIT, _V2_LIMIT = "memory.limit_in_bytes", "memory.max"


def check_memory(model: MemoryModel, text_bytes: int, workers: int, limit: int) -> None:
    """Raises BuildError, with advice, if a build needs more memory than `limit`.

    Args:
      model: The memory model of the corpus.
      text_bytes: The decompressed size of all inputs, in bytes.
      workers: The number of processes of the in-process runner.
      limit: The number of bytes that may be used (see `memory_limit`).
    """
    needed = model.needed(text_bytes, workers)
    if needed <= limit:
        return
    fewer = ((n, model.needed(text_bytes, n)) for n in range(workers - 1, 0, -1))
    fitting = (f"--workers {n} needs {_gigabytes(size)}; " for n, size in fewer if size <= limit)
    raise BuildError(
        f"the in-process runner needs about {_gigabytes(needed)} of memory for"
        f" {_gigabytes(text_bytes)} of text, but only {_gigabytes(limit)} are available: {next(fitting, '')}"
        "--runner SparkRunner also runs on this machine, and its memory does not grow with the input;"
        " --ignore-memory starts the build anyway"
    )


def memory_limit() -> int:
    """Returns the number of bytes that this process and its children may use together.

    It is the smallest of these numbers: the memory of the machine, the limits of the Linux cgroups (versions
    1 and 2) of this process and of their parents, and the limit on the address space of this process.
    """
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    address_space, _ = resource.getrlimit(resource.RLIMIT_AS)
    limits = [physical, *cgroup_limits(OWN_CGROUPS, CGROUPS)]
    if address_space != resource.RLIM_INFINITY:
        limits.append(address_space)
    return min(limits)


def cgroup_limits(own: pathlib.Path, root: pathlib.Path) -> Iterator[int]:
    """Yields the memory limits, in bytes, of the Linux cgroups of a process and of their parents.

    The format of `own` is described in cgroups(7): lines `id:controllers:path`; version 2 has no controllers.
    In a container, the path in a line may be a path on the host, which does not exist in the container. A
    cgroup whose folder is not found is treated as unlimited.

    Args:
      own: The file that lists the cgroups of the process, such as /proc/self/cgroup.
      root: The folder that contains the cgroups, such as /sys/fs/cgroup.
    """
    if not own.exists():
        return
    for line in own.read_text("utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            yield from _limits_above(root, path, _V2_LIMIT)
        elif "memory" in controllers.split(","):
            yield from _limits_above(root / "memory", path, _V1_LIMIT)


def _limits_above(top: pathlib.Path, path: str, name: str) -> Iterator[int]:
    group = top / path.lstrip("/")
    for folder in (group, *group.parents):
        if not folder.is_relative_to(top):
            return
        file = folder / name
        if file.exists() and (text := file.read_text("ascii").strip()) != "max":
            yield int(text)


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"


URN = "corpusmill:env:forked:v1"


class InProcess:
    """The engine that runs pipelines with Beam's in-process runner.

    The name DirectRunner is not passed to Beam, because Beam would then first try to download Prism, another
    runner.
    """

    is_local = True

    def __init__(self, workers: int, beam_flags: Sequence[str]):
        self._workers = workers
        self._flags = [*beam_flags, f"--direct_num_workers={workers}"]

    def prepare(self, build: PlannedBuild) -> None:
        """Raises BuildError if the build needs more memory than is available, and InputError if an input is
        missing.
        """
        if build.memory:
            sizes = {path: file_bytes_of(path) for path in build.inputs}
            text_bytes = build.memory.text_bytes(sizes)
            check_memory(build.memory, text_bytes, self._workers, memory_limit())

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
        yield beam.Pipeline(runner=FnApiRunner(environment), options=Options(self._flags))


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


guard_environment(URN)
keep_in_buffers(FileListBuffer, FileGroupingBuffer, FileDataChannel)
bound_queues()
sample_often()


@WorkerHandler.register_environment(URN, bytes)
class _ForkedWorkerHandler(GrpcWorkerHandler):
    """Connects Beam's in-process runner with one forked worker."""

    def __init__(self, name: bytes, state: Any, provision_info: Any, grpc_server: LoopbackServer):
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
        fail_requests(self.control_conn, error_of(end, self._workers.log_tail()))
        self._workers.give_up(end)
