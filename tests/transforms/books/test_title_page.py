from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.title_page import (
    MAX_CHARACTERS,
    Block,
    blocks_of_front,
    find_years,
    is_on_title_page,
    issue_year,
    parse_roman,
    transcribed_edition,
    years_in,
)
from tests.tools.growth import call_linear
from tests.transforms.books.read_cases import read_table

LINE = "It was a wet day in the month of May, and nobody in the house"
PROSE = "\n".join([LINE] * 3)
CASES = read_table("title_page", LINE=LINE, PROSE=PROSE)

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


@pytest.mark.parametrize(("text", "number"), CASES["roman_numerals"])
def test_forms(text: str, number: int) -> None:
    assert (parse_roman(text) or 0) == number


def test_blocks_are_parted_by_blank_lines() -> None:
    blocks = list(blocks_of_front("\n\n  A TALE\n   By Nobody  \n \t\n\n1897\n"))
    assert blocks == [Block(("A TALE", "By Nobody"), False, 0), Block(("1897",), False, 0)]


@pytest.mark.parametrize(("block", "is_prose"), CASES["running_text"])
def test_running_text_has_full_lines(block: str, is_prose: bool) -> None:
    (found,) = blocks_of_front(block)
    assert found.is_prose == is_prose


def test_a_title_page_ends_where_the_book_begins() -> None:
    motto, *rest = blocks_of_front("\n\n".join([PROSE, "1897", *[PROSE] * 7, "1776"]))
    assert motto.prose_before == 0
    assert [block.lines for block in rest if not block.is_prose] == [("1897",), ("1776",)]
    assert is_on_title_page(rest[0])
    assert rest[-1].prose_before == 8 * len(PROSE.replace("\n", ""))
    assert not is_on_title_page(rest[-1])


def test_only_the_front_is_looked_at() -> None:
    assert [block.lines for block in blocks_of_front("a\n\n" * 200)] == [("a",)] * 125
    assert list(blocks_of_front("x" * MAX_CHARACTERS + "y")) == [
        Block(("x" * MAX_CHARACTERS,), True, 0)
    ]
    assert list(blocks_of_front("")) == []


@pytest.mark.parametrize(("text", "found"), CASES["years_of_front"])
def test_what_says_a_year(text: str, found: list[list[Any]]) -> None:
    parts = len(found[0]) if found else 2  # the year, its source, and the line in some cases
    assert [list(year)[:parts] for year in find_years(text)] == found


@pytest.mark.parametrize(("line", "year"), CASES["issues"])
def test_an_issue_has_a_number_and_a_month(line: str, year: int) -> None:
    assert (issue_year(line) or 0) == year


@pytest.mark.parametrize(("head", "words"), CASES["transcribed"])
def test_the_words_of_a_transcriber_name_the_edition(head: str, words: str) -> None:
    assert transcribed_edition(head) == words


@pytest.mark.parametrize(("text", "years"), CASES["years_of_text"])
def test_years_of_a_text(text: str, years: list[int]) -> None:
    assert years_in(text) == years


@given(st.text(st.sampled_from("MDXVI 189-(,)\n.Copyright©edition"), max_size=200))
def test_nothing_is_too_odd(text: str) -> None:
    for year, *_ in find_years(text):
        assert 1000 <= year < 4000


HOSTILE = (
    *("M ", "M.", "-a", "1899 ", "1899\n\n", "a ", "(c) ", "copyright\n\n", "ty-", "vol ", "no "),
    *("transcribed from the ", "second a edition ", "new ", "London\n\n", "[", "  ", "_", "seven"),
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_the_time_is_bounded(piece: str) -> None:
    call_linear(find_years, lambda size: piece * (size // len(piece)), 1_000_000)
