"""Caveats of a build about the tables that link pages."""

import pytest

from corpusmill.pipelines.wiki40b_settings import heading_caveats, linking_caveats
from corpusmill.transforms.wikipedia.wikidata import choose_sources
from tests.tools.case_tables import read_cases

DUMP = "20261101"


@pytest.mark.parametrize(
    ("dates", "page_table", "said"),
    [
        ({}, "", ["pages are not linked to Wikidata"]),
        ({"page_props": DUMP, "entities": DUMP}, "", []),
        ({"page_props": "", "entities": ""}, DUMP, []),
        ({"page_props": DUMP}, "", ["No entity table was given"]),
        ({"page_props": DUMP, "entities": DUMP}, "20261102", []),
        (
            {"page_props": DUMP, "entities": DUMP},
            "20261001",
            ["The page table is of 20261001, and the dump of 20261101"],
        ),
        (
            {"page_props": "20261001", "entities": "20261104"},
            "",
            [
                "by page id in page_props (of 20261001, the dump of 20261101)",
                "Other pages are linked to Wikidata by title in the entity table (of 20261104, the dump of"
                " 20261101): a page that was renamed in between has no entity, and",
            ],
        ),
        (
            {"wb_items_per_site": "20261001", "entities": "20260901"},
            "",
            [
                "Pages are linked to Wikidata by title in wb_items_per_site (of 20261001, the dump of"
                " 20261101): a page that was renamed in between has no entity unless the title redirects"
                " to it since 20261001, and",
            ],
        ),
        (
            {"entities": ""},
            "",
            [
                "by title in the entity table (of an unknown date, the dump of 20261101): a page that was"
                " renamed in between has no entity, and"
            ],
        ),
    ],
)
def test_caveats_of_links(dates: dict[str, str], page_table: str, said: list[str]) -> None:
    sources = choose_sources(DUMP, dates)
    caveats = list(linking_caveats("ukwiki", sources, "entities" in dates, DUMP, page_table))
    assert len(caveats) == len(said)
    for caveat, words in zip(caveats, said, strict=True):
        assert words in caveat


@pytest.mark.parametrize(
    ("code", "learns", "said"), read_cases("pipelines/wiki40b_settings", "caveats_of_headings")
)
def test_caveats_of_headings(code: str, learns: bool, said: str) -> None:
    caveats = list(heading_caveats(code, learns))
    assert len(caveats) == bool(said)
    assert all(said in caveat for caveat in caveats)
