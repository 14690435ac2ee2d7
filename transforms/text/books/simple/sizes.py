"""Assigns books to the splits and sizes of SimpleBooks.

Nguyen, "SimpleBooks", section 2: of 1,573 books five are the validation set and five the test set, with
200,000 tokens each, and the others, 92 M tokens, the training set of SimpleBooks-92. SimpleBooks-2 has the
same validation and test sets, and 2 M tokens of training text. It does not name these books.
"""

from collections.abc import Sequence
from statistics import median_low
from typing import NamedTuple

from transforms.text.fingerprint import fingerprint

HELDOUT_BOOKS = 5
SMALL_TOKENS = 2_000_000
ORDINARY_FACTOR = 2


class Placement(NamedTuple):
    """The split and size of a book. All books are in SimpleBooks-92."""

    split: str  # "train", "validation" or "test"
    is_small: bool  # whether it is in SimpleBooks-2, too


def plan_sizes(
    facts: Sequence[tuple[int, int]],
    heldout_books: int = HELDOUT_BOOKS,
    small_tokens: int = SMALL_TOKENS,
) -> dict[int, Placement]:
    """Book id → its placement.

    The books are in the order of the fingerprint of "simplebooks <id>", then by id. The first ones are
    the validation set, the next ones the test set; but books that are longer than twice the median book, or
    shorter than half of it, are passed over as long as there are others. So a set has neither a few thousand
    tokens nor, with one book of 400,000, twice what it has in the paper, where the five books of a set have
    200,000 and a book 58,000 on average. All that is left is the training set. In the same order a book is
    taken for the small training set if that stays at or below `small_tokens` with it; one that does not
    fit is passed over.

    Two sets may have text in common: as much as the choice by overlap lets two books have.

    Args:
      facts: (book id, its tokens), each book once, in any order.
      heldout_books: in the validation set, and as many in the test set.
      small_tokens: of the training set of the small size, at most.

    Raises ValueError where that leaves no book for training.
    """
    if len(facts) < 2 * heldout_books + 1:
        raise ValueError(
            f"{len(facts)} books are left, and {2 * heldout_books + 1} are needed: {heldout_books} each "
            "for validation and test, and one for training"
        )
    in_order = sorted(facts, key=_order)
    median = median_low(tokens for _, tokens in facts)
    candidates = sorted(in_order, key=lambda fact: not _is_ordinary(fact[1], median))
    heldout = ["validation"] * heldout_books + ["test"] * heldout_books
    plan = {
        book_id: Placement(split, True)
        for (book_id, _), split in zip(candidates, heldout, strict=False)
    }
    small = 0
    for book_id, tokens in in_order:
        if book_id not in plan:
            is_small = small + tokens <= small_tokens
            small += tokens if is_small else 0
            plan[book_id] = Placement("train", is_small)
    return plan


def check_sizes(heldout_books: int, small_tokens: int) -> None:
    """Raises ValueError for settings that make no sense."""
    if heldout_books < 1:
        raise ValueError(f"heldout_books is {heldout_books}, and must be positive")
    if small_tokens < 1:
        raise ValueError(f"small_tokens is {small_tokens}, and must be positive")


def _order(fact: tuple[int, int]) -> tuple[int, int]:
    return fingerprint(f"simplebooks {fact[0]}"), fact[0]


def _is_ordinary(tokens: int, median: int) -> bool:
    return median <= tokens * ORDINARY_FACTOR and tokens <= median * ORDINARY_FACTOR
