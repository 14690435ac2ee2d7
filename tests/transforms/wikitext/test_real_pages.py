"""The cleaner on real pages: hand-written expectations, and what readers stumble over."""

import bz2
import collections
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

import pytest

from corpusmill.transforms.wikitext.clean import CleanedPage, WikitextCleaner
from corpusmill.transforms.wikitext.language import load_language
from tests.tools.real_data import DATA, needs_real_data

# Namespaces as the <siteinfo> of each dump words them.
NAMESPACES = {
    "en": {6: ["File"], 10: ["Template"], 14: ["Category"]},
    "uk": {6: ["Файл"], 10: ["Шаблон"], 14: ["Категорія"]},
    "el": {6: ["Αρχείο"], 10: ["Πρότυπο"], 14: ["Κατηγορία"]},
    "vi": {6: ["Tập tin"], 10: ["Bản mẫu"], 14: ["Thể loại"]},
}
DUMPS = {
    "en": "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2",
    "uk": "ukwiki-20230501-pages-articles-multistream.xml.bz2",
    "el": "elwiki-20230501-pages-articles-multistream.xml.bz2",
    "vi": "viwiki-20230501-pages-articles-multistream.xml.bz2",
}
PAGES = 40  # of each dump: enough to notice a regression, few enough to be quick

# What is never right in running text, whoever wrote it.
DEBRIS = re.compile(
    r"\{\{|\}\}|\[\[|\]\]|\{\||\|\}|</?(?:ref|br|sub|sup|small|div|span|gallery|table)\b|__[A-Z]+__"
    r"|\|thumb|\bthumb\||\(\s*[,;]|,\s*,|\S  +\S|(?<=\w) ,"
)


def cleaner_for(code: str) -> WikitextCleaner:
    return WikitextCleaner(load_language(code), NAMESPACES[code])


# The gold paragraphs were written with exponents as plain digits.
LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻−ⁿ", "0123456789+--n")


def spaced(text: str) -> str:
    return " ".join(text.split())


def lowered(text: str) -> str:
    return spaced(text).translate(LOWERED)


def shown(page: CleanedPage) -> str:
    texts = [text for section in page.sections for text in (section.heading, *section.paragraphs)]
    return spaced(" ".join(texts))


def read_articles(code: str) -> Iterator[tuple[str, str]]:
    """Yield title and wikitext of the first articles of a dump."""
    count = 0
    with bz2.open(DATA / "wikipedia" / DUMPS[code]) as dump:
        for _, element in ElementTree.iterparse(dump):
            if element.tag.endswith("}page"):
                fields = {child.tag.rpartition("}")[2]: child for child in element.iter()}
                if fields["ns"].text == "0" and "redirect" not in fields:
                    yield fields["title"].text or "", fields["text"].text or ""
                    count += 1
                element.clear()
                if count == PAGES:
                    return


@needs_real_data
@pytest.mark.parametrize("code", ["en", "uk", "vi", "el"])
def test_gold_paragraphs_read_as_on_the_page(code: str) -> None:
    cleaner = cleaner_for(code)
    failed = []
    with (DATA / "gold" / "wikitext_gold.jsonl").open(encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["lang"] == code]
    for row in rows:
        got = shown(cleaner.clean(row["wikitext"], row["page"]))
        if lowered(got) not in map(lowered, row["expected"]):
            failed.append((row["id"], got))
    assert rows
    assert not failed


@needs_real_data
@pytest.mark.parametrize("code", ["en", "uk", "vi", "el"])
def test_few_paragraphs_of_real_pages_are_damaged(code: str) -> None:
    """At most 3 paragraphs in 1,000; what remains is debris of the authors' own."""
    cleaner = cleaner_for(code)
    damaged: list[str] = []
    paragraphs = words = 0
    unrendered: collections.Counter[str] = collections.Counter()
    for title, wikitext in read_articles(code):
        page = cleaner.clean(wikitext, title)
        unrendered.update(page.unrendered)
        for section in page.sections:
            for paragraph in section.paragraphs:
                paragraphs += 1
                words += len(paragraph.split())
                if DEBRIS.search(paragraph):
                    damaged.append(paragraph)
    assert paragraphs > 300
    assert words / paragraphs > 15
    assert len(damaged) <= 3 * paragraphs / 1000 + 1, damaged
    assert unrendered.total() <= paragraphs / 100, unrendered


@needs_real_data
@pytest.mark.parametrize("code", ["uk", "el"])
def test_cleaning_clean_text_again_changes_nothing(code: str) -> None:
    cleaner = cleaner_for(code)
    markup = re.compile(r"[\[\]{}<>|&]|''|^[*#:;!=]|__|^-----*|~~~")
    for title, wikitext in read_articles(code):
        for section in cleaner.clean(wikitext, title).sections:
            texts = tuple(text for text in section.paragraphs if not markup.search(text))
            again = cleaner.clean("\n\n".join(texts), title).sections
            assert (again[0].paragraphs if again else ()) == texts
