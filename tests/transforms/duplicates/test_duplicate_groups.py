from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.duplicates.minhash import choose_kept, link_to_smallest
from tests.makers.number_pairs import pairs_of

NUMBERS = st.integers(-9, 9)


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
