"""Articles as Markdown: cases as data, and bounds on bad input."""

import pytest

from corpusmill.transforms.wikitext.clean import UncleanableError
from tests.tools.growth import call_linear_in
from tests.transforms.wikitext.test_clean import (
    NAMESPACES,
    OPENERS,
    Case,
    cleaner_for,
    read_cases,
)


def markdown(wikitext: str) -> str:
    """The article without its title."""
    text = cleaner_for("en").markdown(wikitext, "T")
    assert text.startswith("# T")
    return text.removeprefix("# T").removeprefix("\n\n")


TABLE = '{| class="wikitable"\n'


@pytest.mark.parametrize("case", read_cases("wikitext/markdown.case"), ids=lambda case: case.label)
def test_case(case: Case) -> None:
    assert markdown(case.wikitext) == case.expected


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
