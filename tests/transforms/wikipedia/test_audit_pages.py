"""The sample of an audit, and what becomes of its pages."""

import random
from collections.abc import Sequence

import pytest

from corpusmill.transforms.files.records import Article, Page, Rejected
from corpusmill.transforms.wikipedia import audit_pages
from corpusmill.transforms.wikipedia.audit_pages import AuditPages, hash_of
from corpusmill.transforms.wikitext.audit.audit_report import AuditTask
from corpusmill.transforms.wikitext.audit.holes import NOTHING, AuditedPage
from tests.tools.run_pipeline import run_inputs

PROSE = "The lake lies at {{coord|28|N|55|W}} and is deep and cold all year."
TEXT = "\n_START_ARTICLE_\nLake\n_START_PARAGRAPH_\nThe lake lies at and is deep and cold all year."
PAGES = [Page(number, 0, "Lake", 1, "wikitext", False, False, PROSE) for number in range(40)]
ARTICLES = [Article(page.page_id, page.title, "1", TEXT) for page in PAGES]


def audit(
    size: int,
    pages: list[Page],
    articles: list[Article],
    dump_bytes: int = 0,
    workers: int = 0,
    rejected: Sequence[Rejected] = (),
) -> list[AuditedPage]:
    transform = AuditPages(size, dump_bytes, {6: ("Файл",)})
    outcome = run_inputs(
        lambda **of_wiki: of_wiki | transform,
        workers,
        pages=pages,
        articles=articles,
        rejected=rejected,
    )
    return sorted(outcome.elements["main"])


def test_the_same_pages_in_any_order_and_for_any_number_of_workers() -> None:
    smallest = sorted(sorted(range(40), key=hash_of)[:5])
    audited = audit(5, PAGES, ARTICLES)
    assert [page.page_id for page in audited] == smallest
    assert [[hole.kind for hole in page.comparison.holes] for page in audited] == [["template"]] * 5
    pages, articles = random.sample(PAGES, 40), random.sample(ARTICLES, 40)
    assert audit(5, pages, articles, workers=2) == audited


def test_most_pages_of_a_large_dump_are_passed_by_after_one_hash() -> None:
    bound = 2**63 * audit_pages._SPARE * audit_pages._DUMP_BYTES // (4 * 10**5)
    below = [page.page_id for page in PAGES if hash_of(page.page_id) < bound]
    assert 0 < len(below) < 20
    assert [page.page_id for page in audit(1, PAGES, ARTICLES, 4 * 10**5)] == [
        min(below, key=hash_of)
    ]


def test_a_page_that_is_not_audited_has_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_pages, "MAX_CHARACTERS", len(PROSE))
    stage = "clean-wikitext"
    rejected = [
        Rejected("2", "Lake", stage, "too-short"),
        Rejected("3", "Lake", stage, "empty-after-cleaning"),
    ]
    lost = PAGES[3]._replace(text="The lake lies in the north and is deep and cold all year.")
    pages = [PAGES[0], PAGES[1]._replace(text=PROSE + "."), PAGES[2], lost]
    whole, _, short, empty = found = audit(5, pages, ARTICLES[:2], rejected=rejected)
    assert [page.reason for page in found] == ["", "too-long", "too-short", ""]
    assert len(whole.comparison.holes) == 1
    assert short.comparison.holes == ()
    # The text of a page that lost all of it is looked for.
    assert [hole.kind for hole in empty.comparison.holes] == ["dropped-paragraph"]


def test_a_page_that_takes_too_long_is_not_audited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_pages, "MAX_SECONDS", 0.0)
    auditor = audit_pages._Audit(frozenset())
    auditor.setup()
    task = AuditTask(PROSE, TEXT, frozenset())
    assert auditor._compare(task) == ("too-slow", NOTHING)
    auditor.teardown()


def test_no_pages() -> None:
    assert audit(5, [], []) == []
