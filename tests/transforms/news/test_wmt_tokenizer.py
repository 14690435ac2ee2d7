from collections import Counter

import pytest

from corpusmill.transforms.news.wmt_tokenizer import (
    ALWAYS,
    BEFORE_NUMBER,
    keeps_period,
    prefixes_of,
    tokenize_line,
)
from tests.tools.case_tables import read_cases
from tests.transforms.news.cases import CASES


def test_lines_come_out_as_perl_writes_them() -> None:
    for case in CASES:
        assert tokenize_line(case.normalized, case.language, case.perl) == case.tokenized, case


@pytest.mark.parametrize(
    ("prefix", "language", "expected"),
    read_cases("news/wmt_tokenizer", "a_period_stays_with_some_words"),
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


@pytest.mark.parametrize(
    ("language", "always", "before_number"), [("en", 90, 3), ("de", 298, 0), ("el", 1, 0)]
)
def test_as_many_prefixes_as_the_script_reads(
    language: str, always: int, before_number: int
) -> None:
    kinds = Counter(prefixes_of(language).values())
    assert (kinds[ALWAYS], kinds[BEFORE_NUMBER]) == (always, before_number)


def test_some_prefixes() -> None:
    assert prefixes_of("en")["Messrs"] == ALWAYS
    assert prefixes_of("en")["pp"] == BEFORE_NUMBER
    assert prefixes_of("de")["c.-à-d"] == ALWAYS
    assert prefixes_of("el") == {"κ": ALWAYS}


def test_a_language_without_a_list_has_the_english_one() -> None:
    assert prefixes_of("fr") == prefixes_of("en")
