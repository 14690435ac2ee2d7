from fractions import Fraction

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.simplicity import (
    FORMULAS,
    PRINTED,
    SQUARED,
    Queue,
    Taken,
    exact_ratio,
    line_up,
    ratio,
    take_books,
)
from corpusmill.transforms.files.records import Reason

MEASURES = {1: (1200, 1000), 2: (1201, 1000), 3: (4800, 2000), 4: (0, 0), 5: (9, 3)}
SIZES = [(1, 1500), (2, 1500), (3, 6000), (4, 0), (5, 12)]


@pytest.mark.parametrize(
    ("formula", "target", "queue"),
    [
        (SQUARED, 99_999, Queue({5: 0, 2: 1, 1: 2, 3: 3, 4: 4}, 9012, False)),
        (SQUARED, 9012, Queue({5: 0, 2: 1, 1: 2, 3: 3, 4: 4}, 9012, False)),
        (SQUARED, 9011, Queue({5: 0, 2: 1, 1: 2}, 3012, True)),
        (SQUARED, 11, Queue({}, 0, True)),
        (PRINTED, 7500, Queue({3: 0, 2: 1}, 7500, True)),
        (PRINTED, 5999, Queue({}, 0, True)),
    ],
)
def test_the_best_ratios_come_first(formula: str, target: int, queue: Queue) -> None:
    assert line_up(formula, target, SIZES, MEASURES) == queue
    assert line_up(formula, target, SIZES[::-1], MEASURES) == queue


@given(st.integers(1, 10**6), st.integers(1, 10**4), st.integers(1, 10**6), st.integers(1, 10**4))
def test_the_exact_ratio_orders_like_the_ratio(l_1: int, v_1: int, l_2: int, v_2: int) -> None:
    for formula in FORMULAS:
        first, second = ratio(l_1, v_1, formula), ratio(l_2, v_2, formula)
        if abs(first - second) > 1e-9 * second:
            exact = exact_ratio(l_1, v_1, formula) < exact_ratio(l_2, v_2, formula)
            assert exact == (first < second)


def test_the_exact_ratio_is_not_rounded() -> None:
    assert exact_ratio(3, 1000, SQUARED) == Fraction(3, 1_000_000)
    assert exact_ratio(10**17 + 1, 1, SQUARED) > exact_ratio(10**17, 1, SQUARED)
    assert exact_ratio(0, 0, PRINTED) == 0


QUEUE = Queue({7: 0, 5: 1, 9: 2}, 300, True)
TOO_LONG = Reason(
    "beyond-target-tokens", "3 simpler books have 300 tokens, the next one is too long"
)


def too_many(books: int, words: int, more: int) -> Reason:
    told = f"{books} simpler books have {words} words, the next one adds {more}"
    return Reason("beyond-vocabulary", told)


@pytest.mark.parametrize(
    ("entries", "most", "queue", "taken"),
    [
        ([[0, 10], [2, 5]], 15, QUEUE, Taken(frozenset({7, 5, 9}), TOO_LONG)),
        ([[0, 10], [2, 5]], 15, QUEUE._replace(more=False), Taken(frozenset({7, 5, 9}), None)),
        ([[0, 10], [2, 5]], 14, QUEUE, Taken(frozenset({7, 5}), too_many(2, 10, 5))),
        ([[0, 10]], 9, QUEUE._replace(more=False), Taken(frozenset(), too_many(0, 0, 10))),
    ],
)
def test_the_queue_ends_where_the_vocabulary_would_be_too_large(
    entries: list[list[int]], most: int, queue: Queue, taken: Taken
) -> None:
    assert take_books(queue, numpy.array(entries), most) == taken
