import pytest

from corpusmill.transforms.news.punctuation import normalize_line, normalize_text
from tests.transforms.news.cases import CASES


def test_lines_come_out_as_perl_writes_them() -> None:
    for case in CASES:
        assert normalize_line(case.line, case.language, case.perl) == case.normalized, case


def test_many_lines_at_once_come_out_as_each_alone() -> None:
    for language, perl in {(case.language, case.perl) for case in CASES}:
        own = [case for case in CASES if (case.language, case.perl) == (language, perl)]
        text = "".join(f"{case.line}\n" for case in own)
        expected = "".join(f"{case.normalized}\n" for case in own)
        assert normalize_text(text, language, perl) == expected


def test_the_end_of_a_line_counts_as_something_after_a_quote() -> None:
    assert normalize_text('a."\n<b\n', "de") == 'a".\n<b\n'


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("." * 100_000, "." * 100_000),
        ("a" + "." * 100_000 + "<", "a" + "." * 100_000 + "<"),
        (" " * 100_000, " "),
        ("(" * 100_000, " " + "(" * 100_000),
        (")" * 50_000, ")" * 50_000 + " "),
        ("(a) " * 25_000, " " + "(a) " * 25_000),
    ],
)
def test_long_lines_take_no_quadratic_time(line: str, expected: str, language: str) -> None:
    assert normalize_line(line, language) == expected
