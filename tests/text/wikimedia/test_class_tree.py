import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.text.wikimedia.class_tree import (
    DISAMBIGUATION,
    INTERNAL_ROOTS,
    WIKIMEDIA_INTERNAL,
    below,
)


@pytest.mark.parametrize(
    ("roots", "edges", "classes"),
    [
        ([], [], []),
        (["Q1"], [], ["Q1"]),
        ([], [("Q2", "Q1")], []),
        (["Q1"], [("Q2", "Q1")], ["Q1", "Q2"]),
        (["Q2"], [("Q2", "Q1")], ["Q2"]),
        (["Q1"], [("Q3", "Q2"), ("Q2", "Q1")], ["Q1", "Q2", "Q3"]),
        (["Q1"], [("Q1", "Q1")], ["Q1"]),
        (["Q1"], [("Q2", "Q1"), ("Q1", "Q2")], ["Q1", "Q2"]),
        (["Q1"], [("Q2", "Q1"), ("Q3", "Q2"), ("Q2", "Q3")], ["Q1", "Q2", "Q3"]),
        (["Q1"], [("Q2", "Q3"), ("Q3", "Q2")], ["Q1"]),
        (["Q1", "Q5"], [("Q2", "Q1"), ("Q6", "Q5"), ("Q8", "Q7")], ["Q1", "Q2", "Q5", "Q6"]),
        (["Q1"], [("Q9", "Q1"), ("Q9", "Q2"), ("Q9", "Q1")], ["Q1", "Q9"]),
        (["Q4294967295"], [("Q4294967294", "Q4294967295")], ["Q4294967295", "Q4294967294"]),
    ],
)
def test_below(roots, edges, classes):
    assert below(roots, edges) == frozenset(classes)
    assert below(iter(roots), iter(edges)) == frozenset(classes)


@pytest.mark.parametrize("qid", ["", "Q", "P31", "q5", "5", "Q-1", "Q٥", "Q4294967296"])
def test_no_item_id(qid):
    with pytest.raises(ValueError, match="item"):
        below([qid], [])
    with pytest.raises(ValueError, match="item"):
        below(["Q1"], [("Q2", qid)])


def naive_below(roots, edges):
    reached = set(roots)
    while True:
        grown = reached | {lower for lower, upper in edges if upper in reached}
        if grown == reached:
            return frozenset(reached)
        reached = grown


QIDS = st.integers(1, 12).map(lambda number: f"Q{number}")
EDGES = st.lists(st.tuples(QIDS, QIDS), max_size=30)


@given(st.sets(QIDS, max_size=3), EDGES)
def test_below_is_the_fixed_point(roots, edges):
    assert below(roots, edges) == naive_below(roots, edges)


@given(
    st.sets(QIDS, max_size=3), EDGES.flatmap(lambda e: st.tuples(st.just(e), st.permutations(e)))
)
def test_order_of_edges_does_not_matter(roots, orders):
    edges, shuffled = orders
    assert below(roots, edges) == below(roots, shuffled)


def test_a_long_chain_takes_linear_time():
    start = time.process_time()
    edges = ((f"Q{number + 1}", f"Q{number}") for number in range(1, 100_000))
    assert len(below(["Q1"], edges)) == 100_000
    assert time.process_time() - start < 10


def test_roots():
    assert {WIKIMEDIA_INTERNAL, DISAMBIGUATION, "Q13406463", "Q4167836"} <= INTERNAL_ROOTS
