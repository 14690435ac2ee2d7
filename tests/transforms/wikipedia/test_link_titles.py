from collections import Counter
from pathlib import Path

import pytest

from corpusmill.transforms.files.records import Article
from corpusmill.transforms.wikipedia.article_rows import pack_article
from corpusmill.transforms.wikipedia.join_wikidata import LinkTitles
from corpusmill.transforms.wikipedia.screening import PageFacts
from corpusmill.transforms.wikipedia.wikidata import Redirect
from tests.makers.changed_wikis import CHANGES, METHODS, Method, Wiki, find_faults
from tests.tools.case_tables import read_tables
from tests.tools.run_pipeline import Outcome, run_inputs

PAGES = 3  # of each kind of change

EXPECTED = read_tables("wikipedia/link_titles")["faults"]
"""Method → kind of change → what becomes of the links of its pages."""


@pytest.mark.parametrize("method", METHODS, ids=[method.name for method in METHODS])
def test_links_of_pages_that_have_changed(method: Method, tmp_path: Path) -> None:
    wiki = Wiki()
    for kind in CHANGES:
        wiki.change(kind, [f"{kind} {number}" for number in range(PAGES)])
    faults = Counter(
        (fault.kind, "wrong" if fault.linked else "missing")
        for fault in find_faults(wiki, method, tmp_path)
    )
    expected = EXPECTED[method.name]
    assert faults == {
        (kind, what): PAGES for kind, faulty in expected.items() for what in faulty.split()
    }


def link(titles: list[str], items: dict[str, str], redirects: list[tuple[str, str]]) -> Outcome:
    articles = [pack_article(Article(page, title, "1", "")) for page, title in enumerate(titles)]
    return run_inputs(
        lambda articles, items, redirects: articles | LinkTitles(items, "title", redirects),
        articles=articles,
        items=items.items(),
        redirects=[Redirect(*one) for one in redirects],
    )


def test_titles_and_redirects_to_them() -> None:
    """Keys are normalised. Two items of redirects to one page cancel out; an article is no redirect."""
    titles = ["Here", "New York City", "Both", "Own", "Both too", "Éclair"]
    items = {
        "Here": "Q1",
        "new_York": "Q2",
        "Old 1": "Q31",
        "Old 2": "Q32",
        "Own": "Q4",
        "Gone": "Q5",
        "Same 1": "Q6",
        "e\u0301clair": "Q8",
    }
    redirects = [
        ("New York", "New_York City"),
        ("Old 1", "Both"),
        ("Old 2", "Both"),
        ("Gone", "Nowhere"),
        ("Same 1", "Both too"),
        ("Same 2", "Both too"),
        ("Here", "Both too"),
    ]
    assert sorted(link(titles, items, redirects).elements["main"]) == [
        (0, PageFacts("Q1", linked_by="title")),
        (1, PageFacts("Q2", linked_by="redirect")),
        (3, PageFacts("Q4", linked_by="title")),
        (4, PageFacts("Q6", linked_by="redirect")),
        (5, PageFacts("Q8", linked_by="title")),
    ]
