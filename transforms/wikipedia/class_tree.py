"""Finds the internal classes of Wikidata: the classes of Wikimedia's own pages, such as lists and templates.

A class is internal if it is one of a few roots, or a subclass (P279) of one. Items and classes are
represented by numbers: 64 is Q64.
"""

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
"""The kinds of internal classes. A subclass of roots of several kinds gets the first of these kinds."""

INTERNAL_ROOTS = {
    17442446: INTERNAL,  # Wikimedia internal item: exists only for the wikis
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
"""Class → its kind. Nearly all internal items are instances of these classes.

They are listed here so that internal items are also found in a part of a dump, where the classes
themselves and their P279 statements are often missing.
"""


def kinds_of(lower: Ids, upper: Ids) -> dict[int, str]:
    """Returns the internal classes of Wikidata, sorted by number: class → its kind, such as "list".

    Internal classes are the classes of Wikimedia's own pages. They are the classes in INTERNAL_ROOTS and all
    subclasses of these.

    `lower` and `upper` contain the subclass statements: class `lower[i]` is a subclass of `upper[i]`. As in
    Wikidata, statements may be in any order, be repeated, and form cycles. The function needs 32 bytes of
    memory for each statement in addition to the two arrays: about 160 MB for all of Wikidata.
    """
    order = numpy.argsort(upper, kind="stable")
    lower, upper = lower[order], upper[order]
    kinds: dict[int, str] = {}
    for kind in KINDS:
        waiting = [root for root, of_kind in INTERNAL_ROOTS.items() if of_kind == kind]
        while waiting:
            above = waiting.pop()
            if above in kinds:  # and so are all its subclasses
                continue
            kinds[above] = kind
            first, end = numpy.searchsorted(upper, [above, above + 1])
            waiting += lower[first:end].tolist()
    return dict(sorted(kinds.items()))
