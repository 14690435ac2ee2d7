"""Writes the .idx file of a Megatron-LM data set, the index of the tokens in its .bin file.

The file has these parts, in this order. The numbers in brackets are sizes in bits; all numbers in the file
are little-endian.

- the bytes "MMIDIDX\\0\\0"
- the version (64)
- the data type of the tokens (8)
- the number of sequences and the number of document boundaries (64 each)
- the number of tokens in each sequence (32 each)
- the byte offset of each sequence in the .bin file (64 each)
- the index of each document's first sequence, and finally the number of sequences (64 each)

Here each document is one sequence. Source of the format: megatron/core/datasets/indexed_dataset.py of
Megatron-Core.
"""

import struct
from collections.abc import Callable, Iterable, Iterator

import numpy

from corpusmill.transforms.models.token_ids import Ids

TYPES = {"int32": 4, "uint16": 8}  # codes of Megatron's DType
_MAGIC = b"MMIDIDX\x00\x00"
_VERSION = 1
_HEAD = struct.Struct("<QBQQ")
_BLOCK = 1 << 20


def index_blocks(
    kind: str, documents: int, lengths: Callable[[], Iterable[Ids]]
) -> Iterator[bytes]:
    """Yields the bytes of an index in blocks, so that the whole index is never in memory at once.

    Args:
      kind: the data type of the tokens: "int32" or "uint16".
      documents: the number of documents.
      lengths: function that yields the number of tokens of each document, in blocks. It is called twice.
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
