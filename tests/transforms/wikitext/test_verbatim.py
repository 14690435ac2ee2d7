import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.wikitext.tags import drop_verbatim, split_verbatim


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        ("a b", "a b"),
        ("a <!-- b --> c", "a  c"),
        ("a <!-- b", "a "),
        ("a <nowiki>b</nowiki> c", "a  c"),
        ("a <NoWiki>b</nowiki > c", "a  c"),
        ("a <nowiki/>b</nowiki> c", "a <nowiki/>b</nowiki> c"),
        ("a <nowiki> b <nowiki> c", "a <nowiki> b <nowiki> c"),
        ('a <source lang="c">b</source> c', "a  c"),
        ("a <pre><!-- b</pre> c", "a  c"),
        ("a <!-- <pre> --> b </pre> c", "a  b </pre> c"),
        ("a <math>x</nowiki> c", "a <math>x</nowiki> c"),
        ("a <chemistry>b</chemistry>", "a <chemistry>b</chemistry>"),
        ("א <!-- ב --> 日本 <pre>ไทย</pre>", "א  日本 "),
    ],
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
