"""Measures the simplicity of a book: its length compared with the number of different words in it.

Nguyen, "SimpleBooks", section 2: a book of L tokens, V of them different, is kept where its ratio is at
least 0.0012. The paper first took L/V, and rejected it as it prefers long books; it prints L/√V, which
prefers them still more, and is above 15 for any book of some hundred tokens. L/V² has the size of the
threshold, and prefers short books.

V grows as a power of L. A ratio that does not depend on length is L over V to the inverse of that power. It
was fitted once, by least squares of log V on log L, on the 203 books of English prose among 328 real files
(209 to 343,750 tokens): V = 3.07 L^0.738, the exponent between 0.724 and 0.752 in 95 % of 2,000 bootstrap
samples. The inverse is 1.355, and `L/V^1.35` is released with that exponent: one that is fitted to each
input would change the choice of all books with each of them. Its correlation with the logarithm of the length
is 0.02 on these books (L/V²: -0.90, L/V: 0.92). The average book has 0.22. Figures, and how it agrees with
readability: pipelines/docs/simplebooks.md.
"""

import dataclasses
from fractions import Fraction

from transforms.records import MeasuredBook, Reason

NEUTRAL = "L/V^1.35"
SQUARED = "L/V^2"
PRINTED = "L/sqrt(V)"
FORMULAS = (NEUTRAL, SQUARED, PRINTED)
MIN_RATIOS = {NEUTRAL: "0.24", SQUARED: "0.0012", PRINTED: "0.0012"}
"""0.24 keeps books with at most 94 % of the different words that the fitted books of their length have."""

_EXPONENTS = {NEUTRAL: Fraction(27, 20), SQUARED: Fraction(2), PRINTED: Fraction(1, 2)}  # of V

_CHUNK_CHARACTERS = 1 << 20


def measure(text: str) -> tuple[int, int]:
    """(L, V): how many tokens the text has, and how many different ones.

    Tokens are what is between white space, with the punctuation that sticks to them, as they are:
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


def ratio(tokens: int, vocabulary: int, formula: str = NEUTRAL) -> float:
    """The ratio of a book; 0 for one without tokens. To compare it with a threshold use `is_simple`.

    Raises ValueError for a formula that is none of FORMULAS.
    """
    check_formula(formula)
    return tokens / vocabulary ** float(_EXPONENTS[formula]) if tokens else 0.0


def most_different_words(tokens: int, formula: str, min_ratio: Fraction) -> float:
    """V at which a book of L tokens has the least ratio, which must be more than 0."""
    return float((tokens / min_ratio) ** (1 / _EXPONENTS[formula]))


def exact_ratio(tokens: int, vocabulary: int, formula: str) -> Fraction:
    """A number that orders books like the ratio of the formula does, without rounding.

    With the exponent p/q of V it is the ratio to the power of q: L^q / V^p; 0 for a book without tokens.
    """
    if not tokens:
        return Fraction(0)
    exponent = _EXPONENTS[formula]
    return Fraction(tokens**exponent.denominator, vocabulary**exponent.numerator)


def is_simple(tokens: int, vocabulary: int, formula: str, min_ratio: Fraction) -> bool:
    """Returns True if the ratio is at least `min_ratio`, 0 or more: exactly, so the result is the same
    everywhere.
    """
    least = min_ratio ** _EXPONENTS[formula].denominator
    return exact_ratio(tokens, vocabulary, formula) >= least


@dataclasses.dataclass(frozen=True)
class NotSimple:
    """The rule that a book has at least this ratio.

    Args:
      formula: one of FORMULAS.
      min_ratio: a decimal number as text, "0.0012", which no binary fraction is; "" for that of the formula.

    Raises ValueError for another formula, and for a ratio that is not a number or negative.
    """

    formula: str = NEUTRAL
    min_ratio: str = ""

    def __post_init__(self) -> None:
        check_formula(self.formula)
        try:
            wanted = self.least
        except (ValueError, ZeroDivisionError):
            raise ValueError(f"min_ratio is {self.min_ratio!r}, and must be a number") from None
        if wanted < 0:
            raise ValueError(f"min_ratio is {self.min_ratio}, and must not be negative")

    @property
    def least(self) -> Fraction:
        """The ratio that a book must have."""
        return Fraction(self.min_ratio or MIN_RATIOS[self.formula])

    def __call__(self, measured: MeasuredBook) -> Reason | None:
        """`ratio-too-low` with the ratio, or None for a simple book."""
        tokens, vocabulary = measured.tokens, measured.vocabulary
        if is_simple(tokens, vocabulary, self.formula, self.least):
            return None
        found = ratio(tokens, vocabulary, self.formula)
        detail = f"{self.formula} is {found:.6f}: {tokens} tokens, {vocabulary} different"
        return Reason("ratio-too-low", detail)


def check_formula(formula: str) -> None:
    """Raises ValueError for one that is none of FORMULAS."""
    if formula not in FORMULAS:
        raise ValueError(f"formula is one of {FORMULAS}, not {formula!r}")
