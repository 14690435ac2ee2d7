import numpy
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.duplicates.minhash import NO_PAIRS, choose_kept, link_to_smallest
from tests.makers.number_pairs import pairs_of

NUMBERS = st.integers(-9, 9)


def test_the_greatest_rank_stays_then_the_smallest_number() -> None:
    links = numpy.array([[2, 1], [5, 1], [8, 7], [9, 7]])
    ranks = numpy.array([[1, 0], [2, 3], [5, -4], [7, 6], [8, 6], [9, 5]])
    assert choose_kept(links, ranks).tolist() == [[2, 1], [2, 5], [7, 8], [7, 9]]


def test_without_links_nothing_goes() -> None:
    assert choose_kept(NO_PAIRS, NO_PAIRS).shape == (0, 2)


@given(
    st.lists(st.tuples(NUMBERS, NUMBERS)),
    st.lists(st.integers(-3, 3), min_size=19, max_size=19),
)
def test_of_each_component_one_stays(edges: list[tuple[int, int]], rank_of: list[int]) -> None:
    members = sorted({number for edge in edges for number in edge})
    ranks = pairs_of([(n, rank_of[n + 9]) for n in members])
    expected = []
    left = set(members)
    while left:
        group = {min(left)}
        while grown := {n for edge in edges if group & set(edge) for n in edge} - group:
            group |= grown
        best = max(group, key=lambda n: (rank_of[n + 9], -n))
        expected += [[best, n] for n in group - {best}]
        left -= group
    found = choose_kept(link_to_smallest(pairs_of(edges)), ranks).tolist()
    assert found == sorted(expected, key=lambda row: row[1])
