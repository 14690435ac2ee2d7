"""Rows of builds, dealt out by a hash of their ids into buckets: all rows of an id meet in one of them.

Rows travel in blocks, those of some hundred thousand rows of a worker that fall into one bucket.
"""

import functools
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa

from transforms.builds.finished_builds import CorpusRows
from transforms.files.gather import Gather
from transforms.files.open_input import InputError

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
    rows = pa.concat_tables(tables)
    hashes = [zlib.crc32(identity.encode("utf-8")) for identity in rows["id"].to_pylist()]
    of_rows = np.array(hashes, np.int64) % buckets
    in_order = rows.take(np.argsort(of_rows, kind="stable")).combine_chunks()
    numbers, starts = np.unique(np.sort(of_rows), return_index=True)
    ends = np.append(starts, rows.num_rows)[1:]
    for bucket, start, end in zip(numbers, starts, ends, strict=True):
        yield int(bucket), pack_rows(in_order.slice(start, end - start))


def pack_rows(rows: pa.Table) -> bytes:
    """Rows as they travel."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, rows.schema, options=options) as writer:
        writer.write_table(rows)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def unpack_rows(blocks: Iterable[bytes]) -> pa.Table:
    """The rows of all blocks, each as `pack_rows` gives it."""
    return pa.concat_tables(pa.ipc.open_stream(block).read_all() for block in blocks)


def ids_of(rows: CorpusRows, column: str) -> list[str]:
    """The ids in a column. Raises InputError for a row without one."""
    ids: list[str] = rows.table.column(column).cast(pa.string()).to_pylist()
    if not all(ids) or not "".join(ids).isprintable():
        raise InputError(rows.path, f"a row has no {column}, or one that cannot be printed")
    return ids
