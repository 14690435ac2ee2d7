"""Taking the simplest books first, until a corpus is as large as it should be.

The paper of SimpleBooks wanted "a body of text of approximately 100M tokens but with a vocabulary size of
less than 100K", and has a threshold for that. This is the choice by the aim itself.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from transforms.records import Reason
from transforms.text.books.simple.simplicity import exact_ratio
from transforms.text.duplicates.components import Pairs

TARGET_TOKENS = 92_000_000
MAX_VOCABULARY = 100_000


class Queue(NamedTuple):
    """The books that fit into the target, before the vocabulary is known."""

    rank_of: dict[int, int]  # book id → its rank
    tokens: int  # of these books
    more: bool  # whether there are books that do not fit


class Taken(NamedTuple):
    """The outcome of the choice."""

    book_ids: frozenset[int]
    reason: Reason | None  # why the others are not taken; None where there are no others


def line_up(
    formula: str,
    target_tokens: int,
    sizes: Sequence[tuple[int, int]],
    measures: Mapping[int, tuple[int, int]],
) -> Queue:
    """The books with the best ratios, of those with the same ratio the smaller id first, up to the target.

    The queue ends at the first book with which there would be more tokens than `target_tokens`: no book
    overtakes one that is simpler.

    Args:
      sizes: (book id, tokens of its tokenised text), each book once, in any order.
      measures: book id → (L, V) of its text, of these books at least.
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
    """The books of the queue up to the first with which the vocabulary would be too large.

    Args:
      entries: rows (rank, words that come into the vocabulary with it), ascending.
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
