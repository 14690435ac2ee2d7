from corpusmill.transforms.files.counters import ScreenPages
from corpusmill.transforms.files.records import Page, Rejected
from corpusmill.transforms.wikipedia.screening import PageScreening
from corpusmill.transforms.wikitext.language import load_language
from tests.tools.run_pipeline import run_transform

PAGE = Page(1, 0, "Henn", 10, "wikitext", False, False, "A river.")
PAGES = [
    PAGE,
    PAGE._replace(page_id=2, title="Category:Rivers", namespace=14),
    PAGE._replace(page_id=3, title="Harl", is_redirect=True),
    PAGE._replace(page_id=4, title="Category:Hills", namespace=14),
    PAGE._replace(page_id=5, title="Marrow", text="{{disambiguation}}"),
    PAGE._replace(page_id=6, title="Gone", is_deleted=True, text=""),
]


def test_kept_and_rejected_are_what_was_read_and_every_reason_is_counted() -> None:
    outcome = run_transform(ScreenPages(PageScreening(load_language("en")).reason_to_reject), PAGES)
    assert sorted(outcome.elements["kept"]) == [PAGES[0], PAGES[4]]
    assert sorted(outcome.elements["rejected"]) == [
        Rejected("2", "Category:Rivers", "screen-pages", "other-namespace", "14"),
        Rejected("3", "Harl", "screen-pages", "redirect", ""),
        Rejected("4", "Category:Hills", "screen-pages", "other-namespace", "14"),
        Rejected("6", "Gone", "screen-pages", "deleted", "text suppressed"),
    ]
    assert outcome.counters == {
        "screen-pages/other-namespace": 2,
        "screen-pages/redirect": 1,
        "screen-pages/deleted": 1,
    }
