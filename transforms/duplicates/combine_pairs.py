"""Gathering pairs of numbers from many workers: arrays of pairs → one array."""

from collections.abc import Callable, Iterable

import apache_beam as beam
import numpy

from transforms.text.duplicates.components import Pairs

REDUCE_ROWS = 1 << 18


class GatheredPairs:
    """Arrays, and how many rows they have since the last time that they were reduced."""

    def __init__(self, arrays: list[Pairs]) -> None:
        self.arrays = arrays
        self.new_rows = 0


class CombinePairs(beam.CombineFn):
    """Arrays of pairs, or of longer rows → `reduce` of all their rows.

    Args:
      columns: of a row.
      reduce: array → array with fewer rows. It may be applied to any part of the rows, and to what came
        out together with more of them: the outcome must be the same.
    """

    def __init__(self, reduce: Callable[[Pairs], Pairs], columns: int = 2):
        super().__init__()
        self._reduce = reduce
        self._columns = columns

    def create_accumulator(self) -> GatheredPairs:
        return GatheredPairs([numpy.empty((0, self._columns), numpy.int64)])

    def add_input(self, gathered: GatheredPairs, pairs: Pairs) -> GatheredPairs:
        gathered.arrays.append(pairs)
        gathered.new_rows += len(pairs)
        # Twice the rows for half the reductions: no row takes part in more than a few.
        if gathered.new_rows > max(REDUCE_ROWS, len(gathered.arrays[0])):
            return self.compact(gathered)
        return gathered

    def merge_accumulators(self, accumulators: Iterable[GatheredPairs]) -> GatheredPairs:
        merged = self.create_accumulator()
        for gathered in accumulators:
            for pairs in gathered.arrays:
                merged = self.add_input(merged, pairs)
        return self.compact(merged)

    def compact(self, gathered: GatheredPairs) -> GatheredPairs:
        return GatheredPairs([self._reduce(numpy.concatenate(gathered.arrays))])

    def extract_output(self, gathered: GatheredPairs) -> Pairs:
        return self.compact(gathered).arrays[0]


def different_pairs(pairs: Pairs) -> Pairs:
    """Each pair once, ascending."""
    return numpy.unique(pairs, axis=0)
