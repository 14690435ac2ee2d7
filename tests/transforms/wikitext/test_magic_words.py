"""Variables, parser functions and behavior switches, by their names in the languages of the wikis."""

import pytest

from corpusmill.transforms.wikitext.clean import WikitextCleaner
from corpusmill.transforms.wikitext.language import load_language, read_table
from corpusmill.transforms.wikitext.tags import drop_switches
from corpusmill.transforms.wikitext.templates.definitions import WikiTemplates
from corpusmill.transforms.wikitext.templates.parser_functions import MAGIC_WORDS
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES, languages_of_wiki
from tests.tools.case_tables import read_cases
from tests.tools.growth import call_linear_in
from tests.transforms.wikitext.test_clean import cleaner_for, shown

TABLES = (
    "names_in_the_wiki_s_language", "names_of_templates", "choices", "plurals", "numbers", "times",
)  # fmt: skip
WORDS = read_table("languages", "magic_words")["words"]


@pytest.mark.parametrize(
    ("code", "wikitext", "expected"),
    [case for table in TABLES for case in read_cases("wikitext/magic_words", table)],
)
def test_functions_show_what_mediawiki_shows(code: str, wikitext: str, expected: str) -> None:
    assert shown(cleaner_for(code).clean(wikitext, "Title one")) == expected


@pytest.mark.parametrize(
    ("code", "definition", "wikitext", "expected"),
    read_cases("wikitext/magic_words", "in_definitions"),
)
def test_functions_in_definitions_have_local_names(
    code: str, definition: str, wikitext: str, expected: str
) -> None:
    cleaner = WikitextCleaner(load_language(code), {}, WikiTemplates({}, {"x": definition}))
    assert shown(cleaner.clean(wikitext, "Title one")) == expected


@pytest.mark.parametrize("code", [*LANGUAGE_CODES, "bn", "ta", "km", "ka", "hy", "be-tarask"])
def test_all_names_of_the_title_show_it(code: str) -> None:
    cleaner = cleaner_for(code)
    for language in languages_of_wiki(code):
        for name in WORDS.get(language, {}).get("PAGENAME", ()):
            assert shown(cleaner.clean(f"{{{{{name}}}}} 1.", "Köln")) == "Köln 1."


def test_all_words_have_the_key_of_a_function() -> None:
    assert {key for words in WORDS.values() for key in words} <= MAGIC_WORDS


def test_all_switches_are_dropped() -> None:
    words = read_table("languages", "mediawiki")["switches"]
    closed = [word for word in words if word[:2] == word[-2:] and word[-3] != "_"]
    assert len(closed) > 1_000
    assert [word for word in closed if drop_switches(f"a{word}b") != "ab"] == []


@pytest.mark.parametrize("text", ["__a", "__", "__TO C", "＿＿目", "_ _", "__TOC__"])
def test_dropping_switches_takes_linear_time(text: str) -> None:
    call_linear_in(drop_switches, text * 50_000)
