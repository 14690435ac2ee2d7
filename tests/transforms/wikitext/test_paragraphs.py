"""Indents that are code, indents that are layout, and rows of links."""

import pytest

from corpusmill.transforms.wikitext.marks import BREAK, HOLE
from corpusmill.transforms.wikitext.paragraphs import drop_preformatted, join_paragraphs
from tests.tools.case_tables import read_cases
from tests.tools.growth import call_linear


def written(text: str) -> str:
    """A text of the table, in which names stand for signs and for what is long."""
    return text.replace("BREAK", BREAK).replace("HOLE", HOLE).replace("LONG", "b" * 41)


@pytest.mark.parametrize(("text", "expected"), read_cases("wikitext/paragraphs", "indents"))
def test_an_indent_is_code_unless_it_is_quoted(text: str, expected: str) -> None:
    assert drop_preformatted(text.replace("CODE", "b" * 90)) == expected.replace("CODE", "b" * 90)


@pytest.mark.parametrize(("text", "expected"), read_cases("wikitext/paragraphs", "parts"))
def test_what_parts_paragraphs(text: str, expected: list[str]) -> None:
    assert join_paragraphs(written(text)) == "\n".join(map(written, expected))


@pytest.mark.parametrize(
    "unit", ["<poem>", "<poem>\n ", "<blockquote><", "<blockquote>\n <i></", "\n--- ", "\n-----"]
)
def test_time_grows_with_the_length(unit: str) -> None:
    call_linear(
        lambda text: join_paragraphs(drop_preformatted(text)),
        lambda size: unit * (size // len(unit)),
        500_000,
    )
