import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill import clean
from corpusmill.transforms.wikitext.tags import drop_verbatim, split_verbatim
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(
    ("wikitext", "expected"), read_cases("wikitext/verbatim", "what_markup_is_left")
)
def test_what_markup_is_left(wikitext: str, expected: str) -> None:
    assert drop_verbatim(wikitext) == expected


TOKENS = [
    "<!--",
    "-->",
    "<nowiki>",
    "</nowiki>",
    "<pre>",
    "</pre>",
    "<nowiki/>",
    "a",
    "\n",
    "[[b]]",
]


@given(st.lists(st.sampled_from(TOKENS)).map("".join))
def test_nothing_is_lost(wikitext: str) -> None:
    assert "".join(text for text, _ in split_verbatim(wikitext)) == wikitext


def test_many_tags_without_an_end_take_no_longer() -> None:
    assert drop_verbatim("<pre>" * 200_000) == "<pre>" * 200_000


@pytest.mark.parametrize("tag", ["ſource", "nowıki", "ſyntaxhighlight"])
def test_letters_that_only_fold_to_those_of_a_tag_are_no_tag(tag: str) -> None:
    assert drop_verbatim(f"a <{tag}>x</{tag}>") == f"a <{tag}>x</{tag}>"
    assert "x" in str(clean(f"a <{tag}>x</{tag}>", "en"))
