"""Which Wikidata classes lie below others by "subclass of" (P279)."""

from collections.abc import Iterable, Iterator

import numpy

WIKIMEDIA_INTERNAL = "Q17442446"
"""Wikimedia internal item: what exists for the sake of the wikis, not in the world. Everything
below it is screened."""

DISAMBIGUATION = "Q4167410"
"""Wikimedia disambiguation page."""

INTERNAL_ROOTS = frozenset(
    {
        "Q17442446",  # Wikimedia internal item
        "Q4167410",  # Wikimedia disambiguation page
        "Q22808320",  # Wikimedia human name disambiguation page
        "Q4167836",  # Wikimedia category
        "Q13406463",  # Wikimedia list article
        "Q11266439",  # Wikimedia template
        "Q11753321",  # Wikimedia navigational template
        "Q19887878",  # Wikimedia infobox template
        "Q15184295",  # Wikimedia module
        "Q4663903",  # Wikimedia portal
        "Q14204246",  # Wikimedia project page
        "Q17362920",  # Wikimedia duplicated page
        "Q21286738",  # Wikimedia permanent duplicate item
        "Q20010800",  # Wikimedia user language category
        "Q17633526",  # Wikinews article
    }
)
"""Classes that hold nearly all internal items. As roots they find those also in a part of a dump,
where the classes themselves, and with them their P279 statements, are often missing."""

_NUMBER_BITS = 32
_NUMBER_MASK = (1 << _NUMBER_BITS) - 1


def below(roots: Iterable[str], subclass_edges: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The classes that reach one of `roots` by (class, superclass) edges, the roots included.

    Cycles, which Wikidata has, do no harm. An edge takes 16 bytes: all of Wikidata about 80
    MB. Raises ValueError for an id that is not "Q" and a number below 2**32.
    """
    edges = numpy.fromiter(_packed(subclass_edges), dtype=numpy.uint64)
    edges.sort()
    superclasses = edges >> numpy.uint64(_NUMBER_BITS)
    reached = {_number(root) for root in roots}
    waiting = list(reached)
    while waiting:
        superclass = numpy.uint64(waiting.pop())
        first, end = numpy.searchsorted(superclasses, [superclass, superclass + numpy.uint64(1)])
        for edge in edges[first:end].tolist():
            subclass = edge & _NUMBER_MASK
            if subclass not in reached:
                reached.add(subclass)
                waiting.append(subclass)
    return frozenset(f"Q{number}" for number in reached)


def _packed(subclass_edges: Iterable[tuple[str, str]]) -> Iterator[int]:
    """Edges as a number each, the superclass in front, so that sorting groups them by it."""
    for subclass, superclass in subclass_edges:
        yield _number(superclass) << _NUMBER_BITS | _number(subclass)


def _number(qid: str) -> int:
    digits = qid[1:]
    if qid[:1] != "Q" or not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"not an item id: {qid!r}")
    number = int(digits)
    if number > _NUMBER_MASK:
        raise ValueError(f"item number too large: {qid!r}")
    return number
