"""Finds the connected components of a graph, whose edges may be given in any order and in parts."""

import numpy
import numpy.typing

Pairs = numpy.typing.NDArray[numpy.int64]
"""Rows of two ids."""

NO_PAIRS: Pairs = numpy.empty((0, 2), numpy.int64)


def link_to_smallest(edges: Pairs) -> Pairs:
    """Returns rows (id, smallest id of its component), ascending.

    The smallest id of a component has no row. The rows are the edges of a graph with the same components, and
    there are at most as many rows as in `edges`. So parts of a graph can be processed one by one, and then
    their results together.
    """
    ids, places = numpy.unique(edges, return_inverse=True)
    places = places.reshape(-1, 2)
    smallest = numpy.arange(len(ids))  # index of the smallest id known to be connected
    while True:
        ends = smallest[places]
        low, high = ends.min(axis=1), ends.max(axis=1)
        if (low == high).all():
            break
        numpy.minimum.at(smallest, high, low)
        smallest = _follow(smallest)
    (linked,) = numpy.nonzero(smallest != numpy.arange(len(ids)))
    return numpy.column_stack((ids[linked], ids[smallest[linked]]))


def _follow(smallest: Pairs) -> Pairs:
    """Follows links from index to index. Returns for each index the last one of its chain of links.

    `smallest` has for each index the index to which it links, which is smaller or equal. The last index of a
    chain links to itself.
    """
    while True:
        further = smallest[smallest]
        if (further == smallest).all():
            return smallest
        smallest = further
