"""Combines arrays, whose rows are pairs of numbers, from many workers into one array."""

from collections.abc import Callable, Iterable

import apache_beam as beam
import numpy

from corpusmill.transforms.duplicates.components import Pairs

REDUCE_ROWS = 1 << 18


class GatheredPairs:
    """The arrays of pairs collected so far, and the number of rows added since the function `reduce` was last
    applied.
    """

    def __init__(self, arrays: list[Pairs]) -> None:
        self.arrays = arrays
        self.new_rows = 0


class CombinePairs(beam.CombineFn):
    """Combines arrays of pairs, or of longer rows, into one array.

    Args:
      columns: number of columns of the arrays.
      reduce: function that is applied to the rows, and returns an array with fewer rows. It may be applied to
        parts of the rows first, and then to the results; this must not change the final result.
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
        # Reductions run when the rows have doubled, so each row takes part in only a few.
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
    """Returns the distinct pairs in ascending order."""
    return numpy.unique(pairs, axis=0)
