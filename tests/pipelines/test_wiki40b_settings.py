"""Caveats of a build about the tables that link pages."""

import pytest

from corpusmill.pipelines.wiki40b_settings import heading_caveats, linking_caveats
from corpusmill.transforms.wikipedia.wikidata import choose_sources
from tests.tools.case_tables import read_cases

DUMP = "20261101"


@pytest.mark.parametrize(
    ("dates", "page_table", "said"), read_cases("pipelines/wiki40b_settings", "caveats_of_links")
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
