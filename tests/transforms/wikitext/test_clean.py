"""The cleaner as a whole: cases as data, laws over generated text, and bounds on bad input."""

import contextlib
import pathlib
import pickle
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.wikitext.clean import (
    MAX_CHARACTERS,
    CleanedPage,
    UncleanableError,
    WikitextCleaner,
)
from corpusmill.transforms.wikitext.language import load_language
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES
from tests.tools.growth import call_linear

CASES = pathlib.Path(__file__).parents[2] / "cases"
NAMESPACES = {
    "en": {-2: ["Media"], 6: ["File"], 10: ["Template"], 14: ["Category"]},
    "uk": {-2: ["Медіа"], 6: ["Файл"], 10: ["Шаблон"], 14: ["Категорія"]},
    "el": {-2: ["Μέσο"], 6: ["Αρχείο"], 10: ["Πρότυπο"], 14: ["Κατηγορία"]},
    "vi": {-2: ["Phương tiện"], 6: ["Tập tin"], 10: ["Bản mẫu"], 14: ["Thể loại"]},
}


class Case(NamedTuple):
    """A case of a .case file: "=== label | language", the wikitext, "--->", what is shown."""

    label: str
    language: str
    wikitext: str
    expected: str  # a paragraph a line, "## " before headings


def read_cases(pattern: str = "*.case") -> list[Case]:
    cases = []
    for path in sorted(CASES.glob(pattern)):
        for block in path.read_text(encoding="utf-8").removeprefix("=== ").split("\n\n=== "):
            head, _, body = block.partition("\n")
            label, _, language = head.rpartition(" | ")
            wikitext, _, expected = body.partition("\n--->\n")
            cases.append(Case(label, language, wikitext, expected.strip("\n")))
    return cases


def cleaner_for(code: str) -> WikitextCleaner:
    return WikitextCleaner(load_language(code), NAMESPACES.get(code, {}))


def shown(page: CleanedPage) -> str:
    lines: list[str] = []
    for section in page.sections:
        lines += [f"## {section.heading}"] if section.heading else []
        lines += section.paragraphs
    return "\n".join(lines)


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: f"{case.language}: {case.label}")
def test_case(case: Case) -> None:
    page = cleaner_for(case.language).clean(case.wikitext, "Test page")
    assert shown(page) == case.expected


def test_unknown_templates_in_prose_are_counted_and_blocks_are_not() -> None:
    text = "{{Some box|a}}\n\nProse {{Odd one|x}} and {{odd_one}}.{{cn}}\n* {{In a list}}\n"
    page = cleaner_for("en").clean(text, "")
    assert (page.unrendered, page.guessed) == ({"odd one": 1}, {"odd one": 1})


def test_a_pickled_cleaner_cleans_alike() -> None:
    cleaner = cleaner_for("uk")
    text = "[[Файл:a.jpg|міні|b]]'''Слово''' ({{lang-en|word}})."
    assert pickle.loads(pickle.dumps(cleaner)).clean(text, "t") == cleaner.clean(text, "t")


@pytest.mark.parametrize("code", LANGUAGE_CODES)
def test_every_language_compiles_its_patterns_and_cleans(code: str) -> None:
    page = cleaner_for(code).clean("A {{lang|la|res}}.\n== References ==\nB\n", "t")
    assert shown(page) == "A res."


def test_a_page_longer_than_mediawiki_saves_is_rejected() -> None:
    with pytest.raises(UncleanableError) as caught:
        cleaner_for("en").clean("a" * (MAX_CHARACTERS + 1), "t")
    assert caught.value.reason == "too-long"


def test_deep_nesting_is_rejected() -> None:
    with pytest.raises(UncleanableError) as caught:
        cleaner_for("en").clean("{{lang|la|" * 200 + "x" + "}}" * 200, "t")
    assert caught.value.reason == "too-deep"


OPENERS = [
    "{{", "[[", "\n{|", "<ref>", "'''", "-{", "{{{", "<", "[http://", "\n==", "&", "[[a|", "a | ",
    "[[File:", "[[a:b|[", "{{lang|ru|", "{{{1|", "<!--", "<math>", "<table>", "[http://a ", " • ",
    "({{x}}, ", "__A_", "{{[[", "[[{{", "{|{{", "'''[[", "<ref>{{", "{{a|[[b", "-{{{", "<span {{",
    "\n:{{", "}}", "]]", "{{x}},", "{{x}} – ", "template:", "\\,", "zh;", " ", "1", "=", "\n ",
    "a b c:\n* ", ":\n", "\n[[a]] - ", "\na - ", "<sup>1", "<b style='display:none'>", "[[a%41''", "__a_",
    "[[[", "]]]", "[[|a", "[[[a]]]", "//<nowiki>x</nowiki>", "[http://a <b ", "\n|a", "<nowiki / >",
    "<q>", "</q><q>", "{{{1|a", "{{{1|{{a}}", "{{{1|a|b}}}", "__a", "{{#switch:a|#default|", "{{#time:Y|",
    "\n{{{!}}a", "{{PLURAL:5|a|",
]  # fmt: skip


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize(
    ("head", "tail"),
    [("", ""),
     *(pytest.param(head, tail, marks=pytest.mark.slow) for head, tail in [
         ("", "x}}]]\n|}</ref>"), ("(", ""), ("-{", "}-"), ("<math>", "x</math>"),
         ("{{", "}}"), ("{{convert|", "|km}}"), ("{{as of|1|", "}}")])],
)  # fmt: skip
def test_time_grows_with_the_length_of_bad_input(opener: str, head: str, tail: str) -> None:
    call_linear(_clean, lambda size: head + opener * (size // len(opener)) + tail, 100_000)


def _clean(text: str) -> None:
    with contextlib.suppress(UncleanableError):
        cleaner_for("en").clean(text, "t")


MARKUP = [
    *"{{ }} [[ ]] {| |} | ''' '' <ref> </ref> <br> == -{ }- {{{ <!-- --> ] &nbsp; &lt; * : =".split(),
    *"lang convert 1 km <nowiki> </nowiki> File: a ( ) , #if: _".split(),
    *("\n", " ", "[http://x "),
]
SOUP = st.lists(st.sampled_from(MARKUP) | st.text(max_size=4), max_size=40).map("".join)


@settings(max_examples=250, deadline=None)
@given(SOUP)
def test_any_text_is_cleaned_or_rejected(text: str) -> None:
    for code in ("en", "zh-cn"):
        try:
            page = cleaner_for(code).clean(text, "title")
        except UncleanableError:
            continue
        for section in page.sections:
            assert section.paragraphs
            for paragraph in section.paragraphs:
                assert paragraph == " ".join(paragraph.split())
                assert paragraph


WORDS = st.sampled_from(["Слово", "word", "κείμενο", "văn", "字", "كلمة", "a'b", "1,5", "(x)", "–"])
# What may not hold itself (italics, references, comments) holds words only.
LEAVES = st.one_of(
    WORDS,
    WORDS.map(lambda text: f"''{text}''"),
    WORDS.map(lambda text: f"{text}<ref>{text} [[x]]</ref>"),
    WORDS.map(lambda text: f"{text}<!-- {text} -->"),
)
INLINE = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        inner.map(lambda text: f"[[target|{text}]]"),
        inner.map(lambda text: f"{{{{lang|la|{text}}}}}"),
        inner.map(lambda text: f"<small>{text}</small>"),
        inner.map(lambda text: f"{text} {{{{unknown|{text}}}}}"),
        st.tuples(inner, inner).map(" ".join),
    ),
    max_leaves=6,
)
MARKS = ("{{", "}}", "[[", "]]", "''", "<ref", "<small", "<!--", "|", "\ufdef")


@settings(max_examples=100, deadline=None)
@given(st.lists(INLINE, min_size=1, max_size=4))
def test_no_markup_is_left_of_well_formed_text_and_cleaning_again_changes_nothing(
    parts: list[str],
) -> None:
    cleaner = cleaner_for("en")
    text = "\n\n".join(parts)
    paragraphs = [p for section in cleaner.clean(text, "t").sections for p in section.paragraphs]
    for paragraph in paragraphs:
        assert not any(mark in paragraph for mark in MARKS)
    again = cleaner.clean("\n\n".join(paragraphs), "t").sections
    assert [p for section in again for p in section.paragraphs] == paragraphs
