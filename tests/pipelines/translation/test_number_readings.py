import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.pipelines.translation import check_numbers
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(
    ("text", "number"),
    read_cases("translation/numbers", "readings"),
)
def test_readings(text: str, number: str) -> None:
    assert number in check_numbers.read_numbers(text).whole


@pytest.mark.parametrize(
    ("text", "number"),
    read_cases("translation/numbers", "no_readings"),
)
def test_what_is_no_reading(text: str, number: str) -> None:
    assert number not in check_numbers.read_numbers(text).whole


def test_scaled_ones_are_those_before_a_word() -> None:
    assert check_numbers.read_numbers("2,3 Millionen und 400.").scaled == {"3", "23"}
    assert check_numbers.read_numbers("33万 400").scaled == {"33"}


def test_quantities() -> None:
    assert list(check_numbers.quantities("1,234")) == [1234.0, 1.234]
    assert list(check_numbers.quantities("1.234,5")) == [12345.0, 1234.5]
    assert list(check_numbers.quantities("12")) == [12.0]


def test_parts() -> None:
    assert check_numbers.parts_of("10:05.00") == ["10", "5", "0"]
    assert check_numbers.plain("000") == "0"
    assert check_numbers.significant("0330000") == "33"
    assert check_numbers.significant("00") == "0"


@given(st.integers(0, 10**12), st.sampled_from("0٠۰०০๐០０"))
def test_every_number_is_read_in_every_script(number: int, zero: str) -> None:
    written = "".join(chr(ord(zero) + int(digit)) for digit in str(number))
    assert check_numbers.with_ascii_digits(written) == str(number)
    assert str(number) in check_numbers.read_numbers(f"x {written}.").whole


@given(st.integers(0, 10**9), st.sampled_from([",", ".", "\u00a0", "\u202f", " ", "'"]))
def test_every_number_is_read_with_every_grouping(number: int, separator: str) -> None:
    assert str(number) in check_numbers.read_numbers(f"{number:,}".replace(",", separator)).whole


@given(st.text(max_size=40))
def test_any_text_can_be_read(text: str) -> None:
    assert all(number.isdecimal() for number in check_numbers.read_numbers(text).whole)
