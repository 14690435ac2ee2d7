"""How much memory a build takes on the in-process runner, as measured."""

from typing import NamedTuple

MB = 10**6


class MemoryModel(NamedTuple):
    """Peak memory of a build on the in-process runner, all processes together.

    Measured with inputs of two sizes or more; README, "Figures", has how.
    """

    base_bytes: int  # of the launcher and of the first worker, whatever the input
    worker_bytes: int  # of each further worker
    input_share: float  # bytes for each byte of input as it is stored

    def needed(self, input_bytes: int, workers: int) -> int:
        """Bytes that a build takes at its peak, about."""
        further = self.worker_bytes * (workers - 1)
        return self.base_bytes + further + int(self.input_share * input_bytes)


MODELS = {
    "lm1b": MemoryModel(550 * MB, 200 * MB, 0.4),
    "pg19": MemoryModel(500 * MB, 260 * MB, 0.65),
    "simplebooks": MemoryModel(600 * MB, 260 * MB, 1.0),
    "wiki40b": MemoryModel(500 * MB, 300 * MB, 2.0),
    "entities": MemoryModel(500 * MB, 300 * MB, 0.1),
    "flores101": MemoryModel(500 * MB, 300 * MB, 0.5),
    "subwords": MemoryModel(500 * MB, 300 * MB, 0.5),
}
"""Corpus → model."""
