import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.records import Page
from corpusmill.transforms.wikitext.templates.definitions import (
    MAX_DEFINITION,
    TemplateFact,
    WikiTemplates,
    collect,
    count_calls,
    is_fit_for_prose,
    read_template,
    sitelink_alias,
    transcluded,
)
from tests.tools.case_tables import read_cases


def template(title: str, text: str, redirect: str = "", model: str = "wikitext") -> Page:
    is_redirect = bool(redirect) or text.startswith("#")
    return Page(1, 10, title, 2, model, is_redirect, False, text, redirect)


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    read_cases("wikitext/template_pages", "what_a_template_page_transcludes"),
)
def test_what_a_template_page_transcludes(wikitext: str, expected: str) -> None:
    assert transcluded(wikitext) == expected


@pytest.mark.parametrize(
    "definition",
    [
        "Chi (Genus)",
        "{{nowrap|'''{{{1}}}'''}}",
        '<span style="color:red">{{{1|рік}}}</span>',
        "{{#if:{{{1|}}}|{{{1}}} km²|km²}}",
        "[[século {{{1}}}|{{{1}}}]]<sup>e</sup>",
        "{{#switch:{{{1}}}|a=b|c=d}}",
        "{{#switch:{{{1}}}" + "|福島市=1" * 20_000 + "}}",
        "{{#if:{{{2|}}}|{{#invoke:Age|main}}|{{{1}}}}}",
        "a<ref>note</ref>",
        "<div><blockquote>{{{1}}}</blockquote></div>",
    ],
)
def test_definitions_that_fit_into_a_sentence(definition: str) -> None:
    assert is_fit_for_prose(definition)


@pytest.mark.parametrize(
    "definition",
    [
        "",
        "—",
        "{{#invoke:Convert|convert}}",
        "{| class=x\n| a\n|}",
        "<div>box</div>",
        ":''Main article: [[{{{1}}}]]''",
        "{{Ambox|text=a}}",
        "[https://example.org {{{1}}}]",
        "a" * (MAX_DEFINITION + 1),
    ],
)
def test_definitions_that_do_not(definition: str) -> None:
    assert not is_fit_for_prose(definition)


def test_a_redirect_is_an_alias_by_the_head_of_the_page_or_by_its_text() -> None:
    fact = TemplateFact("мова", "alias", "lang de")
    assert read_template(template("Шаблон:Мова", "x", redirect="Шаблон:Lang_de")) == fact
    text = "#ПЕРЕНАПРАВЛЕННЯ [[Шаблон:Lang de]]"
    assert read_template(template("Шаблон:Мова", text)) == fact
    assert read_template(template("Шаблон:Мова", "#ПЕРЕНАПРАВЛЕННЯ")) is None


def test_a_definition_is_what_the_page_transcludes() -> None:
    page = template("Bản mẫu:Genus", "Chi ''(Genus)''<noinclude>\n{{tài liệu}}</noinclude>")
    assert read_template(page) == TemplateFact("genus", "definition", "Chi ''(Genus)''")
    assert read_template(page._replace(content_model="css")) is None
    assert read_template(page._replace(text="<noinclude>a</noinclude>")) is None


@pytest.mark.parametrize(
    "text", read_cases("wikitext/template_pages", "a_definition_of_a_note_shows_nothing")
)
def test_a_definition_of_a_note_shows_nothing(text: str) -> None:
    assert read_template(template("Template:A", text)) == TemplateFact("a", "definition", "")


@pytest.mark.parametrize(
    ("english", "local", "expected"),
    [
        ("Template:Convert", "Vorlage:Umrechnen", TemplateFact("umrechnen", "alias", "convert")),
        ("Template:Lang_de", "Шаблон:Мова: нім", TemplateFact("мова: нім", "alias", "lang de")),
        ("Template:Convert", "Mall:Convert", None),
        ("Template:Convert", "Mall:convert", None),
        ("Template:Convert", "X", None),
        ("Convert", "A:B", None),
        ("Template talk:Convert", "A:B", None),
        ("", "Vorlage:Umrechnen", None),
        ("Template:Convert", "", None),
    ],
)
def test_the_item_of_a_template_tells_its_local_name(
    english: str, local: str, expected: TemplateFact | None
) -> None:
    assert sitelink_alias(english, local) == expected


def test_calls_are_counted_by_normalised_name() -> None:
    text = "{{Foo|a}} {{ foo }}{{Foo_bar\n|x}} {{#if:a|b}} {{{1}}} {{lc:A}} {{a {{b}}}}"
    assert count_calls(text) == {
        "foo": 2, "foo bar": 1, "a": 1, "b": 1, "1": 1, "lc": 1,
    }  # fmt: skip


facts = st.builds(
    TemplateFact,
    st.sampled_from("abc"),
    st.sampled_from(["alias", "definition"]),
    st.sampled_from("xyz"),
)


@given(st.lists(facts).flatmap(lambda one: st.tuples(st.just(one), st.permutations(one))))
def test_facts_are_collected_alike_in_any_order(orders: tuple[list[TemplateFact], ...]) -> None:
    first, second = orders
    assert collect(first) == collect(second)


def test_of_two_facts_about_a_name_the_smaller_counts() -> None:
    given_facts = [TemplateFact("a", "alias", "y"), TemplateFact("a", "alias", "x")]
    assert collect(given_facts) == WikiTemplates({"a": "x"}, {})
