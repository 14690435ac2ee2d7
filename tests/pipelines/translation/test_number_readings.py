import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.pipelines.translation.check_numbers import (
    parts_of,
    plain,
    quantities,
    read_numbers,
    significant,
    with_ascii_digits,
)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,234,567", "1234567"),
        ("1.234.567", "1234567"),
        ("1 234 567", "1234567"),
        ("1\u202f234", "1234"),
        ("12,34,567", "1234567"),  # lakhs
        ("1٬234", "1234"),
        ("10'000", "10000"),
        ("१,२३४", "1234"),
        ("۱۹۴۵", "1945"),
        ("٢٠٠٧", "2007"),
        ("១៩៤៥", "1945"),
        ("１９４５年", "1945"),
        ("6,000", "6000"),
        ("1,000,050", "1000050"),
        ("15万", "150000"),
        ("1万5千", "15000"),
        ("1万5000", "15000"),
        ("2.5億", "250000000"),
        ("1億2,000万", "120000000"),
        ("二十", "20"),
        ("十五", "15"),
        ("三百二十", "320"),
        ("一九四五", "1945"),
        ("两千", "2000"),
        ("33만", "330000"),
        ("XVIII века", "18"),
        ("au XVe siècle", "15"),
        ("ХІХ століття", "19"),
        ("Louis XIV", "14"),
        ("10:05", "5"),
        ("007", "7"),
    ],
)
def test_readings(text: str, number: str) -> None:
    assert number in read_numbers(text).whole


@pytest.mark.parametrize(
    ("text", "number"),
    [("6,000", "60"), ("MIX", "9"), ("IXE", "9"), ("1945", "19"), ("1945", "945"), ("abc", "0")],
)
def test_what_is_no_reading(text: str, number: str) -> None:
    assert number not in read_numbers(text).whole


def test_scaled_ones_are_those_before_a_word() -> None:
    assert read_numbers("2,3 Millionen und 400.").scaled == {"2", "3", "23"}
    assert read_numbers("33万 400").scaled == {"33"}


def test_quantities() -> None:
    assert list(quantities("1,234")) == [1234.0, 1.234]
    assert list(quantities("1.234,5")) == [12345.0, 1234.5]
    assert list(quantities("12")) == [12.0]


def test_parts() -> None:
    assert parts_of("10:05.00") == ["10", "5", "0"]
    assert plain("000") == "0"
    assert significant("0330000") == "33"
    assert significant("00") == "0"


@given(st.integers(0, 10**12), st.sampled_from("0٠۰०০๐០０"))
def test_every_number_is_read_in_every_script(number: int, zero: str) -> None:
    written = "".join(chr(ord(zero) + int(digit)) for digit in str(number))
    assert with_ascii_digits(written) == str(number)
    assert str(number) in read_numbers(f"x {written}.").whole


@given(st.integers(0, 10**9), st.sampled_from([",", ".", "\u00a0", "\u202f", " ", "'"]))
def test_every_number_is_read_with_every_grouping(number: int, separator: str) -> None:
    assert str(number) in read_numbers(f"{number:,}".replace(",", separator)).whole


@given(st.text(max_size=40))
def test_any_text_can_be_read(text: str) -> None:
    assert all(number.isdecimal() for number in read_numbers(text).whole)
