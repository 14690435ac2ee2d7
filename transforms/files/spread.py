"""Distributes parts of the work over all workers. Each run distributes them in the same way."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import apache_beam as beam


class Spread(beam.PTransform):
    """Divides each element into parts, and distributes the parts over the workers.

    Parts are distributed by a hash of the element plus the number of the part, so the parts of one element
    are sent to different workers. In contrast, beam.Reshuffle distributes elements at random or in the order
    of arrival. If a worker is lost and a runner repeats its work, the elements may be distributed differently
    the second time, so elements after a Reshuffle could be lost or repeated. Spark fails the job instead.

    Args:
      plan: function from an element to its parts. It must always return the same parts in the same order.
      args: further arguments of `plan`.
      of: type of the parts.
    """

    def __init__(self, plan: Callable[..., Iterable[Any]], *args: Any, of: Any = Any):
        super().__init__()
        self.plan, self.args, self.of = plan, args, of

    def expand(self, elements: beam.PCollection) -> beam.PCollection:
        return (
            elements
            | "Plan"
            >> beam.FlatMap(_number_parts, self.plan, self.args).with_output_types(
                beam.typehints.KV[int, self.of]
            )
            | "Deal" >> beam.GroupByKey()
            | "Parts" >> beam.FlatMap(_parts_of).with_output_types(self.of)
        )


class SpreadAll(beam.PTransform):
    """Creates a PCollection of the items of a list, and distributes the items over the workers.

    Args:
      of: type of the items.
    """

    def __init__(self, parts: Iterable[Any], of: Any = Any):
        super().__init__()
        self.parts, self.of = list(parts), of

    def expand(self, root: beam.Pipeline) -> beam.PCollection:
        return (
            root
            | "List" >> beam.Create([self.parts], reshuffle=False)
            | "Spread" >> Spread(iter, of=self.of)
        )


def _number_parts(
    element: Any, plan: Callable[..., Iterable[Any]], args: tuple[Any, ...]
) -> Iterator[tuple[int, Any]]:
    # Several parts may share a number. Different elements start at different numbers.
    first = zlib.crc32(repr(element).encode("utf-8", "surrogatepass"))
    return ((first + number, part) for number, part in enumerate(plan(element, *args)))


def _parts_of(dealt: tuple[int, Iterable[Any]]) -> Iterable[Any]:
    return dealt[1]
