"""Distributes parts of the work over all workers. Each run distributes them in the same way.

Combines small results of a Beam bundle into larger elements, because each element has a fixed cost.
"""

import functools
import operator
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Concatenate, ParamSpec

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue

P = ParamSpec("P")


class _Composite(beam.PTransform):
    """A transform that consists of other transforms, which a function applies to its input."""

    def __init__(self, expand: Callable[..., Any], *args: Any, **named: Any):
        super().__init__()
        self._expand, self._args, self._named = expand, args, named

    def expand(self, elements: Any) -> Any:
        return self._expand(elements, *self._args, **self._named)

    def default_label(self) -> str:
        return self._expand.__name__


def transform(expand: Callable[Concatenate[Any, P], Any]) -> Callable[P, beam.PTransform]:
    """Makes a composite transform of a function.

    The first argument of the function is the input: a PCollection, several of them, or the pipeline. The
    function returns the output; its other arguments are those of the transform. In contrast to Beam's
    `ptransform_fn`, the types of the arguments are kept, and no argument is part of the default label.
    """

    @functools.wraps(expand)
    def make(*args: P.args, **named: P.kwargs) -> beam.PTransform:
        return _Composite(expand, *args, **named)

    return make


@transform
def Spread(
    elements: beam.PCollection, plan: Callable[..., Iterable[Any]], *args: Any, of: Any = Any
) -> beam.PCollection:
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
    return (
        elements
        | "Plan"
        >> beam.FlatMap(_number_parts, plan, args).with_output_types(beam.typehints.KV[int, of])
        | "Deal" >> beam.GroupByKey()
        | "Parts" >> beam.FlatMap(lambda dealt: dealt[1]).with_output_types(of)
    )


@transform
def SpreadAll(root: beam.Pipeline, parts: Iterable[Any], of: Any = Any) -> beam.PCollection:
    """Creates a PCollection of the items of a list, and distributes the items over the workers.

    Args:
      of: type of the items.
    """
    parts = list(parts)
    return root | "List" >> beam.Create([parts], reshuffle=False) | "Spread" >> Spread(iter, of=of)


@transform
def MapOnce(
    root: beam.Pipeline, make: Callable[..., Any], value: Any, *more: Any
) -> beam.PCollection:
    """Applies a function to a value and to side inputs, which may be empty. Returns one result.

    Args:
      make: function from the value and the other arguments, which may be side inputs, to the result.
    """
    once = root | "Once" >> beam.Create([value], reshuffle=False)
    return once | "Map" >> beam.Map(make, *more)


def _number_parts(
    element: Any, plan: Callable[..., Iterable[Any]], args: tuple[Any, ...]
) -> Iterator[tuple[int, Any]]:
    # Several parts may share a number. Different elements start at different numbers.
    first = zlib.crc32(repr(element).encode("utf-8", "surrogatepass"))
    return ((first + number, part) for number, part in enumerate(plan(element, *args)))


class Gather(beam.DoFn):
    """Collects results for the elements of a bundle, and emits several results together.

    Results are emitted when their total weight reaches a limit, and at the end of the bundle.

    Args:
      make: function from an element and side inputs to a result, or to None if there is nothing to collect;
        None if the elements are the results.
      hand_on: function from a non-empty list of results to the elements to emit.
      enough: total weight at which results are emitted.
      weigh: function from a result to its weight; by default the number of rows of a table.
    """

    def __init__(
        self,
        make: Callable[..., Any] | None,
        hand_on: Callable[[list[Any]], Iterable[Any]],
        enough: int,
        weigh: Callable[[Any], int] = operator.attrgetter("num_rows"),
    ):
        self._make, self._hand_on = make, hand_on
        self._enough, self._weigh = enough, weigh

    def start_bundle(self) -> None:
        self._gathered: list[Any] = []
        self._weight = 0

    def process(self, element: Any, *side_inputs: Any) -> Iterator[Any]:
        made = self._make(element, *side_inputs) if self._make else element
        if made is not None:
            self._gathered.append(made)
            self._weight += self._weigh(made)
        if self._weight >= self._enough:
            yield from self._give()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        return map(GlobalWindows.windowed_value_at_end_of_window, self._give())

    def _give(self) -> Iterable[Any]:
        gathered = self._gathered
        self.start_bundle()
        return self._hand_on(gathered) if gathered else ()
