"""A page in each proven language, and in some without tables of their own, with the wiki's own templates.

`tests/pages/<code>.page` holds "namespaces:" and "title:" lines, "===", the wikitext, "--->",
and what a reader sees: a paragraph a line, "## " before headings. The pages are of our own writing.
"""

import pathlib

import pytest

from corpusmill.transforms.wikitext.clean import WikitextCleaner
from corpusmill.transforms.wikitext.language import load_language
from tests.transforms.wikitext.test_clean import shown

PAGES = pathlib.Path(__file__).parents[2] / "pages"


def parse_namespaces(line: str) -> dict[int, list[str]]:
    """Return number → names of a line such as "6=Datei,Bild 14=Kategorie"."""
    pairs = (part.partition("=") for part in line.split())
    return {int(number): names.replace("_", " ").split(",") for number, _, names in pairs}


CODES = sorted(path.stem for path in PAGES.glob("*.page"))


def cases_of(code: str) -> int:
    """Returns the number of paragraphs that the page of a language must have."""
    text = (PAGES / f"{code}.page").read_text(encoding="utf-8")
    lines = text.partition("\n--->\n")[2].splitlines()
    return sum(bool(line) and not line.startswith("## ") for line in lines)


@pytest.mark.parametrize("code", CODES)
def test_page(code: str) -> None:
    text = (PAGES / f"{code}.page").read_text(encoding="utf-8")
    head, _, body = text.partition("\n===\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    wikitext, _, expected = body.partition("\n--->\n")
    cleaner = WikitextCleaner(load_language(code), parse_namespaces(fields["namespaces"]))
    cleaned = cleaner.clean(wikitext, fields["title"])
    assert shown(cleaned).splitlines() == expected.strip("\n").splitlines()
    assert cleaned.unrendered == {}
