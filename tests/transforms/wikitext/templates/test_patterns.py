"""The display patterns of the template tables."""

import dataclasses

import pytest

from corpusmill.transforms.wikitext.language import load_language
from corpusmill.transforms.wikitext.templates.patterns import Page, compile_pattern

PAGE = Page("", dataclasses.replace(load_language("en"), phrases={"hello": "Hello"}))


@pytest.mark.parametrize(
    ("pattern", "arguments", "expected"),
    [
        ("{1}", {"1": "a", "2": "b"}, "a"),
        ("{2|1}", {"1": "a", "2": ""}, "a"),
        ("{text|1}", {"text": "t", "1": "a"}, "t"),
        ("{1, 2}", {"1": "a", "2": "b"}, "a, b"),
        ("{1, 2}", {"2": "b"}, "b"),
        ("{*}", {"1": "H", "2": "2", "3": "O"}, "H2O"),
        ("{*-}", {"1": "AL", "2": "bee"}, "AL-bee"),
        ("{1:upper}", {"1": "a"}, "A"),
        ("{@hello} {1}", {"1": "a"}, "Hello a"),
        ("{@hello}", {}, "Hello"),
        ("{1}[ ({2})]", {"1": "a"}, "a"),
        ("{1}[ ({2})]", {"1": "a", "2": "b"}, "a (b)"),
        ("{1}[ ({2}[, {3}])]", {"1": "a", "2": "b", "3": "c"}, "a (b, c)"),
        ("⟨{1}⟩", {}, ""),
        ("SS[ {1}]", {}, "SS"),
        (r"\[{1}\]", {"1": "a"}, "[a]"),
        (" – ", {}, " – "),
    ],
)
def test_patterns_show_arguments(pattern: str, arguments: dict[str, str], expected: str) -> None:
    assert compile_pattern(pattern)(arguments, PAGE) == expected


@pytest.mark.parametrize("pattern", ["{1", "a}", "[{1}", "{1}]", "{1}[ [{2}]"])
def test_unbalanced_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="display pattern"):
        compile_pattern(pattern)
