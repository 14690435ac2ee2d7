from unittest import mock

import numpy
from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.transforms.wikipedia import entity_table
from corpusmill.transforms.wikipedia.entity_table import INTERNAL_ROOTS, KINDS, kinds_of
from tests.tools.growth import call_linear

DISAMBIGUATION, CATEGORY, LIST, TEMPLATE, INTERNAL = 4167410, 4167836, 13406463, 11266439, 17442446


def arrays(edges):
    """The two columns of (class, class above it)."""
    pairs = numpy.array(edges, dtype=numpy.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def below(roots, edges):
    """The classes below other roots, all of one kind."""
    with mock.patch.object(entity_table, "INTERNAL_ROOTS", dict.fromkeys(roots, KINDS[0])):
        return kinds_of(*arrays(edges)).keys()


def naive_below(roots, edges):
    reached = set(roots)
    while True:
        grown = reached | {lower for lower, upper in edges if upper in reached}
        if grown == reached:
            return frozenset(reached)
        reached = grown


IDS = st.integers(1, 12)
EDGES = st.lists(st.tuples(IDS, IDS), max_size=30)


@example({1 << 40}, [((1 << 40) - 1, 1 << 40)])
@given(st.sets(IDS, max_size=3), EDGES)
def test_below_is_the_fixed_point(roots, edges):
    assert below(roots, edges) == naive_below(roots, edges)


def test_a_long_chain_takes_linear_time():
    def chain(size):
        return [(number + 1, number) for number in range(1, size)]

    assert len(call_linear(lambda edges: below([1], edges), chain, 100_000)) == 100_000


def test_a_root_below_a_root_of_an_earlier_kind_is_of_that_kind():
    assert kinds_of(*arrays([(LIST, DISAMBIGUATION)])) == INTERNAL_ROOTS | {LIST: "disambiguation"}


ROOTED = st.one_of(IDS, st.sampled_from(sorted(INTERNAL_ROOTS)))


@given(
    st.lists(st.tuples(IDS, ROOTED), max_size=30).flatmap(
        lambda e: st.tuples(st.just(e), st.permutations(e))
    )
)
def test_the_kind_is_the_first_one_above_whatever_the_order_of_the_edges(orders):
    edges, shuffled = orders
    of_kind = [
        naive_below([root for root, kind in INTERNAL_ROOTS.items() if kind == wanted], edges)
        for wanted in KINDS
    ]
    expected = {
        number: next(
            kind for kind, reached in zip(KINDS, of_kind, strict=True) if number in reached
        )
        for number in frozenset().union(*of_kind)
    }
    assert kinds_of(*arrays(edges)) == kinds_of(*arrays(shuffled)) == expected
    assert list(kinds_of(*arrays(edges))) == sorted(expected)


def test_every_kind_has_a_root():
    assert set(INTERNAL_ROOTS.values()) == set(KINDS)
    assert [INTERNAL_ROOTS[n] for n in (DISAMBIGUATION, CATEGORY, LIST, TEMPLATE, INTERNAL)] == [
        *KINDS
    ]
