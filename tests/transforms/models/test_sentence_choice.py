import hashlib
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.models.sentence_sampling import (
    RANGES,
    Choice,
    Ranks,
    Share,
    choose,
    count_ranges,
    find_last_range,
    is_held_out,
    is_last,
    is_once_more,
    rank_sentences,
    ranks_in_range,
)

RANGE = (1 << 64) // RANGES


def ranks_of(*ranks: int) -> Ranks:
    return np.array(ranks, np.uint64)


def choice_of(ranks: Ranks, wanted: int, hold_out: int = 0) -> Choice:
    share = Share(len(ranks), 1.0, wanted)
    last = find_last_range(count_ranges(ranks), share, hold_out)
    return choose(last, ranks_in_range(ranks, last))


def taken(ranks: Ranks, choice: Choice) -> Counter[int]:
    """Rank → how often its sentences are taken, all its copies together."""
    found = Counter[int]()
    for rank, once_more in zip(ranks.tolist(), is_once_more(ranks, choice).tolist(), strict=True):
        found[rank] += choice.share.times + once_more
    if choice.copies:
        assert is_last(ranks, choice).any()
        found[choice.last] += choice.copies
    return +found


def test_the_rank_is_a_fingerprint_of_seed_and_text() -> None:
    digest = hashlib.sha256("7\tДніпро тече.".encode()).digest()
    assert rank_sentences(["Дніпро тече.", "x"], 7)[0] == int.from_bytes(digest[:8], "big")
    assert rank_sentences(["x"], 7) != rank_sentences(["x"], 8)
    assert rank_sentences([], 7).dtype == np.uint64


def test_ranges_are_of_one_size() -> None:
    counts = count_ranges(ranks_of(0, RANGE - 1, RANGE, (1 << 64) - 1))
    assert (counts[0], counts[1], counts[RANGES - 1]) == (2, 1, 1)
    assert (len(counts), counts.sum()) == (RANGES, 4)


def test_the_last_ranks_are_held_out_but_none_that_is_taken() -> None:
    ranks = ranks_of(0, 2 * RANGE, 4 * RANGE, 6 * RANGE, 8 * RANGE)
    cases = [  # wanted, to hold out, held out
        (1, 2, [6 * RANGE, 8 * RANGE]),
        (1, 9, [2 * RANGE, 4 * RANGE, 6 * RANGE, 8 * RANGE]),
        (4, 2, [8 * RANGE]),
        (5, 2, []),  # each is taken
        (7, 2, []),
        (1, 0, []),
        (0, 1, [8 * RANGE]),
    ]
    for wanted, hold_out, expected in cases:
        choice = choice_of(ranks, wanted, hold_out)
        assert ranks[is_held_out(ranks, choice)].tolist() == expected, (wanted, hold_out)


def test_a_range_is_held_out_whole() -> None:
    ranks = ranks_of(0, (1 << 64) - 1, (1 << 64) - 2, (1 << 64) - 3)
    assert is_held_out(ranks, choice_of(ranks, 1, 1)).tolist() == [False, True, True, True]
    assert not is_held_out(ranks, choice_of(ranks, 2, 1)).any()  # one of the range is taken


@given(
    st.lists(st.integers(0, 60).map(lambda n: n * (RANGE // 20)), min_size=1, max_size=40),
    st.integers(0, 200),
    st.integers(0, 50),
)
def test_as_many_are_taken_as_are_wanted_in_any_order(
    values: list[int], wanted: int, hold_out: int
) -> None:
    ranks = ranks_of(*values)
    choice = choice_of(ranks, wanted, hold_out)
    found = taken(ranks, choice)
    times, rest = divmod(wanted, len(values))
    expected = Counter(sorted(values)[:rest])
    for value in values:
        expected[value] += times
    assert found == +expected
    assert choice_of(np.sort(ranks)[::-1], wanted, hold_out) == choice
    held_out = ranks[is_held_out(ranks, choice)]
    assert not set(held_out.tolist()) & found.keys()
