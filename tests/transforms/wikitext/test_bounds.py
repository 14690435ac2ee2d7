"""Pages made to break the cleaner: it takes them in little time and memory, or rejects them."""

import pytest

from corpusmill.transforms.wikitext.clean import WikitextCleaner
from corpusmill.transforms.wikitext.language import load_language
from corpusmill.transforms.wikitext.templates.definitions import NO_TEMPLATES, WikiTemplates
from tests.tools.growth import call_linear_in
from tests.transforms.wikitext.test_clean import shown


def clean(text: str, language: str = "en", templates: WikiTemplates = NO_TEMPLATES) -> str:
    return shown(WikitextCleaner(load_language(language), {}, templates).clean(text, "T"))


GROWING = {
    "conversions that show an argument twice": (
        "en", "a " + "{{convert|1|m|ft|" * 40 + "X" + "|disp=preunit}}" * 40,
    ),
    "conversions that show it with each value": (
        "en", "a " + "{{convert|1|x|2|x|3|x|4|m|ft|adj=mid|abbr=on|" * 40 + "X" + "}}" * 40,
    ),
    "rules that describe themselves": ("zh-cn", "字 " + "-{A;D|" * 10 + "x" + "}-" * 10),
    "a filler longer than what it fills": ("en", "a {{padleft:x|500|" + "f" * 2_000_000 + "}}"),
}  # fmt: skip
SLOW = {
    "amounts without a value in an open bracket": ("en", "a (" + "${{x}} " * 50_000),
    "a quantity of many parts": ("fr", "a {{unité|1|" + "à|1|" * 100_000 + "}}"),
    "a number in many functions": ("en", "a " + "{{formatnum:" * 99 + "1" * 400_000 + "}}" * 99),
    "a formula in many templates": ("en", "a " + "{{chem2|" * 99 + "H" * 400_000 + "}}" * 99),
    "the same heading over and over": ("en", "\n=={{b}}==\nb" * 40_000),
}


@pytest.mark.parametrize("case", {**GROWING, **SLOW})
def test_time_and_size_are_bounded(case: str) -> None:
    language, text = {**GROWING, **SLOW}[case]
    result = call_linear_in(lambda text: clean(text, language), text)
    assert len(result) < 4_000_000 + len(text)


@pytest.mark.parametrize("times", [2, 3, 8])
def test_braces_in_a_value_are_text(times: int) -> None:
    value = "{{(}}{{(}}{{(}}a{{)}}{{)}}{{)}}"
    defined = WikiTemplates({}, {"dd": "v {{{a}}} w"})
    result = clean(f"A {{{{dd|a={value * times}}}}} b.", templates=defined)
    assert result == f"A v {'{{{a}}}' * times} w b."


def test_a_definition_that_is_nested_too_deep_is_a_hole() -> None:
    deep = WikiTemplates({}, {"d": "{{lc:" * 110 + "x" + "}}" * 110})
    assert clean("A text {{d}} is here.", templates=deep) == "A text is here."


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("One -{H|\n== A ==\n}- two.", "en", "One -{H|\n## A\n}- two."),
        ("a {{pop density|100|7|km2|sqmi|prec=-1}} b", "en", "a 14/km2 (37/sq mi) b"),
        ("a {{pop density|100|7|Satz}} b", "de", "a b"),
        ("字 \ud800 文", "zh-cn", "字 文"),
    ],
)
def test_what_once_broke(text: str, language: str, expected: str) -> None:
    assert clean(text, language) == expected
