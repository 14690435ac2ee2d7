"""Finds translations in a file that are shifted up or down because an earlier line was lost or added."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from corpusmill.pipelines.translation.line_features import Matrix

MAX_OFFSET = 3
OFFSETS = tuple(range(-MAX_OFFSET, MAX_OFFSET + 1))


class Run(NamedTuple):
    """A run of source lines whose translations are `offset` lines too low in the file.

    If `offset` is negative, they are too high. `first` and `last` are the first and the last line of the run,
    counted from 0.
    """

    first: int
    last: int
    offset: int
    # Sum of the scores at this offset minus the sum of the scores at offset 0.
    gain: float

    @property
    def lines(self) -> range:
        return range(self.first, self.last + 1)


def find_offsets(scores: Matrix, change_cost: float) -> npt.NDArray[np.intp]:
    """Estimates by how many lines the translation of each line is shifted.

    Returns the offset of each line. The Viterbi algorithm finds the offsets for which the sum of the scores,
    minus the cost of all changes of the offset, is greatest.

    Args:
        scores: scores[line, offset + MAX_OFFSET] says how well source line `line` fits the translation in
            line `line + offset`.
        change_cost: the cost if the offset changes from one line to the next, or if the first offset is not
            0.
    """
    lines, states = scores.shape
    best = scores[0] - change_cost * (np.array(OFFSETS) != 0)
    steps = np.zeros((lines, states), np.intp)
    for line in range(1, lines):
        from_best = int(best.argmax())
        changes = best < best[from_best] - change_cost
        steps[line] = np.where(changes, from_best, np.arange(states))
        best = np.where(changes, best[from_best] - change_cost, best) + scores[line]
    path = np.zeros(lines, np.intp)
    state = int(best.argmax())
    for line in range(lines - 1, -1, -1):
        path[line] = state
        state = int(steps[line, state])
    return path - MAX_OFFSET


def runs_of(offsets: npt.NDArray[np.intp], scores: Matrix) -> Iterator[Run]:
    """Yields each run of lines with the same offset, except runs with offset 0.

    Args:
        offsets: for each source line, by how many lines its translation is shifted.
        scores: scores[line, offset + MAX_OFFSET] says how well source line `line` fits the translation in
            line `line + offset`.
    """
    edges = np.flatnonzero(np.diff(offsets)) + 1
    for first, end in zip([0, *edges], [*edges, len(offsets)], strict=True):
        offset = int(offsets[first])
        if offset:
            gains = scores[first:end, offset + MAX_OFFSET] - scores[first:end, MAX_OFFSET]
            yield Run(int(first), int(end) - 1, offset, float(gains.sum()))
