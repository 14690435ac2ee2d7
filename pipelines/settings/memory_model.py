"""Estimates, from measurements, how much memory builds need on the in-process runner."""

import pathlib
from collections.abc import Mapping
from typing import NamedTuple

MB = 10**6

LINES = {".gz": 2.5, ".bz2": 3.3, ".xz": 3.4, ".tgz": 2.5, ".zip": 2.6}
XML = {".gz": 4.0, ".bz2": 5.5, ".xz": 6.0}
JSON = {".gz": 7.5, ".bz2": 11.0}
"""Suffix of a compressed file → decompressed bytes for each compressed byte, measured on the test inputs."""


class MemoryModel(NamedTuple):
    """Peak memory of a build on the in-process runner, summed over all processes.

    The values were measured with inputs of at least two sizes; see tests/bench/README.md.
    """

    base_bytes: int  # of the launcher and the first worker, for any input
    worker_bytes: int  # of each further worker
    input_share: float  # bytes of memory for each byte of decompressed input
    expansion: Mapping[str, float] = LINES

    def text_bytes(self, sizes: Mapping[str, int]) -> int:
        """Returns the approximate decompressed size of files in bytes.

        Args:
          sizes: Path → stored bytes.
        """
        return sum(
            int(size * self.expansion.get(pathlib.PurePath(path).suffix, 1.0))
            for path, size in sizes.items()
        )

    def needed(self, text_bytes: int, workers: int) -> int:
        """Returns the approximate peak memory of a build in bytes."""
        further = self.worker_bytes * (workers - 1)
        return self.base_bytes + further + int(self.input_share * text_bytes)
