"""Chooses the simplest books, until the corpus has its target size.

The paper of SimpleBooks wanted "a body of text of approximately 100M tokens but with a vocabulary size of
less than 100K". To get such a corpus, it kept books whose ratio of length and vocabulary (see simplicity.py)
is above a threshold. Here the numbers of tokens and of different words in the corpus are limited directly,
and books are added in order of their ratio.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from corpusmill.transforms.books.simplicity import check_formula, exact_ratio
from corpusmill.transforms.duplicates.components import Pairs
from corpusmill.transforms.files.records import Reason

TARGET_TOKENS = 92_000_000
MAX_VOCABULARY = 100_000


class Queue(NamedTuple):
    """The simplest books that together have at most the target number of tokens, in order of their ratio.

    If the vocabulary of these books together is too large, `take_books` leaves out the last ones.
    """

    rank_of: dict[int, int]  # book id → its rank
    tokens: int  # number of tokens of the books in `rank_of`
    more: bool  # True if there are books that do not fit


class Taken(NamedTuple):
    """The ids of the chosen books, and the reason why no further book was added."""

    book_ids: frozenset[int]
    reason: Reason | None  # why the other books are not taken; None if there are no other books


def line_up(
    formula: str,
    target_tokens: int,
    sizes: Sequence[tuple[int, int]],
    measures: Mapping[int, tuple[int, int]],
) -> Queue:
    """Sorts books from simple to difficult, and returns as many as fit into the target size.

    A book is simple if its ratio of tokens to different tokens is high (see simplicity.py).

    The queue ends before the first book that would exceed `target_tokens`, even if later books would fit. Of
    books with equal ratios, the one with the smallest id comes first.

    Args:
      formula: the formula of the ratio, see simplicity.py.
      target_tokens: largest number of tokens of all books together.
      sizes: (book id, number of tokens of its tokenised text), each book once, in any order.
      measures: book id → (L, V), computed from the text before it is tokenised, see `simplicity.measure`. L
        is the number of tokens between white space, V the number of different ones. The mapping may include
        other books.
    """
    in_order = sorted(sizes, key=lambda size: (-exact_ratio(*measures[size[0]], formula), size[0]))
    rank_of: dict[int, int] = {}
    total = 0
    for book_id, tokens in in_order:
        if total + tokens > target_tokens:
            break
        rank_of[book_id] = len(rank_of)
        total += tokens
    return Queue(rank_of, total, len(rank_of) < len(in_order))


def take_books(queue: Queue, entries: Pairs, max_vocabulary: int) -> Taken:
    """Chooses the books of the queue before the first one that would make the vocabulary too large.

    Args:
      queue: books in order of their ratio.
      entries: rows (rank of a book in the queue, number of words that the book adds to the vocabulary),
        ascending.
      max_vocabulary: largest number of words of the vocabulary.
    """
    vocabulary = 0
    for rank, words in entries.tolist():
        if vocabulary + words > max_vocabulary:
            fit = frozenset(book_id for book_id, own in queue.rank_of.items() if own < rank)
            detail = f"{len(fit)} simpler books have {vocabulary} words, the next one adds {words}"
            return Taken(fit, Reason("beyond-vocabulary", detail))
        vocabulary += words
    taken = frozenset(queue.rank_of)
    if not queue.more:
        return Taken(taken, None)
    detail = f"{len(taken)} simpler books have {queue.tokens} tokens, the next one is too long"
    return Taken(taken, Reason("beyond-target-tokens", detail))


def check_target(target_tokens: int, max_vocabulary: int, min_count: int, formula: str) -> None:
    """Raises ValueError if an argument of TakeSimplest is invalid."""
    names = ("target_tokens", "max_vocabulary", "min_count")
    for name, value in zip(names, (target_tokens, max_vocabulary, min_count), strict=True):
        if value < 1:
            raise ValueError(f"{name} must be positive, not {value}")
    check_formula(formula)
