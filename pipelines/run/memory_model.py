"""Estimates from measurements how much memory a build needs on the in-process runner."""

import pathlib
from collections.abc import Mapping
from typing import NamedTuple

MB = 10**6

LINES = {".gz": 2.5, ".bz2": 3.3, ".xz": 3.4, ".tgz": 2.5, ".zip": 2.6}
XML = {".gz": 4.0, ".bz2": 5.5, ".xz": 6.0}
JSON = {".gz": 7.5, ".bz2": 11.0}
"""Suffix of a compressed file → decompressed bytes per compressed byte, measured on the test inputs."""


class MemoryModel(NamedTuple):
    """A model of the peak memory of a build on the in-process runner, for all processes together.

    The values were measured with inputs of at least two sizes; see tests/bench/README.md.
    """

    base_bytes: int  # memory of the launcher and the first worker, for any input
    worker_bytes: int  # memory of each further worker
    input_share: float  # bytes of memory for each byte of decompressed input
    expansion: Mapping[str, float] = LINES

    def text_bytes(self, sizes: Mapping[str, int]) -> int:
        """Returns the approximate decompressed size of files in bytes.

        Args:
          sizes: Path → size of the stored file in bytes.
        """
        return sum(
            int(size * self.expansion.get(pathlib.PurePath(path).suffix, 1.0))
            for path, size in sizes.items()
        )

    def needed(self, text_bytes: int, workers: int) -> int:
        """Returns the approximate peak memory of a build in bytes.

        Args:
          text_bytes: The decompressed size of all inputs.
          workers: The number of worker processes.
        """
        further = self.worker_bytes * (workers - 1)
        return self.base_bytes + further + int(self.input_share * text_bytes)
