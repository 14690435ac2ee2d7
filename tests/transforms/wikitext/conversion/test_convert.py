"""Measures and what they are in other units."""

import pytest

from corpusmill.transforms.wikitext.conversion.convert import convert, convert_short
from corpusmill.transforms.wikitext.conversion.units import find_outputs, find_unit
from corpusmill.transforms.wikitext.language import load_language
from corpusmill.transforms.wikitext.templates.expand import parse_arguments
from corpusmill.transforms.wikitext.templates.patterns import Page, format_number
from tests.tools.case_tables import read_cases
from tests.tools.growth import call_linear_in

ENGLISH = Page("", load_language("en"))


TABLES = ("numbers_and_units", "rounding", "options", "kinds_of_units", "ranges")


@pytest.mark.parametrize(
    ("source", "expected"),
    [row for name in TABLES for row in read_cases("wikitext/convert", name)],
)
def test_measures_are_converted_as_english_wikipedia_does(source: str, expected: str) -> None:
    assert convert(parse_arguments(source), ENGLISH) == expected


@pytest.mark.parametrize(
    ("code", "source", "expected"), read_cases("wikitext/convert", "other_languages_show_symbols")
)
def test_other_languages_show_symbols(code: str, source: str, expected: str) -> None:
    page = Page("", load_language(code))
    assert convert_short(parse_arguments(source), page) == expected


@pytest.mark.parametrize(
    ("code", "source", "expected"),
    read_cases("wikitext/convert", "other_languages_name_units"),
)
def test_other_languages_name_units(code: str, source: str, expected: str) -> None:
    assert convert(parse_arguments(source), Page("", load_language(code))) == expected


@pytest.mark.parametrize(
    "source",
    [
        "1e999|m",
        "9" * 100_000 + "|m",
        "1|m" + "/m" * 5_000,
        "1|" + "e6" * 5_000 + "m",
        "1|m|" + "km " * 50_000,
        "|".join(["1|to"] * 50_000),
        "|".join(["1|ft"] * 50_000),
        "0|mpgus|L/100 km",
        "1|km|mi|99999",
        "1|km|mi|sigfig=99999",
        "1/0|km",
        "1|C|F|frac=0",
        "-1|mpgus|sigfig=3",
    ],
)
def test_hostile_input_is_bounded(source: str) -> None:
    converted = call_linear_in(lambda text: convert(parse_arguments(text), ENGLISH), source)
    assert len(converted) <= len(source) + 200


def test_codes_of_units() -> None:
    acres = find_unit("e6acre")
    assert acres
    assert (acres.plural, acres.exponent, acres.number_word) == ("acres", 6, "million")
    assert acres.factor == pytest.approx(4046.8564224e6)
    litres_per_km = find_unit("L/km")
    assert litres_per_km
    assert litres_per_km.kind == "consumption"
    assert find_unit("foot") != find_unit("ft") == find_unit("feet")
    assert find_unit("nonsense") is None
    assert [[unit.symbol for unit in output] for output in find_outputs("ftin m+km")] == []
    assert [[unit.symbol for unit in output] for output in find_outputs("ftin m")] == [
        ["ft", "in"],
        ["m"],
    ]


@pytest.mark.parametrize(
    ("code", "number", "expected"),
    read_cases("wikitext/convert", "numbers_as_each_wiki_writes_them"),
)
def test_numbers_as_each_wiki_writes_them(code: str, number: str, expected: str) -> None:
    assert format_number(number, load_language(code).numbers) == expected
