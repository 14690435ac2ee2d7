"""The display patterns of the template tables."""

import dataclasses

import pytest

from corpusmill.transforms.wikitext.language import load_language
from corpusmill.transforms.wikitext.templates.patterns import Page, compile_pattern
from tests.tools.case_tables import read_cases

PAGE = Page("", dataclasses.replace(load_language("en"), phrases={"hello": "Hello"}))


@pytest.mark.parametrize(
    ("pattern", "arguments", "expected"), read_cases("wikitext/patterns", "patterns_show_arguments")
)
def test_patterns_show_arguments(pattern: str, arguments: dict[str, str], expected: str) -> None:
    assert compile_pattern(pattern)(arguments, PAGE) == expected


@pytest.mark.parametrize("pattern", ["{1", "a}", "[{1}", "{1}]", "{1}[ [{2}]"])
def test_unbalanced_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="display pattern"):
        compile_pattern(pattern)
