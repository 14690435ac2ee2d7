"""Bold and italics, as MediaWiki balances their marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.wikitext.marks import strip_quotes
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(
    ("line", "expected"), read_cases("wikitext/quotes", "marks_vanish_and_apostrophes_stay")
)
def test_marks_vanish_and_apostrophes_stay(line: str, expected: str) -> None:
    assert strip_quotes(line) == expected


@given(st.text(alphabet="' ab", max_size=30))
def test_only_apostrophes_are_removed(line: str) -> None:
    assert strip_quotes(line).replace("'", "") == line.replace("'", "")
