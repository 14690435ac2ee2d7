import numpy
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.duplicates.minhash import link_to_smallest
from tests.makers.number_pairs import pairs_of

EDGES = st.lists(st.tuples(st.integers(-5, 30), st.integers(0, 1 << 60) | st.integers(0, 30)))


def link(edges: list[tuple[int, int]]) -> list[list[int]]:
    linked: list[list[int]] = link_to_smallest(pairs_of(edges)).tolist()
    return linked


def components_of(edges: list[tuple[int, int]]) -> list[set[int]]:
    """By hand: merges the sets that an edge connects."""
    components: list[set[int]] = []
    for edge in edges:
        touched = [component for component in components if component & set(edge)]
        components = [component for component in components if component not in touched]
        components.append(set(edge).union(*touched))
    return components


@given(EDGES)
def test_every_id_is_linked_to_the_smallest_of_its_component(edges: list[tuple[int, int]]) -> None:
    assert link(edges) == sorted(
        [one, min(component)]
        for component in components_of(edges)
        for one in component
        if one != min(component)
    )


@given(EDGES, EDGES)
def test_parts_can_be_linked_first(
    some: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    parts = numpy.concatenate([link_to_smallest(pairs_of(part)) for part in (others, some)])
    assert link_to_smallest(parts).tolist() == link(some + others)


def test_a_long_chain_in_bad_order() -> None:
    ids = numpy.random.RandomState(5).permutation(20_000)
    chain = numpy.column_stack((ids[:-1], ids[1:]))
    linked = link_to_smallest(chain)
    assert linked[:, 0].tolist() == list(range(1, 20_000))
    assert not linked[:, 1].any()
