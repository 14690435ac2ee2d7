"""Gathering rows of numbers from many workers: arrays of rows → one array, in which they are summed."""

import functools

import numpy

from transforms.duplicates.combine_pairs import CombinePairs, GatheredPairs
from transforms.text.books.simple.overlap import sum_rows


class CombineRows(CombinePairs):
    """Arrays of rows → one array, in which rows with the same keys are one; see `sum_rows`.

    Args:
      columns: of a row.
      keys: so many columns from the first are the key.
    """

    def __init__(self, columns: int, keys: int):
        super().__init__(functools.partial(sum_rows, keys=keys))
        self._columns = columns

    def create_accumulator(self) -> GatheredPairs:
        gathered = super().create_accumulator()
        gathered.arrays = [numpy.empty((0, self._columns), numpy.int64)]
        return gathered
