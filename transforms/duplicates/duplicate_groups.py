"""Chooses which member of a group of duplicates is kept."""

import numpy

from corpusmill.transforms.duplicates.components import Pairs


def choose_kept(links: Pairs, ranks: Pairs) -> Pairs:
    """Returns rows (id of the kept member, id of a dropped member), ascending by the dropped member.

    In each group of duplicates, the member with the greatest rank is kept. If several members have this rank,
    the one with the smallest id is kept. A group is a connected component of the graph that links duplicates.

    Args:
      links: rows (id of a member, smallest id in its group), from `link_to_smallest`.
      ranks: rows (id of a member, its rank) for all members in `links`, ascending by id.
    """
    numbers, rank = ranks[:, 0], ranks[:, 1]
    components = numbers.copy()
    components[numpy.searchsorted(numbers, links[:, 0])] = links[:, 1]
    order = numpy.lexsort((numbers, -rank, components))
    ordered = components[order]
    is_first = numpy.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(order)]
    kept = numbers[order][is_first][numpy.cumsum(is_first) - 1]
    pairs = numpy.column_stack((kept, numbers[order]))[~is_first]
    return pairs[numpy.argsort(pairs[:, 1])]
