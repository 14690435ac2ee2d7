"""Rules about a book put together. A rule is called with the book and its text, and gives a Reason, or
None for a book that it keeps."""

import dataclasses
from collections.abc import Callable

from transforms.records import Book, Reason
from transforms.text.books.screening.genres import genre_to_reject
from transforms.text.books.screening.language import not_english
from transforms.text.books.screening.running_text import MIN_WORDS, TooShort, malformed

__all__ = [
    "MIN_WORDS",
    "BookRule",
    "Rules",
    "TooShort",
    "genre_to_reject",
    "malformed",
    "not_english",
]

BookRule = Callable[[Book, str], Reason | None]


@dataclasses.dataclass(frozen=True)
class Rules:
    """Several rules as one: the first that speaks against a book decides."""

    rules: tuple[BookRule, ...]

    def __call__(self, book: Book, text: str) -> Reason | None:
        for rule in self.rules:
            reason = rule(book, text)
            if reason:
                return reason
        return None
