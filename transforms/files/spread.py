"""Deals work out to all workers."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import apache_beam as beam


class Spread(beam.PTransform):
    """Applies a plan to each element, and distributes the parts over the workers.

    Each part goes by its number in the plan, which also keeps the parts of one element well apart.
    beam.Reshuffle deals by chance, or in the order of arrival. An engine that has lost a worker and does some
    of the work anew could then lose elements, or have them twice; Spark sees it coming and gives the job up.

    Args:
      plan: element → its parts, always the same in the same order.
      args: more arguments of the plan.
      of: type of a part.
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
    """Pipeline → PCollection of what is in a list, each for whichever worker is free.

    Args:
      of: type of what is in it.
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
    # Elements whose parts meet at a number do no harm, but they should not all begin at the same one.
    first = zlib.crc32(repr(element).encode("utf-8", "surrogatepass"))
    return ((first + number, part) for number, part in enumerate(plan(element, *args)))


def _parts_of(dealt: tuple[int, Iterable[Any]]) -> Iterable[Any]:
    return dealt[1]
