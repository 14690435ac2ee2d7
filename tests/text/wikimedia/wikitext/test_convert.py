"""Measures and what they are in other units."""

import pytest

from transforms.text.wikimedia.language import load_language
from transforms.text.wikimedia.wikitext.convert import convert, convert_short, find_unit
from transforms.text.wikimedia.wikitext.rendering import Page, format_number
from transforms.text.wikimedia.wikitext.templates import parse_arguments


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("2|in|mm", "2 inches (51 mm)"),
        ("1|in", "1 inch (25 mm)"),
        ("1500|km|0|abbr=on", "1,500 km (932 mi)"),
        ("100|km|mi|sp=us", "100 kilometers (62 mi)"),
        ("60|mi|km|abbr=on", "60 mi (97 km)"),
        ("5|lb|kg|order=flip", "2.3 kg (5 pounds)"),
        ("12|C", "12 °C (54 °F)"),
        ("-0.4|°C|°F|abbr=on", "−0.4 °C (31.3 °F)"),
        ("2.5|acre|ha", "2.5 acres (1.0 ha)"),
        ("6|ft|m|adj=on", "6-foot (1.8 m)"),
        ("90|F|C|disp=or", "90 °F or 32 °C"),
        ("3|by|4|m|ft", "3 by 4 metres (9.8 by 13.1 ft)"),
        ("3|Moilbbl|m3", "3 million barrels (480,000 m3)"),
        ("7|smoots|m", "7 smoots"),
        ("1/2|in|mm", "1⁄2 inches (13 mm)"),
        ("x", "x"),
        ("", ""),
    ],
)
def test_english(source: str, expected: str) -> None:
    page = Page("", load_language("en"))
    assert convert(parse_arguments(source), page) == expected


@pytest.mark.parametrize(
    ("code", "source", "expected"),
    [
        ("vi", "58|km|mi", "58 km (36 mi)"),
        ("uk", "1234567|m|km", "1 234 567 m (1234,567 km)"),
        ("el", "0.5|m|ft", "0,5 m (1,6 ft)"),
    ],
)
def test_other_languages_show_symbols(code: str, source: str, expected: str) -> None:
    page = Page("", load_language(code))
    assert convert_short(parse_arguments(source), page) == expected


def test_multiples_and_aliases_of_units() -> None:
    acres = find_unit("e6acre")
    assert acres
    assert (acres.symbol, acres.plural) == ("million acres", "million acres")
    assert acres.factor == pytest.approx(4046.8564224e6)
    assert find_unit("foot") == find_unit("ft")
    assert find_unit("nonsense") is None


@pytest.mark.parametrize(
    ("code", "number", "expected"),
    [
        ("en", "3003", "3,003"),
        ("en", "1,234.5", "1,234.5"),
        ("en", "-1234", "-1,234"),
        ("en", "12.50 m", "12.50 m"),
        ("en", "about 5", "about 5"),
        ("uk", "299792458", "299 792 458"),
        ("uk", "1234", "1234"),
        ("vi", "1234.5", "1.234,5"),
        ("fr", "8700471 habitants", "8 700 471 habitants"),
        ("fr", "8,4", "8,4"),
        ("fa", "1234.5", "1٬234٫5"),
    ],
)
def test_numbers_as_each_wiki_writes_them(code: str, number: str, expected: str) -> None:
    assert format_number(number, load_language(code).numbers) == expected
