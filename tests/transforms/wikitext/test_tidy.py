"""Holes that templates leave, and what stands around them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.wikitext.marks import HOLE
from corpusmill.transforms.wikitext.paragraphs import tidy


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a (_; born 1900) b", "a (born 1900) b"),
        ("a (_) b", "a b"),
        ("a (_; _) b", "a b"),
        ("a ([_], _) b", "a b"),
        ("a (b; _) c", "a (b) c"),
        ("a (b, _, c) d", "a (b, c) d"),
        ("a _ b", "a b"),
        ("a_ b", "a b"),
        ("a _.", "a."),
        ("a _, b", "a, b"),
        ("a «_» b", "a b"),
        ("_ a", "a"),
        ("a\n_ b\nc _", "a\nb\nc"),
        ("東京（_、b）は", "東京（b）は"),
        ("東京（_）は", "東京は"),
        ("القاهرة (_؛ مدينة)", "القاهرة (مدينة)"),
        ("f() and [] stay", "f() and [] stay"),
        ("a ( b ) c", "a ( b ) c"),
        ("a , b", "a, b"),
        ("a ; b !", "a ; b !"),
        ("a ... b", "a ... b"),
        ("end._Next", "end. Next"),
        ("3._", "3."),
        ("end .", "end ."),
        ("a, , b", "a, , b"),
        ("(; a)", "(; a)"),
    ],
)
def test_debris_goes(text: str, expected: str) -> None:
    assert tidy(text.replace("_", HOLE)) == expected


@given(st.text(alphabet=f"ab ,;().{HOLE}\n", max_size=30))
def test_no_hole_is_left_and_no_letter_lost(text: str) -> None:
    tidied = tidy(text)
    assert HOLE not in tidied
    assert [char for char in tidied if char in "ab"] == [char for char in text if char in "ab"]
