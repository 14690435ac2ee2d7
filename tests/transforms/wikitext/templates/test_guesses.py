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
GUESSES = [
    ("en", "{{score|3|2}}", ""),
    ("fr", "{{Opus|27|2}}", ""),
    ("fr", "{{Zz|120|45}}", ""),
    ("en", "{{rating|4|5}}", ""),
    ("bn", "{{স্কোর|৩|২}}", ""),
    ("de", "{{zz|5|m|s}}", ""),
    ("ru", "{{зз|5|km|mi}}", "5 km"),
    ("ru", "{{зз|5|km|mi|1}}", "5 km"),
    ("hu", "{{zz|12345}}", "12345"),
    ("hu", "{{zz|5|USD}}", ""),
    ("hu", "{{zz|38|kereszttel}}", "38"),
    ("el", "{{zz|GER}}", "GER"),
    # Codes of countries, with arguments or not in capitals
    ("sk", "{{deu|Neiße}}", "Neiße"),
    ("vi", "{{FIN|Phần Lan}}", "Phần Lan"),
    ("hy", "{{rom|Naing-ngan}}", "Naing-ngan"),
    ("en", "{{geo|54.8|-1.3}}", ""),
    ("en", "{{brn|y=1901|p=Rome}}", ""),
    ("uk", "{{usa}}", ""),
    ("uk", "{{USA}}", "США"),
    ("hy", "{{BRN}}", "Բրունեյ"),
    ("en", "{{MON}}", "Monaco"),
    # Names that are units
    ("cs", "{{km|70}}", "70 km"),
    ("cs", "{{km|70|m}}", ""),
    ("cs", "{{m|5}}", ""),
    ("cs", "{{am|5}}", ""),
    ("be", "{{км|5}}", "5 км"),
    # Names of languages: the label is for wikis without tables of their own
    ("bn", "{{জার্মান|Haus}}", "জার্মান: Haus"),
    ("pl", "{{niemiecki|Haus}}", "Haus"),
    # Ships, whose prefixes are also codes of languages
    ("fi", "{{MS|Estonia}}", "MS Estonia"),
    ("fi", "{{ms|rumah}}", "rumah"),
    ("en", "{{ara|دمشق}}", "دمشق"),
    ("en", "{{sclass|Ness|frigate}}", "Ness-class frigate"),
    # Rules by English names, with arguments that fit, and with others
    ("hu", "{{val|5|2|u=m}}", "5±2 m"),
    ("hu", "{{val|de|Leipzig}}", "Leipzig"),
    ("en", "{{val|de|Leipzig}}", "Leipzig"),
    ("en", "{{val|1.5|0.2|e=3|u=m}}", "(1.5±0.2)×10³ m"),
    ("en", "{{frac|7|1|2}}", "7 1⁄2"),
    ("lv", "{{val|de|Leipzig}}", "vācu: Leipzig"),
    ("lv", "{{val|2.5|u=t}}", "2,5 t"),
    ("sk", "{{km|70|m}}", "70 km"),
    ("sk", "{{mnm|340}}", "340 m n. m."),
    ("de", "{{£|5 Millionen}}", "£5 Millionen"),
    ("de", "{{£|Pfund}}", "Pfund"),
    ("pt", "{{sqrt|x+1}}", "√x+1"),
    ("pt", "{{dollar|Zeca}}", "Zeca"),
    ("lv", "{{val|5|Leipzig}}", "5"),
    ("lv", "{{val|5|2|u=m}}", "5±2 m"),
    ("cs", "{{zlomek|díl|celek}}", "díl"),
    ("cs", "{{zlomek|1|2}}", "1⁄2"),
    ("de", "{{Währung|Satz|EUR}}", "Satz"),
    ("de", "{{Währung|5|EUR}}", "€5"),
    ("de", "{{dms|5|Satz}}", "5"),
    ("de", "{{dms|5|2|4}}", "5°2′4″"),
    ("fr", "{{norm|Satz}}", "Satz"),
    ("fr", "{{floor|x+1}}", "⌊x+1⌋"),
    ("it", "{{bra-ket|5|frase}}", "5"),
    ("de", "{{pop density|5|6|km2|sqmi}}", "1/km2 (2/sq mi)"),
    # English words: only in wikis with words of their own for them
    ("en", "{{born|1900}}", "b. 1900"),
    ("simple", "{{circa|1900|1910}}", "c. 1900 – c. 1910"),
    ("uk", "{{born|1900}}", "нар. 1900"),
    ("fr", "{{circa|1900}}", "vers 1900"),
    ("de", "{{born|1900}}", "1900"),
    ("de", "{{born}}", ""),
    ("it", "{{d.|1900}}", "1900"),
    ("ja", "{{circa|1900|1910}}", "1900 – 1910"),
    ("ja", "{{fl.|1900|1910}}", "1900–1910"),
    ("es", "{{marriage|5|1900}}", "5 (1900)"),
    ("de", "{{OldStyleDate|5 May|1900|24 April}}", "5 May [24 April] 1900"),
    ("de", "{{US patent|1234567}}", "1.234.567"),
    ("cs", "{{r.|1900}}", "1900"),
    # Abbreviations that end in a capital
    ("de", "{{AbS|Satz}}", "abchasisch Satz"),
    ("de", "{{abS|Satz}}", "abchasisch Satz"),
    ("de", "{{abs|Satz}}", "Satz"),
    ("de", "{{das|Satz}}", "Satz"),
    ("cs", "{{r.|řeka}}", "řeka"),
    ("fi", "{{pi}}", "π"),
    ("fi", "{{pi|piiri}}", "piiri"),
    ("it", "{{pm|5}}", ""),
    ("tr", "{{half|kare}}", "kare"),
    ("no", "{{frac|del|av}}", "del"),
    ("no", "{{frac|1|2}}", "1⁄2"),
]


@pytest.mark.parametrize(("language", "call", "text"), GUESSES)
def test_guess_of_a_call(language: str, call: str, text: str) -> None:
    page = clean(call, language)
    assert shown(page) == text
    assert bool(page.unrendered) == (not text)
    assert not page.unknown


# Language, templates of the dump (name → definition), call, text
DEFINED: list[tuple[str, Mapping[str, str], str, str]] = [
    ("en", {"brn": "born {{{y}}} in {{{p}}}"}, "{{brn|y=1901|p=Rome}}", "born 1901 in Rome"),
    ("en", {"brn": "[[File:B.svg]] [[Brunei Darussalam]]"}, "{{BRN}}", "Brunei Darussalam"),
    ("en", {"brn": "[[File:B.svg]]"}, "{{BRN}}", ""),
    ("en", {"brn": ""}, "{{BRN}}", ""),
    ("de", {"aut": "<small>{{{1}}}</small>"}, "{{AUT}}", "Österreich"),
    ("de", {"usa": "[[{{{Ziel|Vereinigte Staaten}}}]]"}, "{{USA|Ziel=Boston}}", "Boston"),
    ("de", {"usa": "{{#if:1|{{#invoke:Flag|usa}}}}"}, "{{USA}}", "Vereinigte Staaten"),
    ("sk", {"deu": "nem. {{{1}}}"}, "{{deu|Neiße}}", "nem. Neiße"),
    ("hu", {"score": "{{{1}}}–{{{2}}}"}, "{{score|3|2}}", "3–2"),
    ("hu", {"ms": "maláj: {{{1}}}"}, "{{MS|rumah}}", "maláj: rumah"),
    ("hu", {"val": "{{{1}}}: {{{2}}}"}, "{{val|de|Leipzig}}", "de: Leipzig"),
    ("hu", {"val": "{{{1}}}: {{{2}}}"}, "{{val|5|2}}", "5: 2"),
    ("de", {"born": "geb. {{{1}}}"}, "{{born|1900}}", "geb. 1900"),
    ("de", {"born": "{{#invoke:Born|main}}"}, "{{born|1900}}", "1900"),
    ("hu", {"outer": "{{GER}}, {{deu|Neiße}}"}, "{{outer}}", "Németország, Neiße"),
]


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
