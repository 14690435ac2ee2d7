"""The arithmetic of #expr, and numbers in words."""

import pytest

from corpusmill.transforms.wikitext.conversion.units import (
    spell_fraction,
    spell_number,
    spell_ordinal,
)
from corpusmill.transforms.wikitext.templates.parser_functions import evaluate, written
from tests.tools.growth import call_linear_in


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("2 ^ 3 ^ 2", "64"),
        ("-2 ^ 2", "4"),
        ("7 mod 4", "3"),
        ("-7 mod 4", "-3"),
        ("10 / 4", "2.5"),
        ("1 / 3", "0.33333333333333"),
        ("2.5 round 0", "3"),
        ("-2.5 round 0", "-3"),
        ("1234 round -2", "1200"),
        ("floor 2.7 + ceil 2.1", "5"),
        ("trunc(-2.7)", "-2"),
        ("1 = 1 and 2 > 3", "0"),
        ("not 0 or 0", "1"),
        ("1 <> 2", "1"),
        ("3 × 4 ÷ 2 − 1", "5"),
        ("pi round 4", "3.1416"),
        ("1.5e3", "1500"),
        ("floor 1.5e3", "1500"),
        ("-2e-3 * 2", "-0.004"),
        ("10 ^ 15", "1.0E+15"),
        ("1 / 80000", "1.25E-5"),
        ("12345678901234", "12345678901234"),
        ("acos 1 + asin 0", "0"),
        ("atan 1 round 4", "0.7854"),
        ("2 e", None),
        ("1e999", None),
        ("", None),
        ("1 / 0", None),
        ("(1", None),
        ("1 2", None),
        ("ln 0", None),
        ("(-8) ^ 0.5", None),
        ("9 ^ 9 ^ 9 ^ 9", None),
        ("nonsense", None),
    ],
)
def test_expressions(expression: str, expected: str | None) -> None:
    value = evaluate(expression)
    assert (None if value is None else written(value)) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 100_000,
        "-" * 490 + "1",
        "1+" * 100_000,
        "9^" * 240 + "9",
        "1e" * 245 + "1",
        "1 round 9^9",
    ],
)
def test_hostile_expressions_are_bounded(expression: str) -> None:
    call_linear_in(evaluate, expression)


@pytest.mark.parametrize(
    ("digits", "expected"),
    [
        ("0", "zero"),
        ("13", "thirteen"),
        ("21", "twenty-one"),
        ("100", "one hundred"),
        ("345", "three hundred and forty-five"),
        ("1001", "one thousand and one"),
        ("12,345", "twelve thousand three hundred and forty-five"),
        ("2000000", "two million"),
        ("-4", "minus four"),
        ("1.25", "one point two five"),
        ("x", ""),
        ("9" * 40, ""),
    ],
)
def test_numbers_in_words(digits: str, expected: str) -> None:
    assert spell_number(digits) == expected


def test_ordinals_and_fractions_in_words() -> None:
    assert [spell_ordinal(digits) for digits in ("1", "12", "20", "33", "100", "1.5")] == [
        "first",
        "twelfth",
        "twentieth",
        "thirty-third",
        "one hundredth",
        "",
    ]
    assert spell_fraction(0, 1, 2) == "one half"
    assert spell_fraction(2, 3, 4) == "two and three quarters"
    assert spell_fraction(1, 1, 2) == "one and a half"
    assert spell_fraction(0, 1, 97) == ""
