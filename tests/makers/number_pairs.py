"""Pairs of numbers as arrays."""

from collections.abc import Sequence

import numpy

from corpusmill.transforms.duplicates.minhash import Pairs


def pairs_of(rows: Sequence[Sequence[int]]) -> Pairs:
    """A row for each pair."""
    return numpy.array(rows, numpy.int64).reshape(-1, 2)
