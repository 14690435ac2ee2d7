"""Words and numbers of CLDR, compared with the tables of a wiki."""

import re

import pytest

from corpusmill.transforms.wikitext import wikis
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(
    ("languages", "native", "group", "decimal", "group_size"),
    read_cases("wikitext/cldr", "numbers"),
)
def test_numbers(
    languages: list[str], native: bool, group: str, decimal: str, group_size: int
) -> None:
    expected = {"group": group, "decimal": decimal, "group_size": group_size}
    assert wikis.numbers_of(languages, native=native) == expected


@pytest.mark.parametrize(
    ("language", "first"), read_cases("wikitext/cldr", "months_have_names_or_are_not_there")
)
def test_months_have_names_or_are_not_there(language: str, first: str) -> None:
    months = wikis.months_of(language)
    assert (months[0], len(months)) == (first, 12) if first else months == ()


@pytest.mark.parametrize(
    ("language", "day", "month"),
    [
        ("mr", "{day} {month}, {year}", "{month} {year}"),
        ("be", "{day} {month} {year} г.", "{month} {year}"),
        ("pt", "{day} de {month} de {year}", "{month} de {year}"),
        ("eu", "{year}(e)ko {month}ren {day}(a)", "{year}(e)ko {month}"),
        ("yue", "{year}年{month}{day}日", "{year}年{month}"),
        ("th", None, "{month} {year}"),  # a date has an era
        ("bar", None, None),
    ],
)
def test_forms_of_dates(language: str, day: str | None, month: str | None) -> None:
    dates = wikis.dates_of(language, wikis.months_of(language))
    assert (dates.get("day"), dates.get("month")) == (day, month)


def test_names() -> None:
    assert wikis.languages_of("hy")["de"] == "գերմաներեն"
    assert wikis.languages_of("hy")["zh-hant"] == "ավանդական չինարեն"
    assert wikis.countries_of("mr")["AT"] == "ऑस्ट्रिया"
    assert wikis.languages_of("bar") == wikis.countries_of("bar") == {}


def test_units_that_follow_their_number() -> None:
    units = wikis.units_of("hy")
    assert (units["km"], units["mi"]) == ("կմ", "մղ")
    assert wikis.units_of("bn")["km"] == "কিমি"
    assert "km/h" not in wikis.units_of("bn")  # "ঘণ্টা প্রতি 12 কিমি"
    assert "km" not in wikis.units_of("ckb")  # as in English
    assert wikis.units_of("bar") == {}


def test_the_version_is_a_number() -> None:
    assert re.fullmatch(r"\d+(\.\d+)?", wikis.cldr_version())
