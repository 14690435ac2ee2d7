from pathlib import Path

import apache_beam as beam
import pytest

from corpusmill.transforms.files.records import Article, Page, Rejected
from corpusmill.transforms.wikipedia import clean_wikitext
from corpusmill.transforms.wikitext import clean
from corpusmill.transforms.wikitext.language import load_language
from corpusmill.transforms.wikitext.templates.definitions import NO_TEMPLATES
from tests.tools.run_pipeline import run_pipeline, run_transform

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


@pytest.mark.parametrize("is_held", [False, True])
def test_articles_and_rejections(
    is_held: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(clean, "MAX_CHARACTERS", 20_000)
    monkeypatch.setattr(clean_wikitext, "HELD_CHARACTERS", 100)
    pages = [
        page(1, "Генн", PROSE),
        page(2, "Порожня", "[[Категорія:Річки]]\n"),
        page(3, "Довга", "а" * 20_001),
        page(4, "Складена", "_START_<!-- -->SECTION_ у тексті."),
        page(5, "Складений заголовок", "Текст.\n\n== _NEW<!-- -->LINE_ ==\nТекст."),
        page(6, "Глибока", "Текст. " + "{{w|" * 1000 + "а" + "}}" * 1000),
    ]

    def apply(root: beam.Pipeline) -> clean_wikitext.Cleaned:
        templates = root | "Templates" >> beam.Create([NO_TEMPLATES]) if is_held else None
        wiki = load_language("uk"), NAMESPACES
        cleaned = clean_wikitext.CleanWikitext(*wiki, templates, str(tmp_path))
        return root | "Pages" >> beam.Create(pages, reshuffle=False) | cleaned

    outcome = run_pipeline(apply)
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
        **({"hold-pages/pages": 6, "hold-pages/cleaned": 6} if is_held else {}),
    }


def test_namespace_names_come_from_the_dump() -> None:
    outcome = run_transform(
        clean_wikitext.CleanWikitext(load_language("uk"), {6: ("Світлина",)}),
        [page(1, "Генн", "Річка. [[Світлина:A.jpg|міні|Підпис]]")],
    )
    (article,) = outcome.elements["kept"]
    assert article.text == "\n_START_ARTICLE_\nГенн\n_START_PARAGRAPH_\nРічка."


def test_sentences_with_unknown_values_are_counted() -> None:
    text = "Річка. Має {{Населення|Генн}} людей і {{Вік|1950}} років. {{Невідомий}} є."
    outcome = run_transform(
        clean_wikitext.CleanWikitext(load_language("uk"), {}), [page(1, "Генн", text)]
    )
    (article,) = outcome.elements["kept"]
    assert article.text.endswith("_START_PARAGRAPH_\nРічка. є.")
    assert sorted(outcome.elements["unrendered"]) == [
        clean_wikitext.Unrendered("вік", 1, "Генн", clean_wikitext.NO_SENTENCE),
        clean_wikitext.Unrendered("населення", 1, "Генн", clean_wikitext.NO_SENTENCE),
        clean_wikitext.Unrendered("невідомий", 1, "Генн"),
    ]
    assert outcome.counters == {
        "clean-wikitext/cleaned": 1,
        "clean-wikitext/unknown-values": 2,
        "clean-wikitext/dropped-sentences": 1,
        "clean-wikitext/words-of-dropped-sentences": 4,
        "clean-wikitext/unrendered": 1,
    }


def test_stubs_are_rejected_where_that_is_wanted() -> None:
    pages = [page(1, "Генн", PROSE), page(2, "1852", "'''1852''' — рік. Два слова.")]
    cleaner = clean_wikitext.CleanWikitext(load_language("uk"), NAMESPACES, min_words=6)
    outcome = run_transform(cleaner, pages)
    assert [article.title for article in outcome.elements["kept"]] == ["Генн"]
    (stub,) = outcome.elements["rejected"]
    assert stub == Rejected("2", "1852", "clean-wikitext", "few-words", "5")
