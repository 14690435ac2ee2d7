import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.pipelines.translation.swapped_lines import (
    MAX_OFFSET,
    OFFSETS,
    Run,
    find_offsets,
    runs_of,
)


def scores_of(offsets: list[int], gain: float = 1.0) -> np.ndarray:
    scores = np.zeros((len(offsets), len(OFFSETS)))
    for line, offset in enumerate(offsets):
        scores[line, offset + MAX_OFFSET] = gain
    return scores


def test_a_run_to_the_end() -> None:
    scores = scores_of([0] * 5 + [-1] * 5)
    offsets = find_offsets(scores, change_cost=1.5)
    assert offsets.tolist() == [0] * 5 + [-1] * 5
    assert list(runs_of(offsets, scores)) == [Run(5, 9, -1, 5.0)]


def test_a_run_between_and_one_from_the_start() -> None:
    scores = scores_of([2] * 4 + [0] * 4 + [1] * 4 + [0] * 4)
    offsets = find_offsets(scores, change_cost=1.5)
    assert [run[:3] for run in runs_of(offsets, scores)] == [(0, 3, 2), (8, 11, 1)]


def test_one_line_does_not_pay_for_two_changes() -> None:
    offsets = find_offsets(scores_of([0] * 5 + [1] + [0] * 5), change_cost=1.0)
    assert not offsets.any()


@given(st.lists(st.sampled_from(OFFSETS), min_size=1, max_size=7), st.floats(0, 3))
def test_no_path_is_better(wanted: list[int], cost: float) -> None:
    scores = scores_of(wanted) + np.arange(len(OFFSETS)) / 100

    def value(offsets: list[int]) -> float:
        changes = sum(one != other for one, other in zip([0, *offsets], offsets, strict=False))
        states = np.array(offsets) + MAX_OFFSET
        return float(scores[np.arange(len(offsets)), states].sum()) - cost * changes

    found = value(find_offsets(scores, cost).tolist())
    assert found >= value(wanted) - 1e-9
    assert all(found >= value([offset] * len(wanted)) - 1e-9 for offset in OFFSETS)
