"""How simple a book is: how long it is for the number of different words in it.

Nguyen, "SimpleBooks", section 2: a book of L tokens, V of them different, is kept where its ratio is at
least 0.0012. The paper prints L/√V for the ratio. That is above 15 for any book of some hundred tokens
and grows with the length, while the paper wants books that are not chosen for being long. L/V² has the
right size.

It is not without a bias, though. In the 206 books of English prose that we measured V grew as L to the
power of 0.74, so L/V² favours short books: 28 of 28 with less than 5,000 tokens reach 0.0012, and 3 of 150
with 20,000 and more. A least length is a rule of its own, see TooShort.
"""

import dataclasses
from fractions import Fraction

from transforms.records import MeasuredBook, Reason

SQUARED = "L/V^2"
PRINTED = "L/sqrt(V)"
FORMULAS = (SQUARED, PRINTED)
MIN_RATIO = "0.0012"

_CHUNK_CHARACTERS = 1 << 20


def measure(text: str) -> tuple[int, int]:
    """(L, V): how many tokens the text has, and how many different ones.

    Tokens are what stands between white space, with the punctuation that sticks to them, as they are:
    "The", "the" and "the," are three. The paper takes them so ("simply separating the words by space").
    """
    tokens = 0
    different: set[str] = set()
    start = 0
    while start < len(text):  # in parts: the tokens of a whole book would take ten times its size
        end = _end_of_token(text, start + _CHUNK_CHARACTERS)
        found = text[start:end].split()
        tokens += len(found)
        different.update(found)
        start = end
    return tokens, len(different)


def _end_of_token(text: str, place: int) -> int:
    while place < len(text) and not text[place].isspace():
        place += 1
    return min(place, len(text))


def ratio(tokens: int, vocabulary: int, formula: str = SQUARED) -> float:
    """The ratio of a book; 0 for one without tokens. To compare it with a threshold use `is_simple`.

    Raises ValueError for a formula that is none of FORMULAS.
    """
    check_formula(formula)
    if not tokens:
        return 0.0
    return tokens / (vocabulary**2 if formula == SQUARED else vocabulary**0.5)


def exact_ratio(tokens: int, vocabulary: int, formula: str) -> Fraction:
    """A number that orders books like the ratio of the formula does, without rounding.

    That is L/V² itself, and the square of L/√V. It is 0 for a book without tokens.
    """
    if not tokens:
        return Fraction(0)
    is_squared = formula == SQUARED
    return Fraction(tokens, vocabulary**2) if is_squared else Fraction(tokens**2, vocabulary)


def is_simple(tokens: int, vocabulary: int, formula: str, min_ratio: Fraction) -> bool:
    """Whether the ratio is at least `min_ratio`, 0 or more: exactly, and so the same everywhere."""
    least = min_ratio if formula == SQUARED else min_ratio**2
    return exact_ratio(tokens, vocabulary, formula) >= least


@dataclasses.dataclass(frozen=True)
class NotSimple:
    """The rule that a book has at least this ratio.

    Args:
      formula: one of FORMULAS.
      min_ratio: a decimal number as text, "0.0012", which no binary fraction is.

    Raises ValueError for another formula, and for a ratio that is no number or negative.
    """

    formula: str = SQUARED
    min_ratio: str = MIN_RATIO

    def __post_init__(self) -> None:
        check_formula(self.formula)
        try:
            wanted = Fraction(self.min_ratio)
        except (ValueError, ZeroDivisionError):
            raise ValueError(f"min_ratio is {self.min_ratio!r}, and must be a number") from None
        if wanted < 0:
            raise ValueError(f"min_ratio is {self.min_ratio}, and must not be negative")

    def __call__(self, measured: MeasuredBook) -> Reason | None:
        """`ratio-too-low` with the ratio, or None for a simple book."""
        tokens, vocabulary = measured.tokens, measured.vocabulary
        if is_simple(tokens, vocabulary, self.formula, Fraction(self.min_ratio)):
            return None
        found = ratio(tokens, vocabulary, self.formula)
        detail = f"{self.formula} is {found:.6f}: {tokens} tokens, {vocabulary} different"
        return Reason("ratio-too-low", detail)


def check_formula(formula: str) -> None:
    """Raises ValueError for one that is none of FORMULAS."""
    if formula not in FORMULAS:
        raise ValueError(f"formula is one of {FORMULAS}, not {formula!r}")
