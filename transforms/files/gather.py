"""Combines small results of a Beam bundle into larger elements, because each element has a fixed cost."""

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue


class Gather(beam.DoFn):
    """Collects results for the elements of a bundle, and emits several results together.

    Results are emitted when their total weight reaches a limit, and at the end of the bundle.

    Args:
      make: function from an element and side inputs to a result, or to None if there is nothing to collect.
      hand_on: function from a non-empty list of results to the elements to emit.
      enough: total weight at which results are emitted.
      weigh: function from a result to its weight; by default the number of rows of a table.
    """

    def __init__(
        self,
        make: Callable[..., Any],
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
        made = self._make(element, *side_inputs)
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
