from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books import simplicity
from corpusmill.transforms.books.simplicity import (
    FORMULAS,
    NEUTRAL,
    PRINTED,
    SQUARED,
    NotSimple,
    is_simple,
    measure,
    ratio,
)
from corpusmill.transforms.files.records import MeasuredBook, Reason
from tests.makers.made_books import book


@pytest.mark.parametrize(
    ("text", "measured"),
    [
        ("", (0, 0)),
        (" \n\t ", (0, 0)),
        ("The the the, the", (4, 3)),
        ("a\u00a0b\u3000a\r\na\x0cb", (5, 2)),  # any white space of Unicode divides
        ("--and 'and' and", (3, 3)),
        ("é e\u0301 é", (3, 2)),  # as they are: not normalised
    ],
)
def test_tokens_are_what_stands_between_white_space(text: str, measured: tuple[int, int]) -> None:
    assert measure(text) == measured


@given(st.text(alphabet="ab \n\u2003", max_size=80), st.integers(1, 9))
def test_the_size_of_the_parts_does_not_matter(text: str, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simplicity, "_CHUNK_CHARACTERS", size)
        assert measure(text) == (len(text.split()), len(set(text.split())))


def test_a_long_token_at_the_end_of_a_part_is_one() -> None:
    text = "a " + "b" * (1 << 21) + " a"
    assert measure(text) == (3, 2)


@pytest.mark.parametrize(
    ("tokens", "vocabulary", "formula", "min_ratio", "simple"),
    [
        (1200, 1000, SQUARED, "0.0012", True),  # equal; 1200 / 1000**2 is 0.0012 exactly
        (1199, 1000, SQUARED, "0.0012", False),
        (3 * 10**30, 10**15, SQUARED, "3", True),
        (3 * 10**30 - 1, 10**15, SQUARED, "3", False),  # as floats both are equal
        (30, 9, PRINTED, "10", True),
        (29, 9, PRINTED, "10", False),
        (10, 2, PRINTED, "7.0710678118654752", True),  # √50 is 7.07106781186547524…
        (10, 2, PRINTED, "7.0710678118654753", False),
        (
            10_000,
            2642,
            NEUTRAL,
            "0.24",
            True,
        ),  # by hand: 10,000 / 0.24 is 41,667; 2642^1.35 41,649, 2643^1.35 41,671
        (10_000, 2643, NEUTRAL, "0.24", False),
        (2**27, 2**20, NEUTRAL, "1", True),  # (2^20)^1.35 is 2^27
        (2**27 - 1, 2**20, NEUTRAL, "1", False),
        (0, 0, SQUARED, "0", True),
        (0, 0, SQUARED, "0.0012", False),
        (0, 0, PRINTED, "0.0012", False),
        (7, 7, PRINTED, "0", True),
    ],
)
def test_the_comparison_is_exact(
    tokens: int, vocabulary: int, formula: str, min_ratio: str, simple: bool
) -> None:
    assert is_simple(tokens, vocabulary, formula, Fraction(min_ratio)) == simple


@given(st.integers(1, 10**7), st.data())
def test_printed_and_compared_ratio_agree(tokens: int, data: st.DataObject) -> None:
    vocabulary = data.draw(st.integers(1, tokens))
    for formula in FORMULAS:
        found = Fraction(ratio(tokens, vocabulary, formula))
        assert is_simple(tokens, vocabulary, formula, found * Fraction("0.999999"))
        assert not is_simple(tokens, vocabulary, formula, found * Fraction("1.000001"))


def test_the_rule_tells_the_ratio() -> None:
    assert NotSimple()(MeasuredBook(book(), 10_000, 2642)) is None
    assert NotSimple()(MeasuredBook(book(), 10_000, 2643)) == Reason(
        "ratio-too-low", "L/V^1.35 is 0.239977: 10000 tokens, 2643 different"
    )
    rule = NotSimple(SQUARED)
    assert rule(MeasuredBook(book(), 1200, 1000)) is None
    assert rule(MeasuredBook(book(), 1190, 1000)) == Reason(
        "ratio-too-low", "L/V^2 is 0.001190: 1190 tokens, 1000 different"
    )
    assert NotSimple(PRINTED, "50")(MeasuredBook(book(), 40, 4)) == Reason(
        "ratio-too-low", "L/sqrt(V) is 20.000000: 40 tokens, 4 different"
    )


@pytest.mark.parametrize(
    ("formula", "min_ratio", "message"),
    [
        ("L/V", "0.1", "formula must be one of .* not 'L/V'"),
        (SQUARED, "much", "min_ratio must be a number, not 'much'"),
        (SQUARED, "nan", "min_ratio must be a number, not 'nan'"),
        (SQUARED, "1/0", "min_ratio must be a number, not '1/0'"),
        (SQUARED, "-0.1", "min_ratio must be 0 or more, not -0.1"),
    ],
)
def test_settings_that_make_no_sense(formula: str, min_ratio: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NotSimple(formula, min_ratio)


def test_a_ratio_of_another_formula_is_an_error() -> None:
    with pytest.raises(ValueError, match="formula must be one of"):
        ratio(1, 1, "V/L")
