"""Settings of the C library for memory that a process has freed."""

import contextlib
import ctypes

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # malloc.h of glibc

LARGE_BLOCK = 1 << 22
"""Bytes. glibc learns by itself to keep blocks of up to 32 MiB, such as a run of lines that is sorted, among
the small ones; what is small and stays then lies between, and a worker grows with all that it has sorted.
"""

KEPT = 1 << 26
"""Bytes at the end of the heap that are not given back each time."""


ARENAS = 1
"""Heaps of the process. glibc makes up to eight a core, and what is free in one is of no use to threads that
have another; the threads of Python seldom ask at the same time.
"""


def give_back_large_blocks() -> None:
    """Lets this process give large blocks back to the system as soon as they are free, and have one heap.

    Only glibc can.
    """
    with contextlib.suppress(AttributeError, OSError):
        set_option = ctypes.CDLL(None).mallopt
        set_option(M_MMAP_THRESHOLD, LARGE_BLOCK)
        set_option(M_TRIM_THRESHOLD, KEPT)
        set_option(M_ARENA_MAX, ARENAS)
