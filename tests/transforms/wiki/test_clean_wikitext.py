import pytest

from tests.tools.run_pipeline import run_transform
from transforms.records import Article, Page, Rejected
from transforms.text.wikimedia.language import load_language
from transforms.text.wikimedia.wikitext import clean
from transforms.wiki.clean_wikitext import CleanWikitext

NAMESPACES = {6: ("Файл",), 14: ("Категорія",)}


def page(page_id: int, title: str, text: str) -> Page:
    return Page(page_id, 0, title, page_id * 100, "wikitext", False, False, text)


PROSE = """\
'''Генн''' — [[річка]].

[[Файл:Henn.jpg|міні|Підпис]]

== Назва ==
Стара назва.

Друга.

[[Категорія:Річки]]
"""
TEXT = (
    "\n_START_ARTICLE_\nГенн\n_START_PARAGRAPH_\nГенн — річка."
    "\n_START_SECTION_\nНазва\n_START_PARAGRAPH_\nСтара назва._NEWLINE_Друга."
)


def test_articles_and_rejections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clean, "MAX_CHARACTERS", 20_000)
    pages = [
        page(1, "Генн", PROSE),
        page(2, "Порожня", "[[Категорія:Річки]]\n"),
        page(3, "Довга", "а" * 20_001),
        page(4, "Складена", "_START_<!-- -->SECTION_ у тексті."),
        page(5, "Складений заголовок", "Текст.\n\n== _NEW<!-- -->LINE_ ==\nТекст."),
        page(6, "Глибока", "Текст. " + "{{w|" * 1000 + "а" + "}}" * 1000),
    ]
    outcome = run_transform(CleanWikitext(load_language("uk"), NAMESPACES), pages)
    assert outcome.elements["kept"] == [Article(1, "Генн", "100", TEXT)]
    rejected = sorted(outcome.elements["rejected"])
    deep = rejected.pop()
    assert rejected == [
        Rejected("2", "Порожня", "clean-wikitext", "empty-after-cleaning"),
        Rejected("3", "Довга", "clean-wikitext", "too-long", rejected[1].detail),
        Rejected("4", "Складена", "clean-wikitext", "marker-in-source", "after cleaning"),
        Rejected(
            "5", "Складений заголовок", "clean-wikitext", "marker-in-source", "after cleaning"
        ),
    ]
    assert "20001 characters" in rejected[1].detail
    assert deep._replace(detail="") == Rejected("6", "Глибока", "clean-wikitext", "too-deep")
    assert outcome.counters == {
        "clean-wikitext/cleaned": 1,
        "clean-wikitext/empty-after-cleaning": 1,
        "clean-wikitext/too-long": 1,
        "clean-wikitext/too-deep": 1,
        "clean-wikitext/marker-in-source": 2,
    }


def test_namespace_names_come_from_the_dump() -> None:
    outcome = run_transform(
        CleanWikitext(load_language("uk"), {6: ("Світлина",)}),
        [page(1, "Генн", "Річка. [[Світлина:A.jpg|міні|Підпис]]")],
    )
    (article,) = outcome.elements["kept"]
    assert article.text == "\n_START_ARTICLE_\nГенн\n_START_PARAGRAPH_\nРічка."
