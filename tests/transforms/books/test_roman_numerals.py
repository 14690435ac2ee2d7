import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.title_page import parse_roman

DIGITS = (
    ("", "M", "MM", "MMM"),
    ("", "C", "CC", "CCC", "CD", "D", "DC", "DCC", "DCCC", "CM"),
    ("", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC"),
    ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"),
)


def write_roman(number: int, between: str = "") -> str:
    parts = [DIGITS[3 - power][number // 10**power % 10] for power in (3, 2, 1, 0)]
    return between.join(part for part in parts if part)


@given(st.integers(1000, 3999), st.sampled_from(["", " ", ".", ". "]))
def test_what_is_written_is_read(number: int, between: str) -> None:
    assert parse_roman(write_roman(number, between)) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("MDCCCXCIX", 1899),
        ("M DCCC XCIX", 1899),
        ("M.DCC.XXXVIII.", 1738),
        ("MDCCCCXI", 1911),
        ("MDCCCLXXXXIIII", 1894),
        ("MCMVI", 1906),
        ("M", 1000),
        ("XVIII", None),
        ("", None),
        ("MIM", None),
        ("MDCCCCCXI", None),
        ("MDCCCXIXX", None),
        ("MMMM", None),
        ("mdcccxcix", None),
        ("MILD", None),
        ("M, DCCC", None),
    ],
)
def test_forms(text: str, number: int | None) -> None:
    assert parse_roman(text) == number
