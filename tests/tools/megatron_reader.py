"""A data set of Megatron-LM, read as its IndexedDataset does, by the layout that it publishes and no more."""

import struct
from pathlib import Path

import numpy as np

TYPES = {4: np.int32, 8: np.uint16}


def read_documents(prefix: Path) -> list[list[int]]:
    """The ids of each document of `<prefix>.idx` and `.bin`. Asserts that nothing is left of either."""
    index = prefix.with_name(f"{prefix.name}.idx").read_bytes()
    tokens = prefix.with_name(f"{prefix.name}.bin").read_bytes()
    assert index[:9] == b"MMIDIDX\x00\x00"
    version, code, sequences, ends = struct.unpack_from("<QBQQ", index, 9)
    assert version == 1
    kind, at = TYPES[code], 34
    lengths = np.frombuffer(index, np.int32, sequences, at)
    starts = np.frombuffer(index, np.int64, sequences, at + 4 * sequences)
    documents = np.frombuffer(index, np.int64, ends, at + 12 * sequences)
    assert len(index) == at + 12 * sequences + 8 * ends
    assert documents.tolist() == list(range(sequences + 1))
    assert lengths.sum() * kind().itemsize == len(tokens)
    return [
        np.frombuffer(tokens, kind, length, start).tolist()
        for length, start in zip(lengths.tolist(), starts.tolist(), strict=True)
    ]
