"""Encodes ids of lines as 64-bit integers.

The sorted lines of a corpus are divided into numbered ranges. An id has the number of the line's range in its
high 32 bits, and the index of the line within this range in its low 32 bits. So ids are ascending in the
order of the lines, however the lines are divided into ranges.
"""

from collections.abc import Iterator
from typing import Any

import numpy
import numpy.typing

Int64s = numpy.typing.NDArray[numpy.int64]

_PLACE_BITS = 32


def line_ids(index: int, places: numpy.typing.NDArray[numpy.unsignedinteger] | Int64s) -> Int64s:
    """Returns the ids of the lines with the indexes `places` in a range of lines.

    Args:
      index: number of the range.
      places: indexes of the lines within the range.
    """
    return (index << _PLACE_BITS) + places.astype(numpy.int64)


def places_of(ids: Int64s) -> list[int]:
    """Extracts from each id the index of the line within its range of lines (the low 32 bits of the id)."""
    places: list[int] = (ids & ((1 << _PLACE_BITS) - 1)).tolist()
    return places


def split_by_range(pairs: Int64s, column: int) -> Iterator[tuple[int, Int64s]]:
    """Groups rows by the range of lines to which a line id belongs. Yields (number of the range, its rows).

    `column` is the index of the column with the line ids. Rows keep their order.
    """
    return (
        (index, pairs[places]) for index, places in group_places(pairs[:, column] >> _PLACE_BITS)
    )


def group_places(keys: numpy.typing.NDArray[Any]) -> Iterator[tuple[int, Int64s]]:
    """Yields (key, ascending indexes at which it occurs in `keys`), sorted by key."""
    order = numpy.argsort(keys, kind="stable")
    present, starts = numpy.unique(keys[order], return_index=True)
    parts = numpy.split(order, starts[1:])
    # `numpy.split` makes one part even if there are no keys
    return zip(present.tolist(), parts, strict=False)
