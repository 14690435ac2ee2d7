"""The choice by overlap as the paper says it: one loop over all books, with their n-grams themselves.

The reference for what book_overlap.py does in parts. It knows no hashes and no partitions.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from corpusmill.transforms.files.records import OverlapVerdict


class CountedText(NamedTuple):
    """A book, for its choice."""

    book_id: int
    tokens: int
    text: str


def numbered(texts: Iterable[str]) -> list[CountedText]:
    """Books with the ids 1, 2, … that are as large as their texts."""
    return [
        CountedText(number, len(text.split()), text) for number, text in enumerate(texts, start=1)
    ]


def select_texts(
    books: Iterable[CountedText], threshold: Fraction = Fraction(1, 2), n: int = 8
) -> dict[int, OverlapVerdict]:
    """Id → verdict."""
    owners: dict[tuple[str, ...], int] = {}  # n-gram → the largest kept book that has it
    verdicts = {}
    for book in sorted(books, key=lambda book: (-book.tokens, book.book_id)):
        ngrams = distinct_ngrams(book.text, n)
        covering: dict[int, int] = {}
        for owner in (owners[ngram] for ngram in ngrams if ngram in owners):
            covering[owner] = covering.get(owner, 0) + 1
        covered = sum(covering.values())
        is_kept = not ngrams or Fraction(covered, len(ngrams)) < threshold
        if is_kept:
            for ngram in ngrams:
                owners.setdefault(ngram, book.book_id)
        ordered = sorted(covering.items(), key=lambda item: (-item[1], item[0]))
        verdicts[book.book_id] = OverlapVerdict(
            book.book_id, len(ngrams), covered, is_kept, tuple(ordered)
        )
    return verdicts


def distinct_ngrams(text: str, n: int) -> set[tuple[str, ...]]:
    """The different n-grams of the words of a text; of fewer words than n the one of all."""
    words = text.split()
    if not words:
        return set()
    return {tuple(words[start : start + n]) for start in range(max(len(words) - n, 0) + 1)}
