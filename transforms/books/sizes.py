"""Assigns books to the splits of SimpleBooks, and to its two sizes: SimpleBooks-92 and SimpleBooks-2.

Nguyen, "SimpleBooks", section 2: of 1,573 books, five are the validation set and five the test set, with
200,000 tokens each. The others, 92 M tokens, are the training set of SimpleBooks-92. SimpleBooks-2 has the
same validation and test sets, and 2 M tokens of training text. The paper does not name these books.
"""

from collections.abc import Sequence
from statistics import median_low
from typing import NamedTuple

from corpusmill.transforms.files.fingerprint import fingerprint

HELDOUT_BOOKS = 5
SMALL_TOKENS = 2_000_000
ORDINARY_FACTOR = 2


class Placement(NamedTuple):
    """The split of a book, and whether it is also in SimpleBooks-2. All books are in SimpleBooks-92."""

    split: str  # "train", "validation" or "test"
    is_small: bool  # True if it is in SimpleBooks-2, too


def plan_sizes(
    facts: Sequence[tuple[int, int]],
    heldout_books: int = HELDOUT_BOOKS,
    small_tokens: int = SMALL_TOKENS,
) -> dict[int, Placement]:
    """Chooses the split of each book, and the books of SimpleBooks-2. Returns book id → Placement.

    Books are sorted by the fingerprint of "simplebooks <id>", then by id. The first books become the
    validation set, the next ones the test set. Books that are longer than twice the median book, or shorter
    than half of it, are used for these two sets only if there are no others. So no single book makes a set
    much larger or smaller than in the paper, where five books have 200,000 tokens and the average book has
    58,000. All other books are the training set of SimpleBooks-92. In the same order, they are added to the
    training set of SimpleBooks-2 as long as it does not exceed `small_tokens`; books that do not fit are
    skipped.

    Two sets may share text, up to the overlap that the overlap rule allows.

    Args:
      facts: (book id, its number of tokens), each book once, in any order.
      heldout_books: number of books in each of the validation and test sets.
      small_tokens: largest number of tokens of the training set of SimpleBooks-2.

    Raises ValueError if no book would be left for training.
    """
    if len(facts) < 2 * heldout_books + 1:
        raise ValueError(
            f"{len(facts)} books are left, but {2 * heldout_books + 1} are needed: {heldout_books} each "
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
    """Raises ValueError if one of these arguments of `plan_sizes` is less than 1."""
    if heldout_books < 1:
        raise ValueError(f"heldout_books must be positive, not {heldout_books}")
    if small_tokens < 1:
        raise ValueError(f"small_tokens must be positive, not {small_tokens}")


def _order(fact: tuple[int, int]) -> tuple[int, int]:
    return fingerprint(f"simplebooks {fact[0]}"), fact[0]


def _is_ordinary(tokens: int, median: int) -> bool:
    return median <= tokens * ORDINARY_FACTOR and tokens <= median * ORDINARY_FACTOR
