"""Articles as Markdown: cases as data, and bounds on bad input."""

import pytest

from corpusmill.transforms.wikitext.clean import UncleanableError
from tests.tools.growth import call_linear_in
from tests.transforms.wikitext.test_clean import NAMESPACES, OPENERS, cleaner_for


def markdown(wikitext: str) -> str:
    """The article without its title."""
    text = cleaner_for("en").markdown(wikitext, "T")
    assert text.startswith("# T")
    return text.removeprefix("# T").removeprefix("\n\n")


TABLE = '{| class="wikitable"\n'
CASES = {
    "a list, nested and numbered, and a paragraph after it": (
        "A [[list|List]]:\n* one\n** two {{lang|la|res}}\n*# a\n*# b\n* three\n# first\n# second\nText.",
        "A List:\n\n- one\n  - two res\n  1. a\n  2. b\n- three\n1. first\n2. second\n\nText.",
    ),
    "items that are empty, a file or a category": (
        "* \n* [[File:a.jpg|thumb]]\n* [[Category:B]]\n* x",
        "- x",
    ),
    "an item that goes on in a template": ("* {{lang|la\n|res}} x\n* y", "- res x\n- y"),
    "headings by their levels; one without text leads to one below": (
        "Lead.\n== A ==\n=== B ===\nText.\n==== C ====\n== D ==\n* x\n== References ==\n* no",
        "Lead.\n\n## A\n\n### B\n\nText.\n\n## D\n\n- x",
    ),
    "a table": (
        TABLE + "|+ Caption\n! A !! scope=col | B\n|-\n| x || [[c|d]]\n|-\n| style='a' | y\n* z\n|}\nText.",
        "| A | B |\n|---|---|\n| x | d |\n| y z |\n\nText.",
    ),
    "cells that take several columns or rows": (
        TABLE + "! rowspan=2 | A\n! colspan=\"2\" | B\n|-\n| b || c\n|}",
        "| A | B |  |\n|---|---|---|\n|  | b | c |",
    ),
    "bars, breaks and templates in cells": (
        TABLE + "| a<br>b || <nowiki>c|d</nowiki>\n|-\n| {{lang|la\n|res}} || [[File:e.jpg|x|y]] z\n|}",
        "| a b | c\\|d |\n|---|---|\n| res | z |",
    ),
    "tables of layout, of one column, and within a table": (
        "{|\n| a || b\n|}\nText.\n" + TABLE + "| c\n|}\n" + TABLE + "| d ||\n{|\n| e\n|}\n|-\n| f || g\n|}",
        "Text.\n\n| d |  |\n|---|---|\n| f | g |",
    ),
    "two tables, one after the other": (
        TABLE + "| a || b\n|}\n" + TABLE + "| c || d\n|}",
        "| a | b |\n|---|---|\n\n| c | d |\n|---|---|",
    ),
    "text that Markdown would read as something else": (
        "1. A\n\n> B\n\n2000 was.\n\n<nowiki>#</nowiki> C",
        "1\\. A\n\n\\> B\n\n2000 was.\n\n\\# C",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_case(case: str) -> None:
    wikitext, expected = CASES[case]
    assert markdown(wikitext) == expected


@pytest.mark.parametrize("code", NAMESPACES)
def test_paragraphs_are_those_of_the_article(code: str) -> None:
    text = "A {{lang|la|res}}, '''b'''.\n\n== C ==\nD [[e|f]].\n\ng"
    page = cleaner_for(code).clean(text, "t")
    sections = (
        [f"## {one.heading}"] * bool(one.heading) + list(one.paragraphs) for one in page.sections
    )
    blocks = ["# t", *(block for section in sections for block in section)]
    assert cleaner_for(code).markdown(text, "t") == "\n\n".join(blocks)


GROWING = {
    "wide cells": TABLE + "|-\n|colspan=99|a\n" * 20_000,
    "high cells": TABLE + "|-\n" + "|rowspan=99|a\n" * 20_000 + "|-\n|b\n" * 20_000 + "|}",
    "one long row": TABLE + "|a" + "||b" * 100_000 + "\n|-\n|c\n" * 100 + "|}",
    "headings": "\n== a ==" * 20_000 + "\nText.",
    "open brackets in cells": TABLE + "|" + "[[a|{{b|" * 20_000 + "\n|}",
    "deep items": "\n" + "*" * 200_000 + "a",
    "items": "\n* [[a]" * 30_000,
    **{repr(one): TABLE + f"|{one}" * 20_000 + "\n|}" for one in OPENERS},
}


@pytest.mark.parametrize("case", GROWING)
def test_time_and_size_are_bounded(case: str) -> None:
    def size_of(text: str) -> int:
        try:
            return len(cleaner_for("en").markdown(text, "T"))
        except UncleanableError:
            return 0

    assert call_linear_in(size_of, GROWING[case]) < 4_000_000 + 8 * len(GROWING[case])
