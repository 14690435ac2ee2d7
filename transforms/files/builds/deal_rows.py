"""Groups rows of builds into buckets by a hash of their ids, so that all rows of an id are in one bucket.

Rows are shuffled in blocks. A worker collects some hundred thousand rows and makes one block for each bucket.
"""

import functools
import itertools
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa

from corpusmill.transforms.files.builds.finished_builds import CorpusRows
from corpusmill.transforms.files.gather import Gather
from corpusmill.transforms.files.line_blocks import pack_block, unpack_block
from corpusmill.transforms.files.open_input import InputError

BUFFER_ROWS = 1 << 18  # rows that a worker collects before it distributes them to buckets


class DealRows(beam.PTransform):
    """Groups rows into buckets by a hash of their ids.

    PCollection → PCollection[(bucket, blocks of its rows)]. Buckets without rows are left out.

    Args:
      make: function from an element to a table of its rows with a column "id". All tables have the same
        schema.
      buckets: number of buckets.
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
    """Distributes the rows of tables to buckets. Yields (bucket, block of rows of this bucket)."""
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
    """Returns the rows of all blocks as one table."""
    buffers = map(pa.py_buffer, map(unpack_block, blocks))
    return pa.Table.from_batches(
        [pa.ipc.read_record_batch(buffer, schema) for buffer in buffers], schema
    )


def ids_of(rows: CorpusRows, column: str) -> list[str]:
    """Returns the ids in a column. Raises InputError for a row without a valid id."""
    ids: list[str] = rows.table.column(column).cast(pa.string()).to_pylist()
    if not all(ids) or not "".join(ids).isprintable():
        raise InputError(
            rows.file.path, f"a row has no {column}, or its {column} has unprintable characters"
        )
    return ids
