"""What the C library does with memory that a process has freed."""

import contextlib
import ctypes

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # malloc.h of glibc

LARGE_BLOCK = 1 << 22
"""Bytes. glibc learns by itself to keep blocks of up to 32 MiB, such as a run of lines that is sorted, among
the small ones; what is small and stays then lies between, and a worker grows with all that it has sorted.
"""

KEPT = 1 << 26
"""Bytes at the end of the heap that are not given back each time."""


def give_back_large_blocks() -> None:
    """Lets this process give large blocks back to the system as soon as they are free. Only glibc can."""
    with contextlib.suppress(AttributeError, OSError):
        set_option = ctypes.CDLL(None).mallopt
        set_option(M_MMAP_THRESHOLD, LARGE_BLOCK)
        set_option(M_TRIM_THRESHOLD, KEPT)
