"""Converts blocks of lines to Arrow arrays, to sort and select lines without a Python object per line."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Places = npt.NDArray[np.int64]

_LINE_FEED = ord("\n")


def line_bounds(block: bytes) -> Places:
    """Returns the positions at which the lines of a block begin, and the end of the block."""
    feeds = np.flatnonzero(np.frombuffer(block, np.uint8) == _LINE_FEED)
    bounds = np.zeros(len(feeds) + 1, np.int64)
    bounds[1:] = feeds + 1
    return bounds


def to_array(block: bytes, bounds: Places) -> pa.LargeBinaryArray:
    """Converts the lines of a block to an array whose values sort like the lines.

    Normally, the values are the lines without their line feeds. If no byte in the block has a lower value
    than a line feed, the values include the line feeds. They sort in the same way, and no copy is needed.
    """
    if block and np.frombuffer(block, np.uint8).min() >= _LINE_FEED:
        return _array_of(block, bounds)
    return _array_of(block.replace(b"\n", b""), bounds - np.arange(len(bounds)))


def take_lines(block: bytes, places: Places, bounds: Places | None = None) -> bytes:
    """Returns the lines at the indexes `places`, in the order of the indexes.

    Args:
      block: a block of lines.
      places: indexes of lines.
      bounds: the result of `line_bounds` for the block, if already known.
    """
    bounds = line_bounds(block) if bounds is None else bounds
    taken = _array_of(block, bounds).take(pa.array(places))
    return _data_of(taken)


def sort_places(lines: pa.LargeBinaryArray) -> Places:
    """Returns the indexes of lines, sorted by the bytes of the lines.

    Of equal lines, only the first is returned.
    """
    order = pc.sort_indices(lines)
    in_order = lines.take(order)
    is_first = np.ones(len(order), bool)
    is_first[1:] = pc.not_equal(in_order[1:], in_order[:-1]).to_numpy(zero_copy_only=False)
    places: Places = order.to_numpy().astype(np.int64)[is_first]
    return places


def _array_of(data: bytes, offsets: Places) -> pa.LargeBinaryArray:
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)


def _data_of(lines: pa.LargeBinaryArray) -> bytes:
    _, offsets, data = lines.buffers()
    if not len(lines) or data is None:
        return b""
    bounds = np.frombuffer(offsets, np.int64)[lines.offset : lines.offset + len(lines) + 1]
    taken: bytes = data.slice(bounds[0], bounds[-1] - bounds[0]).to_pybytes()
    return taken
