"""Makes the rows of SimpleBooks in Parquet and TFRecord.

Assigns books to the splits of SimpleBooks, and to its two sizes: SimpleBooks-92 and SimpleBooks-2.

Nguyen, "SimpleBooks", section 2: of 1,573 books, five are the validation set and five the test set, with
200,000 tokens each. The others, 92 M tokens, are the training set of SimpleBooks-92. SimpleBooks-2 has the
same validation and test sets, and 2 M tokens of training text. The paper does not name these books.

Counts the vocabulary of a corpus of books, with the figures in table 1 of the SimpleBooks paper.

As in WikiText, the vocabulary has the words that occur three times or more in the training text, and two
signs: <unk> for all other words, and <eos> for the end of a line. Line ends count as tokens. Table 1 counts
them, too: its frequency of 62.76 for WikiText-2 is 2,088,628 tokens, including line ends, divided by 33,278
words, including the two signs.

Makes the table of all books that were considered for SimpleBooks, with the reason to keep or reject
each.
"""

from collections.abc import Iterator, Sequence
from statistics import median_low
from typing import Any, NamedTuple

from ..files.records import BookRow, OverlapVerdict, Rejected, TokenizedBook
from ..files.text import SPLITS, fingerprint
from ..models.word_vocabulary import HeldoutStats
from .book_accounts import book_schema
from .simplicity import ratio

NUMBERS = ("book_id",)
# "text" has tokens, one paragraph per line; "raw_text" has the same lines before tokenisation.
SCHEMA = book_schema("book_title", "text", "raw_text")
TEXT, RAW_TEXT = map(SCHEMA.get_field_index, ("text", "raw_text"))
TRAIN_2 = "train_2"
SPLITS_WITH_SMALL = (*SPLITS, TRAIN_2)
"""All splits. "train_2" has the training books of SimpleBooks-2, which are in "train" as well."""

DISTINCT, COMMA = NUMBER_STYLES = ("distinct", "comma")  # notations of numbers in `text`

LARGE, SMALL = SIZES = ("simplebooks-92", "simplebooks-2")

UNKNOWN = b"<unk>"
SIGNS = 2
"""Number of words of a vocabulary that are not in the text: <unk> for other words, <eos> for line ends."""


def make_rows(
    book: TokenizedBook, split: str, is_small: bool, packed_small: bytes = b""
) -> Iterator[BookRow]:
    """Yields the rows of a book, one for each split that contains it. Values are in the order of SCHEMA.

    Args:
      book: the tokenised book.
      split: its split.
      is_small: True if the book is also in SimpleBooks-2.
      packed_small: tokens of the book in SimpleBooks-2, packed like `book.packed_tokens`; b"" if they are the
        same as in SimpleBooks-92.
    """
    yield BookRow(split, book.book_id, _values(book, book.packed_tokens))
    if is_small and split == "train":
        yield BookRow(TRAIN_2, book.book_id, _values(book, packed_small or book.packed_tokens))


def _values(book: TokenizedBook, packed_tokens: bytes) -> tuple[int, str, bytes, bytes]:
    return book.book_id, book.title, packed_tokens, book.packed_raw


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
    in_order = sorted(facts, key=lambda one: (fingerprint(f"simplebooks {one[0]}"), one[0]))
    median = median_low(tokens for _, tokens in facts)
    shortest, longest = median / ORDINARY_FACTOR, median * ORDINARY_FACTOR
    candidates = sorted(in_order, key=lambda fact: not shortest <= fact[1] <= longest)
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


TRAIN = "train"


class BookVocabularyStats(NamedTuple):
    """The size of the vocabulary of a corpus, and the numbers of lines and tokens of each split."""

    min_count: int  # minimum count of a vocabulary word in the training text
    # number of distinct words in the training text, including words outside the vocabulary
    distinct_words: int
    vocabulary_words: int
    splits: tuple[tuple[str, HeldoutStats], ...]  # (split, counts): training first, then by name

    @property
    def frequency(self) -> float:
        """The average number of times that a word of the vocabulary occurs in the training text.

        <unk> and <eos> are words of the vocabulary, too. This is the column FREQ in table 1 of the
        SimpleBooks paper.
        """
        training = dict(self.splits)[TRAIN]
        return (training.words + training.sentences) / self.vocabulary_with_signs

    @property
    def vocabulary_with_signs(self) -> int:
        return self.vocabulary_words + SIGNS

    def as_dict(self) -> dict[str, Any]:
        """Returns the figures for stats.json."""
        return {
            "min_count": self.min_count,
            "distinct_words": self.distinct_words,
            "vocabulary_words": self.vocabulary_words,
            "vocabulary_with_unk_and_eos": self.vocabulary_with_signs,
            "tokens_per_vocabulary_word": round(self.frequency, 2),
            "splits": {split: _counts_of(stats) for split, stats in self.splits},
        }


def _counts_of(stats: HeldoutStats) -> dict[str, Any]:
    with_ends = stats.words + stats.sentences
    return {
        "lines": stats.sentences,
        "tokens": stats.words,
        "tokens_with_eos": with_ends,
        "out_of_vocabulary": stats.out_of_vocabulary,
        "out_of_vocabulary_share": round(stats.out_of_vocabulary / (with_ends or 1), 6),
    }


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
