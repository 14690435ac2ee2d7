"""Settings of the C library for memory that a process has freed."""

import contextlib
import ctypes

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # malloc.h of glibc

LARGE_BLOCK = 1 << 22
"""Bytes from which on a block is mapped on its own. glibc raises this limit to 32 MiB by itself. Then
large blocks, such as sorted runs of lines, share the heap with small ones, and a worker's memory grows
with all data that it has sorted.
"""

KEPT = 1 << 26
"""Bytes at the end of the heap that are not returned to the system each time."""


ARENAS = 1
"""Number of heaps of the process. glibc makes up to eight per core, and free memory in one heap cannot be
used by threads with another heap. Python's threads seldom allocate at the same time.
"""


def give_back_large_blocks() -> None:
    """Makes this process return large freed blocks to the system at once, and use one heap. Only has an
    effect with glibc.
    """
    with contextlib.suppress(AttributeError, OSError):
        set_option = ctypes.CDLL(None).mallopt
        set_option(M_MMAP_THRESHOLD, LARGE_BLOCK)
        set_option(M_TRIM_THRESHOLD, KEPT)
        set_option(M_ARENA_MAX, ARENAS)
