import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.spans import cut_out, with_blank_lines


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], "0123456789"),
        ([(2, 4)], "01456789"),
        ([(2, 4), (4, 6)], "016789"),
        ([(5, 7), (2, 4)], "014789"),
        ([(2, 8), (3, 5)], "0189"),
        ([(2, 5), (4, 8)], "0189"),
        ([(0, 10)], ""),
    ],
)
def test_places_are_cut_out(spans: list[tuple[int, int]], expected: str) -> None:
    assert cut_out("0123456789", spans) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a [] b", "a b"),
        ("a[] b", "a b"),
        ("a [], b", "a , b"),
        ("a[]b", "ab"),
        ("[] a", "a"),
        ("a []\nb", "a \nb"),
        ("[]", ""),
        ("[]\n\na\n", "a\n"),
        ("a\n\n[]\n", "a\n\n"),
        ("a\n[]\nb", "a\nb"),
        ("a\n\n[]\n\nb", "a\n\nb"),
        ("a\n\n[]\n\n\n\nb", "a\n\n\n\nb"),
        ("a\n\n\n\n[]\n\nb", "a\n\n\n\nb"),
        ("a\n[]\n\nb", "a\n\nb"),
        ("a\n\n  []  \nb", "a\n\nb"),
    ],
)
def test_blank_lines_on_one_side_go_along(text: str, expected: str) -> None:
    start = text.index("[")
    assert cut_out(text, [with_blank_lines(text, start, start + 2)]) == expected


@given(st.text(alphabet="a \n", max_size=40), st.text(alphabet="a \n", max_size=40))
def test_only_white_space_goes_along(before: str, after: str) -> None:
    text = f"{before}[]{after}"
    cut = cut_out(text, [with_blank_lines(text, len(before), len(before) + 2)])
    assert cut.count("a") == text.count("a")
    assert "[" not in cut
