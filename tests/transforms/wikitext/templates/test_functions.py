"""Templates whose text has to be worked out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.wikitext.language import load_language
from corpusmill.transforms.wikitext.marks import HOLE
from corpusmill.transforms.wikitext.templates.expand import parse_arguments
from corpusmill.transforms.wikitext.templates.functions import FUNCTIONS
from corpusmill.transforms.wikitext.templates.patterns import FORMATTERS, Page
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(
    ("function", "code", "source", "expected"),
    [
        *read_cases("wikitext/functions", "functions"),
        ("age", "en", "1989|7|23", HOLE),
        ("age", "en", "1989|13|45|2003|7|22", HOLE),
        ("age_in_years_and_days", "en", "9999|1|1|9999|12|31", HOLE),
        ("number_in_words", "en", "9" * 99, "9" * 99),
    ],
)
def test_functions(function: str, code: str, source: str, expected: str) -> None:
    page = Page("", load_language(code))
    assert FUNCTIONS[function](parse_arguments(source), page) == expected


@pytest.mark.parametrize(
    ("letters", "expected"),
    [("ד", "ד'"), ("מד", 'מ"ד'), ("קכא", 'קכ"א'), ("4", "4"), ('מ"ד', 'מ"ד'), ("", "")],
)
def test_hebrew_numbers(letters: str, expected: str) -> None:
    assert FORMATTERS["hebrew_number"](letters, load_language("he")) == expected


WORDS = st.sampled_from((
    "", "0", "-1", "12", "1e5", "1e999", "½", "²", "١٢", "m", "ftin", "km mi", "hand", "C", "to",
    "x", "±", "1/0", "1+1/2", "de", "USD", "{", "}", "2000", "13", "99999", "yes", "on", "(2-)",
))  # fmt: skip
NAMES = st.sampled_from("1 2 3 4 5 6 7 abbr adj disp order sigfig round frac e u df year".split())


@given(st.dictionaries(NAMES, WORDS), st.sampled_from(["en", "uk", "vi", "fa", "ja"]))
@settings(max_examples=60, deadline=None)
def test_functions_show_something_for_any_arguments(arguments: dict[str, str], code: str) -> None:
    page = Page("", load_language(code))
    for name, function in FUNCTIONS.items():
        shown = function({"label": "x", **arguments}, page)
        assert isinstance(shown, str), name
        assert len(shown) < 2_000, name
