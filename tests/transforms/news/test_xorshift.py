import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.news import shuffle

FIRST = [252931888752, 646528844437, 476712849328]


def signed(word: int) -> int:
    word %= 1 << 64
    return word - (1 << 64) if word >> 63 else word


def sequence() -> Iterator[int]:
    """The Perl script's generator, a step at a time."""
    x, y, z, w = 123456789, 362436069, 521288629, 0
    while True:
        t = signed(x ^ signed(x << 11))
        x, y, z = y, z, w
        w = (w ^ (w >> 19)) ^ (t ^ (t >> 8))
        yield w


def test_the_first_values_are_those_of_the_script() -> None:
    assert shuffle.values(0, 3).tolist() == FIRST


def test_values_are_those_of_the_sequence() -> None:
    expected = list(itertools.islice(sequence(), 100_000))
    found = shuffle.values(0, 100_000)
    assert found.dtype == np.int64
    assert found.tolist() == expected
    assert shuffle.values(70_001, 12_345).tolist() == expected[70_001:82_346]
    assert min(expected) >= 0


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 15, 16, 17, 255, 256, 257, 2000])
def test_every_count_gives_that_many(count: int) -> None:
    expected = list(itertools.islice(sequence(), 3 + count))[3:]
    assert shuffle.values(3, count).tolist() == expected


@settings(max_examples=50)
@given(st.integers(0, 1 << 62), st.integers(1, 3000), st.data())
def test_a_value_depends_on_its_rank_alone(start: int, count: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, count - 1))
    found = shuffle.values(start, count)
    assert len(found) == count
    assert (found >= 0).all()
    assert shuffle.values(start + place, 1)[0] == found[place]


@settings(max_examples=20)
@given(st.integers(0, 1 << 40), st.integers(0, 1 << 40))
def test_two_jumps_are_one(first: int, second: int) -> None:
    matrices = [shuffle._power(exponent) for exponent in range(second.bit_length())]
    state = shuffle._jump(first)
    for exponent, matrix in enumerate(matrices):
        if second >> exponent & 1:
            state = shuffle._multiply(state, matrix)
    assert (state == shuffle._jump(first + second)).all()


def test_far_values_do_not_change() -> None:
    # The value of rank 10**9 was made by stepping there, in C.
    assert shuffle.values(10**9, 1).tolist() == [125711651994435120]


def test_no_values() -> None:
    assert shuffle.values(5, 0).tolist() == []


@pytest.mark.parametrize(("start", "count"), [(-1, 1), (0, -1)])
def test_ranks_and_counts_are_not_negative(start: int, count: int) -> None:
    with pytest.raises(ValueError, match=f"start is {start}, count is {count}"):
        shuffle.values(start, count)
