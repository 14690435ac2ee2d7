"""Rows of builds, dealt out by a hash of their ids into buckets: all rows of an id meet in one of them.

Rows travel in blocks, those of some hundred thousand rows of a worker that fall into one bucket.
"""

import functools
import itertools
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa

from transforms.builds.finished_builds import CorpusRows
from transforms.files.gather import Gather
from transforms.files.open_input import InputError
from transforms.text.lines.line_blocks import pack_block, unpack_block

BUFFER_ROWS = 1 << 18  # that a worker holds before it deals them out


class DealRows(beam.PTransform):
    """PCollection → PCollection[(bucket, blocks)], for buckets that have rows.

    Args:
      make: element → its rows, a table with a column "id"; of one schema for all elements.
    """

    def __init__(self, make: Callable[[Any], pa.Table], buckets: int):
        super().__init__()
        self.deal = Gather(make, functools.partial(deal_out, buckets=buckets), BUFFER_ROWS)

    def expand(self, elements: beam.PCollection) -> beam.PCollection:
        return (
            elements
            | "DealOut" >> beam.ParDo(self.deal).with_output_types(tuple[int, bytes])
            | "GroupBuckets" >> beam.GroupByKey()
        )


def deal_out(tables: Iterable[pa.Table], buckets: int) -> Iterator[tuple[int, bytes]]:
    """(bucket, block) for the rows of tables."""
    rows = pa.concat_tables(tables).combine_chunks()
    hashes = [zlib.crc32(identity.encode("utf-8")) for identity in rows["id"].to_pylist()]
    of_rows = np.array(hashes, np.int64) % buckets
    in_order = rows.take(np.argsort(of_rows, kind="stable")).to_batches()
    ends = np.cumsum(np.bincount(of_rows, minlength=buckets)).tolist()
    for bucket, (start, end) in enumerate(itertools.pairwise([0, *ends])):
        if start < end:
            part = in_order[0].slice(start, end - start)
            yield bucket, pack_block(part.serialize().to_pybytes())


def unpack_rows(blocks: Iterable[bytes], schema: pa.Schema) -> pa.Table:
    """The rows of all blocks."""
    buffers = map(pa.py_buffer, map(unpack_block, blocks))
    return pa.Table.from_batches(
        [pa.ipc.read_record_batch(buffer, schema) for buffer in buffers], schema
    )


def ids_of(rows: CorpusRows, column: str) -> list[str]:
    """The ids in a column. Raises InputError for a row without one."""
    ids: list[str] = rows.table.column(column).cast(pa.string()).to_pylist()
    if not all(ids) or not "".join(ids).isprintable():
        raise InputError(rows.file.path, f"a row has no {column}, or one that cannot be printed")
    return ids
