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
"""

import dataclasses
from fractions import Fraction

from corpusmill.transforms.files.records import MeasuredBook, Reason

NEUTRAL = "L/V^1.35"
SQUARED = "L/V^2"
PRINTED = "L/sqrt(V)"
FORMULAS = (NEUTRAL, SQUARED, PRINTED)
MIN_RATIOS = {NEUTRAL: "0.24", SQUARED: "0.0012", PRINTED: "0.0012"}
"""Formula → default of the lowest ratio of a kept book.

0.24 keeps books with at most 94 % of the different words that the fit predicts for their length.
"""

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
    """Returns the simplicity of a book: L/V^1.35, L/V^2 or L/sqrt(V), as `formula` says.

    L is `tokens`, the number of tokens of the book. V is `vocabulary`, the number of its different tokens.
    The ratio of a book without tokens is 0. To compare it with a threshold, use `is_simple`. Raises
    ValueError if `formula` is not in FORMULAS.
    """
    check_formula(formula)
    return tokens / vocabulary ** float(_EXPONENTS[formula]) if tokens else 0.0


def most_different_words(tokens: int, formula: str, min_ratio: Fraction) -> float:
    """Returns the largest V for which the ratio of a book is at least `min_ratio`, see `ratio`.

    V is the number of different tokens of a book that has `tokens` tokens. `min_ratio` must be positive.
    """
    return float((tokens / min_ratio) ** (1 / _EXPONENTS[formula]))


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
    least = min_ratio ** _EXPONENTS[formula].denominator
    return exact_ratio(tokens, vocabulary, formula) >= least


@dataclasses.dataclass(frozen=True)
class NotSimple:
    """Rejects books that are not simple: they have too many different tokens for their length.

    The simplicity of a book is a ratio of L, the number of its tokens, and V, the number of its different
    tokens (see `ratio`).

    Args:
      formula: the formula of the ratio, such as "L/V^1.35"; one of FORMULAS.
      min_ratio: the lowest ratio of a kept book. It is a text, such as "0.0012", to avoid rounding. "" stands
        for the default of the formula.

    Raises ValueError if the formula is unknown, or if the ratio is not a number or is negative.
    """

    formula: str = NEUTRAL
    min_ratio: str = ""

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
        """The lowest ratio of a book that is kept."""
        return Fraction(self.min_ratio or MIN_RATIOS[self.formula])

    def __call__(self, measured: MeasuredBook) -> Reason | None:
        """Returns None for a simple book, otherwise the reason `ratio-too-low`, which names the ratio."""
        tokens, vocabulary = measured.tokens, measured.vocabulary
        if is_simple(tokens, vocabulary, self.formula, self.least):
            return None
        found = ratio(tokens, vocabulary, self.formula)
        detail = f"{self.formula} is {found:.6f}: {tokens} tokens, {vocabulary} different"
        return Reason("ratio-too-low", detail)


def check_formula(formula: str) -> None:
    """Raises ValueError for a formula that is not in FORMULAS."""
    if formula not in FORMULAS:
        raise ValueError(f"formula must be one of {FORMULAS}, not {formula!r}")
