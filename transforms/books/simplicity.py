"""Measures the simplicity of a book: its length compared with its number of different words.

Nguyen, "SimpleBooks", section 2: a book with L tokens, V of them different, is kept if its ratio is at least
0.0012. The paper first considers L/V, and rejects this ratio because it prefers long books. The formula that
the paper prints is L/√V. This ratio prefers long books even more, and its value is above 15 for any book of
some hundred tokens. L/V² has values near the threshold, and prefers short books.

V grows as a power of L. A ratio that does not depend on length is L / V^(1/p), where p is the exponent of
that power. The exponent was fitted once, by least squares of log V on log L, on the 203 books of English
prose among 328 real files (209 to 343,750 tokens). The result is V = 3.07 L^0.738. In 95 % of 2,000 bootstrap
samples, the exponent is between 0.724 and 0.752. 1/p is 1.355, so the default formula is `L/V^1.35`. The
exponent is fixed, because an exponent fitted to each input would change the choice of all books with each
input. On these books, the correlation of L/V^1.35 with the logarithm of the length is 0.02 (that of L/V² is
-0.90, that of L/V is 0.92), and its average is 0.22. For more figures, and the agreement with readability,
see pipelines/docs/simplebooks.md.

Chooses the simplest books, until the corpus has its target size.

The paper of SimpleBooks wanted "a body of text of approximately 100M tokens but with a vocabulary size of
less than 100K", and found a threshold of the ratio that gives it. The threshold that gives it depends on the
input. So the numbers of tokens and of different words in the corpus are limited, too: books with a high ratio
that do not overlap are added in order of their ratio.

Measures how the vocabulary grows as books are added one by one.

The rank of a book is its position (0, 1, 2, …) in the order of adding. A word enters the vocabulary with the
book in which its total count reaches the minimum. Words are distributed to buckets, so that all counts of a
word are in one bucket (see word_vocabulary.py). Each bucket is processed alone, and gives the number
of its words that enter with each book. These numbers are then added up over all buckets.
"""

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

import numpy
import pyarrow as pa

from ..duplicates.minhash import Pairs
from ..files.records import MeasuredBook, Reason
from ..models.word_vocabulary import SCHEMA

NEUTRAL = "L/V^1.35"
SQUARED = "L/V^2"
PRINTED = "L/sqrt(V)"
FORMULAS = (NEUTRAL, SQUARED, PRINTED)
PAPER_RATIOS = {NEUTRAL: "0.35", SQUARED: "0.0012", PRINTED: "0.0012"}
"""Formula → lowest ratio of the books of the paper.

The ten held-out books of the release have a ratio L/V^1.35 of at least 0.35. Such books have at most 71 % of
the different words that the fit predicts for their length.
"""
AUTO = "auto"
"""A value of the lowest ratio: that of the paper, or less if too few books of the input are so simple."""

Measures = tuple[int, tuple[int, int]]  # book id, (number of tokens, number of different tokens)

# exponents of V
_EXPONENTS = {NEUTRAL: Fraction(27, 20), SQUARED: Fraction(2), PRINTED: Fraction(1, 2)}

_CHUNK_CHARACTERS = 1 << 20


def measure(text: str) -> tuple[int, int]:
    """Returns (L, V): the number of tokens of a text, and the number of different tokens.

    Tokens are separated by white space and include adjacent punctuation: "The", "the" and "the," are three
    different tokens. The paper does the same ("simply separating the words by space").
    """
    tokens = 0
    different: set[str] = set()
    start = 0
    # in parts: the tokens of a whole book would need ten times the memory of its text
    while start < len(text):
        end = min(start + _CHUNK_CHARACTERS, len(text))
        while end < len(text) and not text[end].isspace():
            end += 1
        found = text[start:end].split()
        tokens += len(found)
        different.update(found)
        start = end
    return tokens, len(different)


def ratio(tokens: int, vocabulary: int, formula: str = NEUTRAL) -> float:
    """Returns the simplicity of a book: L/V^1.35, L/V^2 or L/sqrt(V), as `formula` says.

    L is `tokens`, the number of tokens of the book. V is `vocabulary`, the number of its different tokens.
    The ratio of a book without tokens is 0. To compare it with a threshold, use `is_simple`. Raises
    ValueError if `formula` is not in FORMULAS.
    """
    check_formula(formula)
    return tokens / vocabulary ** float(_EXPONENTS[formula]) if tokens else 0.0


def exact_ratio(tokens: int, vocabulary: int, formula: str) -> Fraction:
    """Returns an exact fraction that sorts books in the same order as `ratio`, which is rounded.

    If the exponent of V is p/q, this is L^q / V^p, the ratio to the power of q. Returns 0 for a book without
    tokens.
    """
    if not tokens:
        return Fraction(0)
    exponent = _EXPONENTS[formula]
    return Fraction(tokens**exponent.denominator, vocabulary**exponent.numerator)


def is_simple(tokens: int, vocabulary: int, formula: str, min_ratio: Fraction) -> bool:
    """Returns True if the ratio of a book (see `ratio`) is at least `min_ratio`, which must not be negative.

    The comparison is exact, so it gives the same result on every machine.
    """
    return exact_ratio(tokens, vocabulary, formula) >= min_ratio ** _EXPONENTS[formula].denominator


def simplest_first(measures: Iterable[Measures], formula: str) -> list[Measures]:
    """Sorts books by their ratio, the highest first; of equal ratios, the smallest id comes first.

    `measures` has (book id, (L, V)) of each book, see `measure`.
    """
    return sorted(
        measures, key=lambda book: (-exact_ratio(book[1][0], book[1][1], formula), book[0])
    )


@dataclasses.dataclass(frozen=True)
class NotSimple:
    """Rejects books that are not simple: they have too many different tokens for their length.

    The simplicity of a book is a ratio of L, the number of its tokens, and V, the number of its different
    tokens (see `ratio`).

    Args:
      formula: the formula of the ratio, such as "L/V^1.35"; one of FORMULAS.
      min_ratio: the lowest ratio of a kept book. It is a text, such as "0.0012", to avoid rounding. AUTO
        stands for the ratio of the paper, and keeps the simplest books that are needed for SimpleBooks-2 even
        if their ratio is lower.

    Raises ValueError if the formula is unknown, or if the ratio is not a number or is negative.
    """

    formula: str = NEUTRAL
    min_ratio: str = AUTO

    def __post_init__(self) -> None:
        check_formula(self.formula)
        try:
            wanted = self.least
        except (ValueError, ZeroDivisionError):
            raise ValueError(f"min_ratio must be a number, not {self.min_ratio!r}") from None
        if wanted < 0:
            raise ValueError(f"min_ratio must be 0 or more, not {self.min_ratio}")

    @property
    def least(self) -> Fraction:
        """The lowest ratio of a book that is kept, apart from the books that are needed."""
        is_auto = self.min_ratio == AUTO
        return Fraction(PAPER_RATIOS[self.formula] if is_auto else self.min_ratio)

    def books_needed(
        self, heldout_books: int, small_tokens: int, measures: Iterable[Measures]
    ) -> frozenset[int]:
        """Returns the ids of the simplest books that fill SimpleBooks-2. Empty if `min_ratio` is a number.

        These are the fewest books that, if all are equally long, have more than `small_tokens` tokens without
        the held-out books. Punctuation marks are not counted. With them, the books have some 20 % more
        tokens, so they are mostly enough even if some of them overlap.

        Args:
          heldout_books: number of books in each of the validation and test sets.
          small_tokens: largest number of tokens of the training set of SimpleBooks-2.
          measures: (book id, (L, V)) of each book.
        """
        if self.min_ratio != AUTO:
            return frozenset()
        needed: list[int] = []
        total = 0
        for book_id, (tokens, _) in simplest_first(measures, self.formula):
            if total * (len(needed) - 2 * heldout_books) > small_tokens * len(needed):
                break
            needed.append(book_id)
            total += tokens
        return frozenset(needed)

    def __call__(self, measured: MeasuredBook, needed: Collection[int] = ()) -> Reason | None:
        """Returns None for a simple book, otherwise the reason `ratio-too-low`, which names the ratio.

        `needed` has the ids of books that are kept in any case, see `books_needed`.
        """
        tokens, vocabulary = measured.tokens, measured.vocabulary
        is_needed = measured.book.book_id in needed
        if is_needed or is_simple(tokens, vocabulary, self.formula, self.least):
            return None
        found = ratio(tokens, vocabulary, self.formula)
        detail = f"{self.formula} is {found:.6f}: {tokens} tokens, {vocabulary} different"
        return Reason("ratio-too-low", detail)


def check_formula(formula: str) -> None:
    """Raises ValueError for a formula that is not in FORMULAS."""
    if formula not in FORMULAS:
        raise ValueError(f"formula must be one of {FORMULAS}, not {formula!r}")


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
    sizes: Mapping[int, int],
    measures: Iterable[Measures],
) -> Queue:
    """Sorts books from simple to difficult, and returns as many as fit into the target size.

    A book is simple if its ratio of tokens to different tokens is high (see simplicity.py).

    The queue ends before the first book that would exceed `target_tokens`, even if later books would fit. Of
    books with equal ratios, the one with the smallest id comes first.

    Args:
      formula: the formula of the ratio, see simplicity.py.
      target_tokens: largest number of tokens of all books together.
      sizes: book id → number of tokens of its tokenised text.
      measures: (book id, (L, V)) of the same books, computed from the text before it is tokenised, see
        `measure`. L is the number of tokens between white space, V the number of different ones.
    """
    rank_of: dict[int, int] = {}
    total = 0
    for book_id, _ in simplest_first(measures, formula):
        if total + sizes[book_id] > target_tokens:
            break
        rank_of[book_id] = len(rank_of)
        total += sizes[book_id]
    return Queue(rank_of, total, len(rank_of) < len(sizes))


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


RANKED = SCHEMA.append(pa.field("rank", pa.int64(), nullable=False))
"""Schema of counts of words in several books: a row for each word of each book."""


def rank_counts(counts: pa.RecordBatch, rank: int) -> pa.RecordBatch:
    """Adds a column with the rank of the book to a book's word counts."""
    ranks = pa.array(numpy.full(counts.num_rows, rank, numpy.int64))
    return pa.record_batch([*counts.columns, ranks], schema=RANKED)


def count_entries(batches: Iterable[pa.RecordBatch], min_count: int) -> Pairs:
    """Counts the words that enter the vocabulary with each book.

    Returns rows (rank of the book, number of words), ascending.

    Args:
      batches: one or more results of `rank_counts`, in any order. If a word is in a batch, its counts in all
        books must be in the batches.
      min_count: a word enters the vocabulary when its count in all books added so far reaches this number.
    """
    rows = pa.concat_batches(batches)
    words = rows["word"].dictionary_encode().indices.to_numpy()
    counts, ranks = rows["count"].to_numpy(), rows["rank"].to_numpy()
    in_order = numpy.lexsort((ranks, words))
    words, counts, ranks = words[in_order], counts[in_order], ranks[in_order]
    total = numpy.cumsum(counts)
    starts = numpy.flatnonzero(numpy.diff(words, prepend=-1))  # first row of each word
    lengths = numpy.diff(starts, append=len(words))
    before_word = numpy.repeat((total - counts)[starts], lengths)
    with_rank = total - before_word
    enters = (with_rank >= min_count) & (with_rank - counts < min_count)
    return numpy.column_stack(numpy.unique(ranks[enters], return_counts=True))
