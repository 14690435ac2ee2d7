"""The index of a data set of Megatron-LM, a file .idx beside the tokens in .bin.

All numbers are little-endian: "MMIDIDX\\0\\0"; version, 64 bits; type of the tokens, 8; number of sequences
and of document ends, 64 each; tokens of each sequence, 32; where each begins in .bin, in bytes, 64; for
each document the number of its first sequence, and that of all, 64. Here a document is one sequence.
Layout: megatron/core/datasets/indexed_dataset.py of Megatron-Core.
"""

import struct
from collections.abc import Callable, Iterable, Iterator

import numpy

from transforms.text.vocabularies.token_ids import Ids

TYPES = {"int32": 4, "uint16": 8}  # codes of Megatron's DType
_MAGIC = b"MMIDIDX\x00\x00"
_VERSION = 1
_HEAD = struct.Struct("<QBQQ")
_BLOCK = 1 << 20


def index_blocks(
    kind: str, documents: int, lengths: Callable[[], Iterable[Ids]]
) -> Iterator[bytes]:
    """The bytes of an index, in blocks, so that no one holds all of it.

    Args:
      kind: of the tokens, of TYPES.
      lengths: gives the tokens of each document, in blocks; called twice.
    """
    yield _MAGIC + _HEAD.pack(_VERSION, TYPES[kind], documents, documents + 1)
    for block in lengths():
        yield block.astype("<i4").tobytes()
    start, token_bytes = 0, numpy.dtype(kind).itemsize
    for block in lengths():
        ends = start + numpy.cumsum(block, dtype=numpy.int64) * token_bytes
        yield (ends - block.astype(numpy.int64) * token_bytes).astype("<i8").tobytes()
        start = int(ends[-1]) if len(ends) else start
    for first in range(0, documents + 1, _BLOCK):
        yield numpy.arange(first, min(first + _BLOCK, documents + 1), dtype="<i8").tobytes()
