"""Counting words, millions of them: in Arrow columns, as Python objects they would take ten times as much.

A word is what is between spaces (U+0020) and the ends of a line, any bytes but those; between two
spaces in a row there is none. Tokenised lines have single spaces, and no other white space but in the
lines that the tokeniser passes on as they are.
"""

import zlib
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.text.lines.line_blocks import cut_block, pack_block, unpack_block

SCHEMA = pa.schema(
    [pa.field("word", pa.binary(), nullable=False), pa.field("count", pa.int64(), nullable=False)]
)
"""Of word counts: record batches with each word once, in no order. A count may be negative."""

CHUNK_BYTES = 1 << 24  # of text at a time; the offsets of Arrow's words end at 2**31


def count_words(block: bytes) -> pa.RecordBatch:
    """The words of a block of lines with their counts."""
    texts = [spread_words(chunk) for chunk in cut_block(block, CHUNK_BYTES)]
    counted = pa.chunked_array(texts, pa.binary()).value_counts()
    words = pc.binary_slice(counted.field("values"), 0, -1)
    return _drop_absent(words, counted.field("counts"))


def spread_words(block: bytes) -> pa.BinaryArray:
    """The words of a block in their order, each with one space at its end; nothing between two is a space.

    With the space, they lie in the array as they lie in the block, and nothing has to be copied.
    """
    text = block.replace(b"\n", b" ")
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord(" ")) + 1
    offsets = np.concatenate([[0], ends]).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.binary(), len(ends), buffers)


def _drop_absent(words: pa.BinaryArray, counts: pa.Array) -> pa.RecordBatch:
    """Leaves out what is not a word, and words that are there 0 times."""
    batch = pa.record_batch([words, counts], schema=SCHEMA)
    is_word = pc.greater(pc.binary_length(words), 0)
    return batch.filter(pc.and_(is_word, pc.not_equal(counts, 0)))


def add_counts(parts: Iterable[pa.RecordBatch]) -> pa.RecordBatch:
    """The sum of word counts, without the words that sum up to 0."""
    table = pa.Table.from_batches(parts, SCHEMA)
    summed = table.group_by("word", use_threads=False).aggregate([("count", "sum")])
    return _drop_absent(*(summed[name].combine_chunks() for name in ("word", "count_sum")))


def negate_counts(counts: pa.RecordBatch) -> pa.RecordBatch:
    """Returns counts that subtract the given ones when they are added."""
    return pa.record_batch([counts["word"], pc.negate(counts["count"])], schema=SCHEMA)


def total_of(counts: pa.RecordBatch) -> int:
    """The sum of all counts."""
    return pc.sum(counts["count"]).as_py() or 0


def negative_words(counts: pa.RecordBatch) -> list[bytes]:
    """The words whose count is negative, by bytes."""
    return sorted(counts.filter(pc.less(counts["count"], 0))["word"].to_pylist())


def cut_by_bucket(counts: pa.RecordBatch, buckets: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """(bucket, its part of the counts) for each bucket that has words.

    A word's bucket depends on its bytes alone, so a bucket has all that is known of its words.
    """
    words = counts["word"].to_pylist()
    bucket_of_word = np.fromiter(map(zlib.crc32, words), np.uint32, len(words)) % buckets
    in_order = counts.take(np.argsort(bucket_of_word, kind="stable"))
    ends = np.cumsum(np.bincount(bucket_of_word, minlength=buckets)).tolist()
    for bucket, (start, end) in enumerate(pairwise([0, *ends])):
        if start < end:
            yield bucket, in_order.slice(start, end - start)


def pack_counts(counts: pa.RecordBatch) -> bytes:
    """The counts, compressed: some 6 bytes a word."""
    return pack_block(counts.serialize().to_pybytes())


def unpack_counts(packed: bytes, schema: pa.Schema = SCHEMA) -> pa.RecordBatch:
    """The counts that were packed."""
    return pa.ipc.read_record_batch(pa.py_buffer(unpack_block(packed)), schema)
