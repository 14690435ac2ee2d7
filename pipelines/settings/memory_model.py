"""The measured memory of builds on the in-process runner."""

import pathlib
from collections.abc import Mapping
from typing import NamedTuple

MB = 10**6

LINES = {".gz": 2.5, ".bz2": 3.3, ".xz": 3.4, ".tgz": 2.5, ".zip": 2.6}
XML = {".gz": 4.0, ".bz2": 5.5, ".xz": 6.0}
JSON = {".gz": 7.5, ".bz2": 11.0}
"""Ending of a packed file's name → bytes of text for each byte that is stored, in the inputs of the tests."""


class MemoryModel(NamedTuple):
    """Peak memory of a build on the in-process runner, all processes together.

    Measured with inputs of two sizes or more; tests/bench/README.md has how.
    """

    base_bytes: int  # of the launcher and of the first worker, whatever the input
    worker_bytes: int  # of each further worker
    input_share: float  # bytes for each byte of input, decompressed
    expansion: Mapping[str, float] = LINES

    def text_bytes(self, sizes: Mapping[str, int]) -> int:
        """Returns the approximate size of files when they are decompressed.

        Args:
          sizes: path → bytes as they are stored.
        """
        return sum(
            int(size * self.expansion.get(pathlib.PurePath(path).suffix, 1.0))
            for path, size in sizes.items()
        )

    def needed(self, text_bytes: int, workers: int) -> int:
        """Bytes that a build takes at its peak, about."""
        further = self.worker_bytes * (workers - 1)
        return self.base_bytes + further + int(self.input_share * text_bytes)
