"""Indents that are code, indents that are layout, and rows of links."""

import pytest

from corpusmill.transforms.wikitext.marks import BREAK, HOLE
from corpusmill.transforms.wikitext.paragraphs import drop_preformatted, join_paragraphs
from tests.tools.growth import call_linear


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n b\nc", "a\n\nc"),
        (" a\nb", "\nb"),
        (f"a\n {'b' * 90}\nc", f"a\n {'b' * 90}\nc"),
        ("<poem>: a\n b</poem>", "<poem>a\nb</poem>"),
        ("<poem>a\n  b\n:c</poem>", "<poem>a\nb\nc</poem>"),
        ("<Blockquote class=x>\n a\n</Blockquote>", "<Blockquote class=x>\na\n</Blockquote>"),
        ("<blockquote>\n a <i>b</i>\n</blockquote>", "<blockquote>\na <i>b</i>\n</blockquote>"),
        ("<poem>\n a\nb", "<poem>\n\nb"),
    ],
)
def test_an_indent_is_code_unless_it_is_quoted(text: str, expected: str) -> None:
    assert drop_preformatted(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb\n\nc", ["a b", "c"]),
        (f"a{BREAK}b", ["a", "b"]),
        (f"a\n{HOLE}\nb", ["a", "b"]),
        ("a\n-----b\nc", ["a", "b c"]),
        ("a ---- b", ["a ---- b"]),
        ("a | b| c | d", []),
        ("a | b", ["a | b"]),
        (f"a | {'b' * 41} | c", [f"a | {'b' * 41} | c"]),
    ],
)
def test_what_parts_paragraphs(text: str, expected: list[str]) -> None:
    assert join_paragraphs(text).split("\n") == (expected or [""])


@pytest.mark.parametrize(
    "unit", ["<poem>", "<poem>\n ", "<blockquote><", "<blockquote>\n <i></", "\n--- ", "\n-----"]
)
def test_time_grows_with_the_length(unit: str) -> None:
    call_linear(
        lambda text: join_paragraphs(drop_preformatted(text)),
        lambda size: unit * (size // len(unit)),
        500_000,
    )
