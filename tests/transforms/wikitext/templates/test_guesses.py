"""Templates in no table: a guess repeats the source, and a definition in the dump decides before it."""

import functools
import itertools
import re
from collections.abc import Mapping

import pytest

from corpusmill.transforms.wikitext.clean import CleanedPage, WikitextCleaner
from corpusmill.transforms.wikitext.language import load_language
from corpusmill.transforms.wikitext.templates.definitions import WikiTemplates
from corpusmill.transforms.wikitext.templates.lookup import TemplateTable
from tests.tools.case_tables import read_cases

LANGUAGES = (
    "en", "fr", "de", "it", "pl", "sk", "lv", "hu", "uk", "el", "ja", "ko", "zh-cn", "vi", "ar", "he",
    "hi", "th", "bn", "hy", "sw",
)  # fmt: skip
NAMES = ("zzscore", "Zz", "xqf", "zqopus", "zzrating")
SHAPES = (
    "3|2", "120|45", "4|5|6", "1|2|3|4", "1999|5|4", "25|12|2003", "1999|5|4|2003|6|7", "28|N|55|W",
    "28.5|-55.1", "5", "-5", "12345", "1234567", "5%", "5|km", "5|km|mi", "5|m|s", "3|apples", "5|USD",
    "GER", "USA", "USA|5", "x", "Rome", "Rome|5", "Rome|Milan", "y=1901|p=Rome", "Müller|1999", "GBP|5",
    "1/2", "٣|٢", "৩|২",
)  # fmt: skip
NONE = WikiTemplates()


@functools.cache
def plain_cleaner(language: str) -> WikitextCleaner:
    return WikitextCleaner(load_language(language), {10: ["Template"]})


def clean(wikitext: str, language: str, of_wiki: WikiTemplates = NONE) -> CleanedPage:
    cleaner = plain_cleaner(language)
    if of_wiki is not NONE:
        cleaner = WikitextCleaner(load_language(language), {10: ["Template"]}, of_wiki)
    return cleaner.clean(f"Aaa bbb {wikitext} ccc.", "Page")


def shown(page: CleanedPage) -> str:
    (section,) = page.sections
    text = " ".join(section.paragraphs)
    return text.removeprefix("Aaa bbb").removesuffix("ccc.").strip()


@pytest.mark.parametrize("language", LANGUAGES)
def test_guess_has_only_words_and_signs_of_the_source(language: str) -> None:
    for name, shape in itertools.product(NAMES, SHAPES):
        page = clean(f"{{{{{name}|{shape}}}}}", language)
        left = shown(page).replace(" ", "")
        for value in sorted(re.split(r"[|=]", shape), key=len, reverse=True):
            left = left.replace(value, "", 1)
        assert not left, (name, shape, shown(page))
        counted = page.guessed if shown(page) else page.unrendered
        assert counted == {name.lower(): 1}, (name, shape)


# Language, call, text: "" for a hole
GUESSES = read_cases("wikitext/guesses", "guesses")


@pytest.mark.parametrize(("language", "call", "text"), GUESSES)
def test_guess_of_a_call(language: str, call: str, text: str) -> None:
    page = clean(call, language)
    assert shown(page) == text
    assert bool(page.unrendered) == (not text)
    assert not page.unknown


# Language, templates of the dump (name → definition), call, text
DEFINED: list[tuple[str, Mapping[str, str], str, str]] = read_cases("wikitext/guesses", "defined")


@pytest.mark.parametrize(("language", "definitions", "call", "text"), DEFINED)
def test_definition_in_the_dump_decides_before_a_guess(
    language: str, definitions: Mapping[str, str], call: str, text: str
) -> None:
    assert shown(clean(call, language, WikiTemplates({}, definitions))) == text


def test_redirect_to_the_code_of_a_country_is_the_country() -> None:
    of_wiki = WikiTemplates({"німеччина": "deu"})
    assert shown(clean("{{Німеччина}}", "uk", of_wiki)) == "Німеччина"
    assert shown(clean("{{Німеччина|слово}}", "uk", of_wiki)) == "слово"


@pytest.mark.parametrize("name", ["deu", "val", "ms", "£", "r."])
def test_definition_is_read_where_a_guess_or_a_borrowed_rule_may_be_wrong(name: str) -> None:
    assert not TemplateTable(load_language("hu"), {}, NONE).knows(name)
