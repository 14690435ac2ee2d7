"""Holes that templates leave, and what stands around them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.wikitext.marks import HOLE
from corpusmill.transforms.wikitext.paragraphs import tidy
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(
    ("text", "expected"),
    read_cases("wikitext/tidy", "debris_goes"),
)
def test_debris_goes(text: str, expected: str) -> None:
    assert tidy(text.replace("_", HOLE)) == expected


@given(st.text(alphabet=f"ab ,;().{HOLE}\n", max_size=30))
def test_no_hole_is_left_and_no_letter_lost(text: str) -> None:
    tidied = tidy(text)
    assert HOLE not in tidied
    assert [char for char in tidied if char in "ab"] == [char for char in text if char in "ab"]
