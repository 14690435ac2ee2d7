"""Makes the table of all books that were considered for SimpleBooks, with the reason to keep or reject
each.
"""

from collections.abc import Sequence
from typing import NamedTuple

from corpusmill.transforms.books.simplicity import ratio
from corpusmill.transforms.files.records import OverlapVerdict, Rejected

KEPT = "kept"
_SHARE_DIGITS = 4
_RATIO_DIGITS = 6  # significant digits of a ratio


class Considered(NamedTuple):
    """A line of the table of considered books. It describes one book.

    If a book was rejected before a value was computed, the value is "".
    """

    book_id: int
    title: str
    tokens: int | str  # L: number of tokens between white space, in the stripped text
    vocabulary: int | str  # V: number of different tokens
    ratio: str
    ngrams: int | str  # number of different word n-grams
    overlap: str  # share of its n-grams in larger kept books
    verdict: str  # KEPT, or "stage/reason": "screen-books/poems"
    detail: str  # detail of the reason
    # "5946:0.9500": kept books that cover n-grams, and the share that each covers; an n-gram counts for the
    # largest
    covered_by: str
    split: str
    in_simplebooks_2: str  # "yes" or "no"
    first_line: int | str  # first line of the book in the file of its split, counted from 1
    lines: int | str


class Sized(NamedTuple):
    """The position of a kept book in the corpus: its split, its first line, and its number of lines there."""

    split: str
    is_small: bool
    first_line: int
    lines: int


def make_line(
    book_id: int,
    title: str,
    measured: tuple[int, int] | None,
    formula: str,
    verdict: OverlapVerdict | None,
    rejected: Rejected | None,
    sized: Sized | None,
) -> Considered:
    """Returns the line of the table of considered books for one book.

    Args:
      measured: (number of tokens, number of different tokens) of the book, see simplicity.py; None if the
        book was rejected before its tokens were counted.
      formula: the formula of the ratio, see simplicity.py.
      verdict: the result of comparing the book with larger books; None if it was not compared.
      rejected: the reason for rejecting the book; None if it was kept.
      sized: the position of the book in the corpus; None if it was rejected.

    Raises ValueError if the book is both kept and rejected, or neither.
    """
    if (rejected is None) == (sized is None):
        raise ValueError(f"book {book_id} is both kept and rejected, or neither")
    tokens, vocabulary = measured or ("", "")
    return Considered(
        book_id=book_id,
        title=title,
        tokens=tokens,
        vocabulary=vocabulary,
        ratio=f"{ratio(*measured, formula):.{_RATIO_DIGITS}g}" if measured else "",
        ngrams=verdict.ngrams if verdict else "",
        overlap=_share(verdict.covered, verdict.ngrams) if verdict else "",
        verdict=f"{rejected.stage}/{rejected.reason}" if rejected else KEPT,
        detail=rejected.detail if rejected else "",
        covered_by=_cover(verdict.covering, verdict.ngrams) if verdict else "",
        split=sized.split if sized else "",
        in_simplebooks_2=("yes" if sized.is_small else "no") if sized else "",
        first_line=sized.first_line if sized else "",
        lines=sized.lines if sized else "",
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole if whole else 0:.{_SHARE_DIGITS}f}"


def _cover(covering: Sequence[tuple[int, int]], ngrams: int) -> str:
    return " ".join(f"{book_id}:{_share(count, ngrams)}" for book_id, count in covering)
