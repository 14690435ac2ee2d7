"""Checks, before a build starts, that the in-process runner has enough memory.

The memory that a build needs depends on its input and on the number of workers. Without this check, a build
that needs too much memory might run for hours before the system kills it, without a message.
"""

import os
import pathlib
import resource
from collections.abc import Iterator

from corpusmill.pipelines.run.memory_model import MemoryModel
from corpusmill.transforms.files.errors import BuildError

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
