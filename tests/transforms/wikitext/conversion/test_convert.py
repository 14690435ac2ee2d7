"""Measures and what they are in other units."""

import pytest

from corpusmill.transforms.wikitext.conversion.convert import convert, convert_short
from corpusmill.transforms.wikitext.conversion.units import find_outputs, find_unit
from corpusmill.transforms.wikitext.language import load_language
from corpusmill.transforms.wikitext.templates.expand import parse_arguments
from corpusmill.transforms.wikitext.templates.patterns import Page, format_number
from tests.tools.growth import call_linear_in

ENGLISH = Page("", load_language("en"))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("2|in|mm", "2 inches (51 mm)"),
        ("1|in", "1 inch (25 mm)"),
        ("1500|km|0|abbr=on", "1,500 km (932 mi)"),
        ("100|km|mi|sp=us", "100 kilometers (62 mi)"),
        ("60|mi|km|abbr=on", "60 mi (97 km)"),
        ("12|C", "12 °C (54 °F)"),
        ("-0.4|°C|°F|abbr=on", "−0.4 °C (31.3 °F)"),
        ("2.5|acre|ha", "2.5 acres (1.0 ha)"),
        ("3|by|4|m|ft", "3 by 4 metres (9.8 by 13.1 ft)"),
        ("7|smoots|m", "7 smoots"),
        ("x", "x"),
        ("", ""),
    ],
)
def test_numbers_and_units(source: str, expected: str) -> None:
    assert convert(parse_arguments(source), ENGLISH) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # At least two figures, otherwise a precision comparable with that of the input.
        ("1|km|mi", "1 kilometre (0.62 mi)"),
        ("81|m|in", "81 metres (3,200 in)"),
        ("196|ft|m", "196 feet (60 m)"),
        # Feet and pounds are worked out with more precision from whole numbers.
        ("72|kg|lb", "72 kilograms (159 lb)"),
        ("1440|m|ft", "1,440 metres (4,720 ft)"),
        ("21.5|kg|lb", "21.5 kilograms (47 lb)"),
        ("130|km|mi|1", "130 kilometres (80.8 mi)"),
        ("130|km|mi|-1", "130 kilometres (80 mi)"),
        ("130|km|mi|sigfig=3", "130 kilometres (80.8 mi)"),
        ("999.6|m|yd|sigfig=2", "999.6 metres (1,100 yd)"),
        ("33|m|ft|round=5", "33 metres (110 ft)"),
        ("33|m|ft|round=25", "33 metres (100 ft)"),
        ("3.1|km|mi|round=0.5", "3.1 kilometres (2 mi)"),
        ("15|cm|in|frac=8", "15 centimetres (5 7⁄8 in)"),
        ("0|C|F", "0 °C (32 °F)"),
        ("300|K", "300 K (27 °C; 80 °F)"),
        ("40|C-change", "40 °C (72 °F)"),
        ("20|±|5|C", "20 ± 5 °C (68 ± 9 °F)"),
    ],
)
def test_rounding(source: str, expected: str) -> None:
    assert convert(parse_arguments(source), ENGLISH) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("5|lb|kg|order=flip", "2.3 kilograms (5 lb)"),
        ("5|lb|kg|abbr=off", "5 pounds (2.3 kilograms)"),
        ("5|lb|kg|abbr=in", "5 lb (2.3 kilograms)"),
        ("5|lb|kg|abbr=values", "5 (2.3)"),
        ("5|lb|kg|abbr=~", "5 pounds [lb] (2.3 kg)"),
        ("100|C|abbr=off", "100 degrees Celsius (212 degrees Fahrenheit)"),
        ("5|ha|acre|abbr=on", "5 ha (12 acres)"),
        ("90|F|C|disp=or", "90 °F or 32 °C"),
        ("7|mi|km|disp=or", "7 miles or 11 kilometres"),
        ("7|mi|km|disp=comma", "7 miles, 11 km"),
        ("7|mi|km|disp=sqbr", "7 miles [11 km]"),
        ("7|mi|km|disp=out", "11 km"),
        ("7|mi|km|disp=number", "11"),
        ("7|mi|km|disp=unit", "miles"),
        ("7|mi|km|disp=x|, that is|", "7 miles, that is 11 km"),
        ("6|ft|m|adj=on", "6-foot (1.8 m)"),
        ("5|LT|adj=on", "5-long-ton (5.1 t)"),
        ("12|m|ft|adj=mid|-deep", "12-metre-deep (39 ft)"),
        ("9|mi|km|adj=pre|Swedish", "9 Swedish miles (14 km)"),
        ("9|rd|m|disp=preunit|old|new", "9 old rods (45 new m)"),
        ("1234|m|ft|comma=off", "1234 metres (4049 ft)"),
        ("4|mi|spell=in", "four miles (6.4 km)"),
        ("4|mi|0|spell=On", "Four miles (six kilometres)"),
        ("100|nmi|km nmi mi|order=out", "190 kilometres (100 nmi; 120 mi)"),
        ("3|USgal|l|sp=us", "3 U.S. gallons (11 l)"),
    ],
)
def test_options(source: str, expected: str) -> None:
    assert convert(parse_arguments(source), ENGLISH) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1/2|in|mm", "1⁄2 inch (13 mm)"),
        ("1+1/2|in|mm", "1 1⁄2 inches (38 mm)"),
        ("6|ft|1|in|cm", "6 feet 1 inch (185 cm)"),
        ("11|st|4|lb|kg", "11 stone 4 pounds (72 kg)"),
        ("1.7|m", "1.7 metres (5 ft 7 in)"),
        ("63|kg|stlb", "63 kilograms (9 st 13 lb)"),
        ("100|nmi", "100 nautical miles (190 km; 120 mi)"),
        ("76|bhp|kW PS|abbr=on", "76 bhp (57 kW; 77 PS)"),
        ("5|L/100 km|mpgus mpgimp", "5 litres per 100 kilometres (47 mpg‑US; 56 mpg‑imp)"),
        ("40|mpgus|L/100 km mpgimp|abbr=on", "40 mpg‑US (5.9 L/100 km; 48 mpg‑imp)"),
        ("600|/sqmi", "600 per square mile (230/km2)"),
        ("1.2|PD/sqmi", "1.2 inhabitants per square mile (0.46/km2)"),
        ("20|m3/s", "20 cubic metres per second (710 cu ft/s)"),
        ("3|Moilbbl", "3 million barrels (480×10³ m3)"),
        ("10|e6acre", "10 million acres (40,000 km2)"),
        ("10|e6acre|e6ha|abbr=off", "10 million acres (4.0 million hectares)"),
        ("5|e3km|e3mi|abbr=on", "5×10³ km (3.1×10³ mi)"),
        ("2.5e6|km2", "2.5×10⁶ square kilometres (9.7×10⁵ sq mi)"),
        ("15.2|hand|cm", "15.2 hands (157 cm)"),
        ("60|Nm|lbft|abbr=on", "60 N⋅m (44 lb⋅ft)"),
        ("2|Mach", "Mach 2"),
    ],
)
def test_kinds_of_units(source: str, expected: str) -> None:
    assert convert(parse_arguments(source), ENGLISH) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("10|-|20|km|mi", "10–20 kilometres (6.2–12.4 mi)"),
        ("10-20|km|mi", "10–20 kilometres (6.2–12.4 mi)"),
        ("10 to 20|km|mi", "10 to 20 kilometres (6.2 to 12.4 mi)"),
        ("10|to(-)|20|km|mi", "10 to 20 kilometres (6.2–12.4 mi)"),
        ("6|x|17|m", "6 by 17 metres (20 ft × 56 ft)"),
        ("6|x|17|m|abbr=on", "6 m × 17 m (20 ft × 56 ft)"),
        ("4|and|5|and|6|kg|lb", "4 and 5 and 6 kilograms (8.8 and 11.0 and 13.2 lb)"),
        ("-5|-|-2|C", "−5 – −2 °C (23–28 °F)"),
        ("2|x|3|smoots", "2 by 3 smoots"),
    ],
)
def test_ranges(source: str, expected: str) -> None:
    assert convert(parse_arguments(source), ENGLISH) == expected


@pytest.mark.parametrize(
    ("code", "source", "expected"),
    [
        ("vi", "58|km|mi", "58 km (36 mi)"),
        ("vi", "1,5|m|ft", "1,5 m (4,9 ft)"),
        ("vi", "1.234|m|km", "1.234 m (1,234 km)"),
        ("uk", "1234567|m|km", "1 234 567 м (1234,567 км)"),
        ("el", "0.5|km2|ha", "0,5 τ.χλμ. (50 εκτ.)"),
        ("he", "5|C|F", "5 °C (41 °F)"),
        ("cs", "10|to|20|km|mi", "10–20 km (6,2–12,4 mi)"),
        ("fr", "10|e6acre|km2", "10×10⁶ acre (40 000 km2)"),
    ],
)
def test_other_languages_show_symbols(code: str, source: str, expected: str) -> None:
    page = Page("", load_language(code))
    assert convert_short(parse_arguments(source), page) == expected


@pytest.mark.parametrize(
    ("code", "source", "expected"),
    [
        ("uk", "70|km|mi", "70 кілометрів (43 миль)"),
        ("uk", "1|km|mi", "1 кілометр (0,62 миль)"),
        ("uk", "3|km|mi", "3 кілометри (1,9 миль)"),
        ("pl", "1.5|km|mi", "1,5 kilometra (0,93 mi)"),
        ("de", "2|-|5|mi|km", "2–5 Meilen (3,2–8,0 km)"),
        ("ar", "3|km|mi|abbr=off", "3 كيلومترات (1.9 ميل)"),
        ("ko", "70|km|mi", "70킬로미터 (43 mi)"),
        ("hy", "70|km|mi", "70 կիլոմետր (43 մղ)"),
        ("mr", "1234567|km|mi|0", "१२,३४,५६७ किलोमीटर (७,६७,१२४ मैल)"),
        ("de", "60|km/h|mph", "60 km/h (37 mph)"),
        ("fr", "5|smoots", "5 smoots"),
    ],
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
        ("fa", "1234.5", "۱٬۲۳۴٫۵"),
    ],
)
def test_numbers_as_each_wiki_writes_them(code: str, number: str, expected: str) -> None:
    assert format_number(number, load_language(code).numbers) == expected
