"""Finds the Wikidata classes of Wikimedia-internal items (lists, categories, templates).

All their direct and indirect subclasses (P279) are included.
"""

from collections.abc import Iterable, Iterator

import apache_beam as beam
import numpy
import numpy.typing

from corpusmill.transforms.wikipedia.class_tree import kinds_of
from corpusmill.transforms.wikipedia.wikidata_json import Entity

Edges = numpy.typing.NDArray[numpy.int64]
"""Rows (class, superclass), one for each subclass-of statement."""


class CloseOverSubclasses(beam.PTransform):
    """Finds all Wikimedia-internal classes.

    PCollection[list[Entity]] → PCollection of one dict {id of an internal class: its kind, such as "list"},
    with some ten thousand classes. One worker holds the class graph in 80 MB: two numbers for each of
    Wikidata's 5 million subclass-of statements.
    """

    def expand(self, batches: beam.PCollection) -> beam.PCollection:
        return (
            batches
            | "SubclassEdges" >> beam.FlatMap(subclass_edges)
            | "StackEdges" >> beam.CombineGlobally(stack_edges)
            | "CloseClasses" >> beam.Map(close_classes)
        )


def subclass_edges(batch: Iterable[Entity]) -> Iterator[Edges]:
    """Yields an array with a row (class, superclass) for each subclass-of statement in a batch of items.

    Yields nothing if the batch has no such statement.
    """
    edges = [(entity.numeric_id, above) for entity in batch for above in entity.subclass_of]
    if edges:
        yield numpy.array(edges, dtype=numpy.int64)


def stack_edges(arrays: Iterable[Edges]) -> Edges:
    """Joins arrays of subclass-of statements into one array, which may be empty."""
    return numpy.concatenate([numpy.empty((0, 2), dtype=numpy.int64), *arrays])


def close_classes(edges: Edges) -> dict[int, str]:
    """Returns {id of a Wikimedia-internal class: its kind, such as "list"}.

    `edges` has a row (class, superclass) for each subclass-of statement of Wikidata.
    """
    return kinds_of(edges[:, 0], edges[:, 1])
