import pytest

from corpusmill.transforms.news.wmt_tokenizer import (
    ALWAYS,
    BEFORE_NUMBER,
    keeps_period,
    tokenize_line,
)
from tests.transforms.news.cases import CASES


def test_lines_come_out_as_perl_writes_them() -> None:
    for case in CASES:
        assert tokenize_line(case.normalized, case.language, case.perl) == case.tokenized, case


@pytest.mark.parametrize(
    ("prefix", "language", "expected"),
    [
        ("Mr", "en", ALWAYS),
        ("No", "en", BEFORE_NUMBER),
        ("No", "de", ALWAYS),
        ("U.S", "en", ALWAYS),
        ("κ.ε", "en", ALWAYS),
        ("3.5", "en", ""),
        ("end", "en", ""),
        ("κ", "en", ""),
        ("κ", "el", ALWAYS),
    ],
)
def test_a_period_stays_with_some_words(prefix: str, language: str, expected: str) -> None:
    assert keeps_period(prefix, language, "5.36") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("." * 100_000, "." * 100_000),
        ("a." * 50_000, "a." * 50_000),
        ("DOT" * 33_333, "DOT" * 33_333),
        ("DOT" * 33_333 + "DOTMULTI", "." * 33_334),
        ("a.. " * 25_000, "a .. " * 24_999 + "a .."),
    ],
)
def test_long_lines_take_no_quadratic_time(line: str, expected: str) -> None:
    assert tokenize_line(line) == expected
