"""Parts of a page, the text that they became, and the rules that are named for it."""

import pathlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.wikitext import language
from corpusmill.transforms.wikitext.clean import MAX_CHARACTERS, WikitextCleaner
from corpusmill.transforms.wikitext.explain.explained_page import (
    DROPPED,
    EMPTY,
    KEPT,
    LOST,
    ExplainedSection,
    Piece,
    explain_page,
)
from corpusmill.transforms.wikitext.language import load_language
from corpusmill.transforms.wikitext.templates.definitions import WikiTemplates
from tests.tools.case_tables import read_cases

NAMESPACES = {-2: ["Медіа"], 6: ["Файл"], 10: ["Шаблон"], 14: ["Категорія"]}
OF_WIKI = WikiTemplates(
    aliases={"зввш": "заввишки", "градус": "°c", "до себе": "до себе"},
    definitions={"заввишки": "{{{1}}} м заввишки", "позначка": ""},
)
UK = load_language("uk")
CLEANER = pathlib.Path(language.__file__).parent


def explain(wikitext: str, of_wiki: WikiTemplates = OF_WIKI) -> list[ExplainedSection]:
    return list(explain_page(wikitext, "Сторінка", UK, NAMESPACES, of_wiki).sections)


def pieces_of(wikitext: str) -> list[Piece]:
    return [piece for section in explain(wikitext) for piece in section.pieces]


# Rows: a part of a sentence, what it becomes, words of the rule, the end of its place without the line.
PARTS = read_cases("wikitext/explained_page", "parts")


@pytest.mark.parametrize(("source", "shown", "words", "place"), PARTS, ids=lambda one: str(one))
def test_a_part_becomes_what_the_rule_says(source: str, shown: str, words: str, place: str) -> None:
    piece = next(
        one for one in pieces_of(f"Тут є слово {source} у реченні.") if one.source == source
    )
    assert piece.shown == shown
    assert words in piece.rule.text
    assert piece.rule.place.partition(".toml:")[0].endswith(place.removesuffix(".toml"))
    assert place in ("", "the dump") or (CLEANER / piece.rule.place.partition(":")[0]).is_file()
    text = f"Тут є слово {source} у реченні."
    assert text[piece.start : piece.end] == source


SECTIONS = [
    ("Речення тут є.", KEPT, ""),
    ("== Історія ==\nРечення тут є.", KEPT, ""),
    ("== Історія ==\n* рядок", EMPTY, ""),
    ("== Примітки ==\nРечення тут є.", DROPPED, "languages/uk.toml:"),
    ("== References ==\nРечення тут є.", DROPPED, "languages/common.toml:"),
    ("== Література ==\nРечення тут є.", DROPPED, "languages/uk.toml:"),
    ("=== Література ===\nРечення тут є.", KEPT, ""),
    ("== {{Км}} Примітки ==\nРечення тут є.", KEPT, ""),
    ("== ''Примітки'' ==\nРечення тут є.", DROPPED, "languages/uk.toml:"),
    ("== Примітки ==\n=== Історія ===\nРечення тут є.", DROPPED, ""),
]


@pytest.mark.parametrize(("wikitext", "fate", "place"), SECTIONS)
def test_a_section_has_its_fate(wikitext: str, fate: str, place: str) -> None:
    section = explain(wikitext)[-1]
    assert section.fate == fate
    assert (section.rule is not None) == (fate == DROPPED)
    assert not place or (section.rule and section.rule.place.startswith(place))


def test_nested_templates_are_both_told() -> None:
    found = {one.source: one.shown for one in pieces_of("Є {{abbr|{{Км}}|кілометр}} шляху.")}
    assert found == {"{{Км}}": "км", "{{abbr|{{Км}}|кілометр}}": "км"}


def test_what_stands_in_a_line_that_is_no_prose_is_not_in_the_text() -> None:
    (piece,) = pieces_of("Речення є.\n* [[рядок]] списку")
    assert piece.shown == ""
    assert piece.rule.text.endswith("is not prose")


def test_a_heading_in_a_comment_is_no_section() -> None:
    sections = explain("Одне є.\n<!--\n== Примітки ==\n-->\nДва є.\n== Історія ==\nТри є.")
    assert [(one.heading, one.fate) for one in sections] == [("", KEPT), ("Історія", KEPT)]


def test_a_page_that_cannot_be_cleaned_says_why() -> None:
    page = explain_page("x" * (MAX_CHARACTERS + 1), "A", UK, NAMESPACES)
    assert page.cleaned is None
    assert page.fault.startswith("too-long: ")
    assert page.sections[0].fate == LOST


_MARKUP = read_cases("wikitext/explained_page", "markup")


@settings(max_examples=40)
@given(st.lists(st.sampled_from(_MARKUP), max_size=14).map("".join))
def test_the_text_is_that_of_the_cleaner(wikitext: str) -> None:
    cleaned = WikitextCleaner(UK, NAMESPACES, OF_WIKI).clean(wikitext, "Сторінка")
    page = explain_page(wikitext, "Сторінка", UK, NAMESPACES, OF_WIKI)
    assert page.cleaned == cleaned
    texts = tuple(one.text for one in page.sections if one.text.paragraphs)
    assert texts == cleaned.sections
    for section in page.sections:
        for piece in section.pieces:
            assert piece.start < 0 or 0 <= piece.start < piece.end <= len(section.source)
