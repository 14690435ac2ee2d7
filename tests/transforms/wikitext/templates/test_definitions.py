"""Definitions of the wiki's own templates: their parameters, and how they are expanded."""

from collections.abc import Mapping

import pytest

from corpusmill.transforms.files.records import Page
from corpusmill.transforms.wikitext.clean import CleanedPage, WikitextCleaner
from corpusmill.transforms.wikitext.language import add_tables, load_language
from corpusmill.transforms.wikitext.marks import HOLE
from corpusmill.transforms.wikitext.templates.definitions import (
    DefinitionError,
    Evaluation,
    WikiTemplates,
    collect,
    read_definition,
    read_template,
)
from tests.tools.case_tables import read_cases
from tests.tools.growth import call_linear_in
from tests.transforms.wikitext.test_clean import shown


def show(name: str, arguments: Mapping[str, str], *, is_function: bool) -> str:
    mark = "#" if is_function else ""
    return f"<{mark}{name}{''.join(f'|{key}={value}' for key, value in arguments.items())}>"


@pytest.mark.parametrize(
    ("definition", "arguments", "expected"),
    [
        *read_cases("wikitext/definitions", "definitions_are_evaluated"),
        ("a {{{1}}} b", {}, f"a {HOLE} b"),
    ],
)
def test_definitions_are_evaluated(
    definition: str, arguments: dict[str, str], expected: str
) -> None:
    parts = read_definition(definition)
    assert Evaluation(10_000).text(parts, arguments, show) == expected


@pytest.mark.parametrize(
    "definition", ["{{{1|" * 70 + "}}}" * 70, "{{#if:1|" * 70 + "}}" * 70, "x" * 200, "{{x}}" * 20]
)
def test_definitions_that_take_too_much_are_refused(definition: str) -> None:
    with pytest.raises(DefinitionError):
        Evaluation(100).text(read_definition(definition), {}, show)


def clean(text: str, templates: WikiTemplates) -> CleanedPage:
    return WikitextCleaner(load_language("en"), {10: ["Template"]}, templates).clean(text, "T")


DEFINED = WikiTemplates(
    aliases={
        "red": "rouge",
        "tongue": "lang",
        "far": "tongue",
        "orb of ours": "sphere of ours",
        "sphere of ours": "orb of ours",
    },
    definitions={
        "rouge": "red {{nowrap|{{{1}}}}}{{#if:{{{2|}}}|, {{{2}}}}}",
        "loop": "a {{loop}} b",
        "item": "* {{{1}}}",
        "made of": "{{rouge|{{{1}}}}} and {{mystery}}",
        "colour no": "[[Colour {{{1}}}|no. {{{1}}}]][[Category:Colours]]",
    },
)


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    read_cases("wikitext/definitions", "the_wiki_s_own_templates_show"),
)
def test_the_wiki_s_own_templates_show(wikitext: str, expected: str) -> None:
    assert shown(clean(wikitext, DEFINED)) == expected


def defined(pages: Mapping[str, str]) -> WikiTemplates:
    """Reads template pages, and returns their definitions."""
    read = (
        Page(1, 10, f"T:{title}", 2, "wikitext", False, False, text)
        for title, text in pages.items()
    )
    return collect(fact for page in read if (fact := read_template(page)))


_TOWNS = "".join(f"|村{i}={i}" for i in range(20_000))
OF_JAPAN = defined({
    "自治体人口/例県": "<includeonly>{{#switch:{{{1}}}|date=2023年4月1日" + _TOWNS
    + "|例県=1234567|#default={{Error|{{{1}}}}}}}</includeonly><noinclude>doc</noinclude>",
    "自治体人口": "{{自治体人口/{{{1}}}|{{{2|{{{1}}}}}}}}",
    "面積": "{{formatnum:{{#switch:{{{1|}}}|例県|Rei={{#expr:100*2+0.5}}|0}}}}",
    "談": "「{{{1}}}」{{#if:{{{2|}}}|（{{{2}}}）}}<noinclude>x</noinclude>",
    "英発音": "{{#ifeq:{{{2|}}}|us|米 }}{{IPA2|{{{1}}}}}",
    "疑": "<sup>[疑問]</sup>",
    "出": "<ref>{{{1}}}</ref>",
    "輪": "a{{輪2}}",
    "輪2": "b{{輪}}",
    "膨": "{{倍|{{倍|{{倍|{{倍|{{倍|{{倍|{{{1}}}}}}}}}}}}}}",
    "倍": "{{{1}}}" * 64,
    "表": "{|\n|a\n|}",
    "箱": "<div>a</div>",
    "計": "{{#invoke:Age|main|{{{1}}}}}",
})  # fmt: skip


@pytest.mark.parametrize(
    ("wikitext", "expected", "unrendered"),
    read_cases("wikitext/definitions", "definitions_of_a_wiki"),
)
def test_definitions_of_a_wiki(wikitext: str, expected: str, unrendered: dict[str, int]) -> None:
    page = WikitextCleaner(load_language("ja"), {10: ["T"]}, OF_JAPAN).clean(wikitext, "例")
    assert (shown(page), page.unrendered) == (expected, unrendered)


OF_ITS_OWN = WikiTemplates(
    aliases={"lang-fr": "lang-de"},
    definitions={"lang-de": "գերմ.՝ {{{1}}}", "circa": "մոտ {{{1}}}", "main": "տես {{{1}}}"},
)


@pytest.mark.parametrize(
    ("code", "given", "wikitext", "expected"),
    read_cases("wikitext/definitions", "the_wiki_s_own_words_go_before_those_of_cldr"),
)
def test_the_wiki_s_own_words_go_before_those_of_cldr(
    code: str, given: dict[str, str], wikitext: str, expected: str
) -> None:
    language = add_tables(load_language(code), {"templates": given})
    assert shown(WikitextCleaner(language, {}, OF_ITS_OWN).clean(wikitext, "T")) == expected


def test_what_a_definition_cannot_show_is_counted() -> None:
    page = clean("It is {{made of|wine}} and {{orb of ours}} or {{unheard of}} here.", DEFINED)
    assert page.unrendered == {"mystery": 1, "orb of ours": 1, "unheard of": 1}


@pytest.mark.parametrize(
    "definitions",
    [
        {"a": "{{b}}" * 100, "b": "{{c}}" * 100, "c": "{{d}}" * 100, "d": "x" * 100},
        {"a": "{{{1}}}" * 100},
        {"a": "x{{a|{{{1}}}{{{1}}}}}"},
        {"a": "{{{1|" * 100 + "}}}" * 100},
    ],
)
@pytest.mark.parametrize("page", ["b {{a|x}} " * 2_000, "b " + "{{a|x" * 90 + "}}" * 90])
def test_expanding_definitions_is_bounded(definitions: dict[str, str], page: str) -> None:
    cleaned = call_linear_in(lambda text: clean(text, WikiTemplates({}, definitions)), page)
    assert sum(map(len, cleaned.sections[0].paragraphs)) < 2_000_000
