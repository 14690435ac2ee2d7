import numpy
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.line_blocks import line_ids, places_of, split_by_range

LINES = st.tuples(st.integers(0, 1023), st.integers(0, (1 << 32) - 1))


def id_of(index: int, place: int) -> int:
    (identity,) = line_ids(index, numpy.array([place], numpy.uint32)).tolist()
    return int(identity)


def test_ids_hold_range_and_place() -> None:
    ids = line_ids(3, numpy.array([0, 7, (1 << 32) - 1], numpy.uint32))
    assert ids.tolist() == [3 << 32, (3 << 32) + 7, (4 << 32) - 1]
    assert places_of(ids) == [0, 7, (1 << 32) - 1]


@given(LINES, LINES)
def test_ids_ascend_like_the_lines(first: tuple[int, int], second: tuple[int, int]) -> None:
    assert (id_of(*first) < id_of(*second)) == (first < second)


def test_pairs_are_split_by_range() -> None:
    pairs = numpy.array(
        [[id_of(2, 5), 9], [id_of(0, 1), 8], [id_of(2, 1), 7], [id_of(5, 0), id_of(2, 2)]]
    )
    by_first = [(index, rows.tolist()) for index, rows in split_by_range(pairs, 0)]
    assert by_first == [
        (0, [[id_of(0, 1), 8]]),
        (2, [[id_of(2, 5), 9], [id_of(2, 1), 7]]),
        (5, [[id_of(5, 0), id_of(2, 2)]]),
    ]
    assert [(index, len(rows)) for index, rows in split_by_range(pairs, 1)] == [(0, 3), (2, 1)]
    assert list(split_by_range(pairs[:0], 0)) == []
