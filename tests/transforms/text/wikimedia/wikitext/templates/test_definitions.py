"""Definitions of the wiki's own templates: their parameters, and how they are expanded."""

import time

import pytest

from tests.transforms.text.wikimedia.wikitext.test_clean import shown
from transforms.text.wikimedia.language import add_tables, load_language
from transforms.text.wikimedia.template_pages import WikiTemplates
from transforms.text.wikimedia.wikitext.clean import CleanedPage, WikitextCleaner
from transforms.text.wikimedia.wikitext.marks import HOLE
from transforms.text.wikimedia.wikitext.templates.definitions import fill_in


@pytest.mark.parametrize(
    ("definition", "arguments", "expected"),
    [
        ("a {{{1}}} b", {"1": "x"}, "a x b"),
        ("a {{{1}}} b", {}, f"a {HOLE} b"),
        ("{{{1|d}}}", {}, "d"),
        ("{{{1|d}}}", {"1": ""}, ""),
        ("{{{a|{{{b|{{{c|d}}}}}}}}}", {"b": "x"}, "x"),
        ("{{{a|{{{b|{{{c|d}}}}}}}}}", {}, "d"),
        ("{{{{{1}}}|{{{2}}}}}", {"1": "lang", "2": "y"}, "{{lang|y}}"),
        ("{{#if:{{{1|}}}|({{{1}}})|{{x|{{{3|q}}}}}}}", {}, f"{{{{#if:|({HOLE})|{{{{x|q}}}}}}}}"),
        ("{{{1|{{x|{{y}}}}}}}", {}, "{{x|{{y}}}}"),
        ("{{{ text }}}", {"text": "x"}, "x"),
        ("{{{1", {"1": "x"}, "{{{1"),
    ],
)
def test_parameters_are_filled_in(
    definition: str, arguments: dict[str, str], expected: str
) -> None:
    assert fill_in(definition, arguments) == expected


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
    [
        ("A {{rouge|fox}} ran.", "A red fox ran."),
        ("A {{Red|fox|quick}} ran.", "A red fox, quick ran."),
        ("A {{template:red|fox}} ran.", "A red fox ran."),
        ("An {{far|de|Haus}} here.", "An Haus here."),
        ("A {{orb of ours}} one.", "A one."),
        ("A {{loop}} c.", "A a b c."),
        ("A {{item|x}} c.", "A c."),
        ("It is {{made of|wine}}.", "It is red wine and."),
        ("See {{colour no|4}} there.", "See no. 4 there."),
        ("A {{rouge|{{rouge|[[fox|dog]]}}}}.", "A red red dog."),
        ("{{rouge|on a line of its own}}\n\nText.", "Text."),
        ("A {{rouge|a<nowiki>|</nowiki>b}} c.", "A red a|b c."),
    ],
)
def test_the_wiki_s_own_templates_show(wikitext: str, expected: str) -> None:
    assert shown(clean(wikitext, DEFINED)) == expected


OF_ITS_OWN = WikiTemplates(
    aliases={"lang-fr": "lang-de"},
    definitions={"lang-de": "գերմ.՝ {{{1}}}", "circa": "մոտ {{{1}}}", "main": "տես {{{1}}}"},
)


@pytest.mark.parametrize(
    ("code", "given", "wikitext", "expected"),
    [
        ("hy", {}, "A {{lang-de|x}} b", "A գերմ.՝ x b"),
        ("hy", {}, "A {{lang-fr|x}} b", "A գերմ.՝ x b"),
        ("hy", {}, "A {{lang-ru|x}} b", "A ռուսերեն: x b"),
        ("hy", {}, "A {{lang-qqq|x}} b", "A x b"),
        ("hy", {}, "A {{circa|1850}} b", "A մոտ 1850 b"),
        ("hy", {}, "A {{main|x}} b", "A b"),  # a table knows that it is no prose
        ("hy", {"lang-de": "<{1}>", "circa": "um {1}"}, "A {{lang-de|x}} {{circa|1}} b", "A <x> um 1 b"),
        ("uk", {}, "A {{lang-de|x}} b", "A нім. x b"),  # people made its tables
    ],
)  # fmt: skip
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
    start = time.process_time()
    cleaned = clean(page, WikiTemplates({}, definitions))
    assert time.process_time() - start < 5
    assert sum(map(len, cleaned.sections[0].paragraphs)) < 2_000_000
