import random

from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.wikipedia import screening

IDS = st.one_of(
    st.integers(1, 300),
    st.integers(screening.BLOCK_IDS - 3, screening.BLOCK_IDS + 3),
    st.integers(10**18 - 300, 10**18 - 1),
)


def merged(parts: list[list[int]]) -> dict[int, bytes]:
    by_number: dict[int, list[bytes]] = {}
    for part in parts:
        for number, packed in screening.pack_ids(part):
            by_number.setdefault(number, []).append(packed)
    return {number: screening.merge_blocks(packed) for number, packed in by_number.items()}


@given(st.lists(st.lists(IDS, max_size=30), max_size=4), st.randoms())
def test_a_set_of_parts_has_the_ids_of_all_parts(
    parts: list[list[int]], chance: random.Random
) -> None:
    blocks = merged(parts)
    ids = {one for part in parts for one in part}
    near = {one + step for one in ids for step in (-1, 0, 1, screening.BLOCK_IDS)} | {0, 5}
    assert {one for one in near if screening.has_id(blocks, one)} == ids
    extent = screening.add_extents(map(screening.measure_block, blocks.items()))
    assert extent == screening.Extent(len(ids), max(ids, default=0))
    chance.shuffle(parts)
    assert merged(parts) == blocks


def test_ids_far_from_each_other_take_little_memory() -> None:
    far = [1 + number * screening.BLOCK_IDS * 7 for number in range(1000)]
    blocks = list(screening.pack_ids(far))
    assert len(blocks) == 1000
    assert sum(len(packed) for _, packed in blocks) < 50_000


def test_extents_may_be_added_in_steps() -> None:
    extents = [screening.Extent(3, 90), screening.Extent(1, 7), screening.Extent(2, 400)]
    assert screening.add_extents(
        [screening.add_extents(extents[:2]), extents[2]]
    ) == screening.add_extents(extents)
    assert screening.add_extents([]) == screening.Extent(0, 0)
