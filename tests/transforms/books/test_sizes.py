import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.simplebooks_rows import Placement, plan_sizes
from corpusmill.transforms.files.text import fingerprint

ORDER = sorted(range(1, 41), key=lambda book_id: fingerprint(f"simplebooks {book_id}"))
FACTS = st.dictionaries(st.integers(1, 99), st.integers(1, 1000), min_size=5, max_size=40).map(
    lambda sizes: list(sizes.items())
)


def test_books_are_placed_in_the_order_of_their_fingerprints() -> None:
    plan = plan_sizes([(book_id, 100) for book_id in range(1, 41)], 3, small_tokens=1250)
    expected = ["validation"] * 3 + ["test"] * 3 + ["train"] * 34
    assert [plan[book_id].split for book_id in ORDER] == expected
    assert [plan[book_id].is_small for book_id in ORDER] == [True] * 18 + [False] * 22


def test_the_order_is_fixed_forever() -> None:
    assert ORDER[:6] == [23, 25, 38, 3, 30, 2]


def test_books_of_no_ordinary_length_are_held_out_only_where_there_are_no_others() -> None:
    sizes = dict.fromkeys(range(1, 41), 100)
    sizes |= {ORDER[0]: 201, ORDER[2]: 200, ORDER[3]: 49, ORDER[4]: 50}
    plan = plan_sizes(list(sizes.items()), 2)
    heldout = [book_id for book_id in ORDER if plan[book_id].split != "train"]
    assert heldout == [ORDER[1], ORDER[2], ORDER[4], ORDER[5]]
    few = [(book_id, 1000 if book_id in ORDER[:2] else 1) for book_id in ORDER[:5]]
    plan = plan_sizes(few, 2)
    splits = [plan[book_id].split for book_id in ORDER[:5]]
    assert splits == ["test", "train", "validation", "validation", "test"]


def test_a_book_that_does_not_fit_into_the_small_size_is_passed_over() -> None:
    tokens = [50, 50, 50, 60, 51, 49, 2]
    plan = plan_sizes(list(zip(ORDER, tokens, strict=False)), 1, small_tokens=100)
    assert [plan[book_id] for book_id in ORDER[:7]] == [
        Placement("validation", True),
        Placement("test", True),
        Placement("train", True),
        Placement("train", False),
        Placement("train", False),
        Placement("train", True),
        Placement("train", False),
    ]


@given(FACTS, st.integers(1, 2), st.integers(1, 5000), st.randoms())
def test_laws(
    facts: list[tuple[int, int]], heldout: int, small_tokens: int, chance: random.Random
) -> None:
    plan = plan_sizes(facts, heldout, small_tokens)
    sizes = dict(facts)
    assert plan.keys() == sizes.keys()
    counts = Counter(placement.split for placement in plan.values())
    assert counts == {"validation": heldout, "test": heldout, "train": len(facts) - 2 * heldout}
    assert all(placement.is_small for placement in plan.values() if placement.split != "train")
    train = {one: placement for one, placement in plan.items() if placement.split == "train"}
    small = sum(sizes[one] for one, placement in train.items() if placement.is_small)
    left = [sizes[one] for one, placement in train.items() if not placement.is_small]
    assert small <= small_tokens < small + min(left, default=small_tokens + 1)
    assert plan_sizes(chance.sample(facts, len(facts)), heldout, small_tokens) == plan


def test_too_few_books() -> None:
    assert len(plan_sizes([(book_id, 9) for book_id in range(11)])) == 11
    with pytest.raises(ValueError, match="10 books are left, but 11 are needed: 5 each"):
        plan_sizes([(book_id, 9) for book_id in range(10)])
    with pytest.raises(ValueError, match="0 books are left, but 3 are needed"):
        plan_sizes([], 1)
