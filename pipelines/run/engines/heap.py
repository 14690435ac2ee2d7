"""Sets options of the C library, so that freed memory is returned to the system."""

import contextlib
import ctypes

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # malloc.h of glibc

LARGE_BLOCK = 1 << 22
"""In a worker, blocks of memory with at least this number of bytes are mapped separately. By default, glibc
raises this limit up to 32 MiB. Large blocks, such as sorted runs of lines, would then share the heap with
small ones, and a worker's memory would grow with all data that it has sorted.
"""

KEPT = 1 << 26
"""In a worker, number of free bytes at the end of the heap that are not returned to the system."""

MESSAGE_BLOCK, MESSAGE_KEPT = 1 << 17, 1 << 20
"""The same two limits in the process that passes messages between several workers. They are lower, so that
large messages, which may have a few megabytes, are mapped separately. In the heap, the gaps that messages
leave would grow with the number of messages. A single worker is the process itself. It has the limits of a
worker, because to map each block would cost 7 % of its time.
"""

ARENAS = 1
"""Number of heaps of the process. By default, glibc makes up to eight per core, and a thread cannot use free
memory in the heap of another thread. Python's threads seldom allocate memory at the same time, so one heap
is enough.
"""


def give_back_large_blocks(least: int = LARGE_BLOCK, kept: int = KEPT) -> None:
    """Makes this process return large blocks of memory to the system when they are freed, and use only one
    heap.

    This has an effect only with glibc.

    Args:
      least: The least size, in bytes, of blocks that are mapped separately and so can be returned.
      kept: The number of free bytes at the end of the heap that are not returned.
    """
    with contextlib.suppress(AttributeError, OSError):
        set_option = ctypes.CDLL(None).mallopt
        set_option(M_MMAP_THRESHOLD, least)
        set_option(M_TRIM_THRESHOLD, kept)
        set_option(M_ARENA_MAX, ARENAS)
