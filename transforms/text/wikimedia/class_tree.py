"""Which Wikidata classes are Wikimedia's own, directly or by "subclass of" (P279), and of what kind.

Items are numbers here: 64 is Q64.
"""

from collections.abc import Iterable, Iterator

import numpy
import numpy.typing

Ids = numpy.typing.NDArray[numpy.int64]

DISAMBIGUATION, CATEGORY, LIST, TEMPLATE, INTERNAL = KINDS = (
    "disambiguation",
    "category",
    "list",
    "template",
    "internal",
)
"""What an internal class is for. A class below roots of several kinds is of the first of them."""

INTERNAL_ROOTS = {
    17442446: INTERNAL,  # Wikimedia internal item: what exists for the wikis, not in the world
    4167410: DISAMBIGUATION,  # Wikimedia disambiguation page
    22808320: DISAMBIGUATION,  # Wikimedia human name disambiguation page
    4167836: CATEGORY,  # Wikimedia category
    20010800: CATEGORY,  # Wikimedia user language category
    13406463: LIST,  # Wikimedia list article
    11266439: TEMPLATE,  # Wikimedia template
    11753321: TEMPLATE,  # Wikimedia navigational template
    19887878: TEMPLATE,  # Wikimedia infobox template
    15184295: INTERNAL,  # Wikimedia module
    4663903: INTERNAL,  # Wikimedia portal
    14204246: INTERNAL,  # Wikimedia project page
    17362920: INTERNAL,  # Wikimedia duplicated page
    21286738: INTERNAL,  # Wikimedia permanent duplicate item
    17633526: INTERNAL,  # Wikinews article
}
"""Class → its kind, for the classes that hold nearly all internal items. As roots they find those also
in a part of a dump, where the classes themselves, and with them their P279 statements, are often
missing."""


def kinds_of(lower: Ids, upper: Ids) -> dict[int, str]:
    """Internal class → its kind, by ascending class; the roots are always among them.

    Edge i says that class `lower[i]` is a subclass of `upper[i]`. Edges may repeat, come in any order
    and form cycles, which Wikidata has. Takes 32 bytes an edge while it runs, beside those given: all of
    Wikidata about 160 MB.
    """
    tree = _Tree(lower, upper)
    kinds: dict[int, str] = {}
    for kind in KINDS:
        roots = (root for root, of_kind in INTERNAL_ROOTS.items() if of_kind == kind)
        for found in tree.below(roots):
            kinds.setdefault(found, kind)
    return dict(sorted(kinds.items()))


def below(roots: Iterable[int], lower: Ids, upper: Ids) -> frozenset[int]:
    """The classes that reach one of `roots` by edges as in `kinds_of`, the roots included."""
    return frozenset(_Tree(lower, upper).below(roots))


class _Tree:
    """The edges, sorted by the class above."""

    def __init__(self, lower: Ids, upper: Ids):
        order = numpy.argsort(upper, kind="stable")
        self._lower, self._upper = lower[order], upper[order]

    def below(self, roots: Iterable[int]) -> Iterator[int]:
        """Each class once, in no order that means anything."""
        waiting = list(roots)
        reached = set(waiting)
        while waiting:
            above = waiting.pop()
            yield above
            first, end = numpy.searchsorted(self._upper, [above, above + 1])
            for found in self._lower[first:end].tolist():
                if found not in reached:
                    reached.add(found)
                    waiting.append(found)
