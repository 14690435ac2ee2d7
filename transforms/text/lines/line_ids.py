"""Lines by number: the range that a line is in, and its place there, in one 64-bit integer.

Ids ascend like the lines, in whichever way they are cut into ranges.
"""

from collections.abc import Iterator
from typing import Any

import numpy
import numpy.typing

Int64s = numpy.typing.NDArray[numpy.int64]

_PLACE_BITS = 32


def line_ids(index: int, places: numpy.typing.NDArray[numpy.unsignedinteger] | Int64s) -> Int64s:
    """Ids of the lines at these places of a range."""
    return (index << _PLACE_BITS) + places.astype(numpy.int64)


def places_of(ids: Int64s) -> list[int]:
    """The place of each line in its range."""
    places: list[int] = (ids & ((1 << _PLACE_BITS) - 1)).tolist()
    return places


def split_by_range(pairs: Int64s, column: int) -> Iterator[tuple[int, Int64s]]:
    """(range, the rows of which the line in this column is in the range), in their order."""
    return (
        (index, pairs[places]) for index, places in group_places(pairs[:, column] >> _PLACE_BITS)
    )


def group_places(keys: numpy.typing.NDArray[Any]) -> Iterator[tuple[int, Int64s]]:
    """(key, its places, ascending), by key."""
    order = numpy.argsort(keys, kind="stable")
    present, starts = numpy.unique(keys[order], return_index=True)
    parts = numpy.split(order, starts[1:])
    return zip(present.tolist(), parts, strict=False)  # of no keys `split` makes one part
