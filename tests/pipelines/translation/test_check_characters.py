"""Findings about the characters of a translation. A case is a pair of lines and what is found in it."""

import unicodedata
from collections.abc import Callable, Iterable

import pytest

from corpusmill.pipelines.translation.check_characters import (
    addresses,
    find_changed_addresses,
    find_decomposed,
    find_doubled_quotes,
    find_leftovers,
    find_odd_characters,
    find_other_endings,
    find_outer_blanks,
)
from corpusmill.pipelines.translation.target_languages import find_language
from corpusmill.transforms.files.records import Finding
from tests.pipelines.translation.pair_cases import found, pair


@pytest.mark.parametrize(
    ("code", "text", "severities"),
    [
        ("deu", "Größe", []),
        ("deu", "Gr\ufffd\ufffde", ["error"]),
        ("deu", "Gr\x92", ["error"]),
        ("deu", "\ufeffGr", ["error"]),
        ("deu", "\ue000", ["error"]),
        ("deu", "Grö\u00adße", ["warning"]),
        ("deu", "Grö\u200dße", ["warning"]),
        ("hin", "क\u094d\u200dष", []),
        ("fas", "می\u200cشود", []),
        ("khm", "ខ្មែរ\u200bខ្មែរ", []),
        ("hin", "क\u200bष", ["warning"]),
        ("ara", "\u202bنص\u202c", []),
        ("deu", "\u202bText\u202c", ["warning"]),
        ("ara", "ﺳﻼم", ["warning"]),
        ("ara", "ﷺ", []),
        ("deu", "ﬁnden", ["warning"]),
        ("deu", "Ｔｅｘｔ", ["warning"]),
        ("jpn", "Ｔｅｘｔ１", []),
        ("jpn", "ｶﾀｶﾅ", ["warning"]),
        ("fas", "كتاب", ["warning"]),
        ("fas", "کتاب", []),
        ("ara", "كتاب", []),
        ("ara", "کتاب", ["warning"]),
        ("pus", "کتاب ښي", []),
        ("ukr", "Tірекс", ["warning"]),
        ("ell", "στo", ["warning"]),
        ("rus", "IT-отдел, e-mail", []),
    ],
)
def test_odd_characters(code: str, text: str, severities: list[str]) -> None:
    findings = found(find_odd_characters([pair("A.", text)], find_language(code)))
    assert findings == [("unicode-variants", severity) for severity in severities]


@pytest.mark.parametrize(
    ("code", "english", "translation", "count"),
    [
        ("fra", "Is it so?", "Est-ce ainsi\u00a0?", 0),
        ("fra", "Is it so?", "C'est ainsi.", 1),
        ("fra", 'He asked: "Is it so?"', "Il a demandé : « Est-ce ainsi ? »", 0),
        ("ara", "Is it so?", "هل هو كذلك؟", 0),
        ("jpn", "Is it so?", "そうですか？", 0),
        ("ell", "Is it so?", "Είναι έτσι;", 0),
        ("deu", "Is it so?", "Ist es so;", 1),
        ("hye", "Is it so?", "Այդպե՞ս է։", 0),
        ("tha", "Is it so?", "ใช่ไหม", 0),
        ("spa", "Go!", "¡Vete!", 0),
        ("spa", "Go!", "Vete.", 1),
        ("spa", "It is so.", "¿Es así?", 0),
    ],
)
def test_endings(code: str, english: str, translation: str, count: int) -> None:
    findings = find_other_endings([pair(english, translation)], find_language(code))
    assert found(findings) == [("ending-differs", "warning")] * count


@pytest.mark.parametrize(
    ("text", "severities"),
    [
        ("naïve", []),
        (unicodedata.normalize("NFD", "naïve"), ["error"]),
        (unicodedata.normalize("NFD", "한국"), ["error"]),
        (unicodedata.normalize("NFD", "Việt"), ["error"]),
        ("\u0958\u093c", []),  # क़, whose sign is excluded from composition
        ("\u0915\u093c", []),
        ("\u0a59", []),
        ("ل\u0651\u064f", ["warning"]),  # shadda before damma, as people type
        ("ل\u064f\u0651", []),
        ("abc", []),
        ("\u212b", []),  # the sign of Ångström, which is for another check
    ],
)
def test_normal_forms(text: str, severities: list[str]) -> None:
    findings = found(find_decomposed([pair("A.", text)]))
    assert findings == [("not-nfc", severity) for severity in severities]


@pytest.mark.parametrize(
    ("english", "translation", "rules"),
    [
        ("A & B.", "A &amp; B.", ["html-entities"]),
        ("A B.", "A&nbsp;B.", ["html-entities"]),
        ("It's.", "L&#39;a.", ["html-entities"]),
        ("A &amp; B.", "A &amp; B.", []),
        ("AT&T; and so.", "AT&T; und so.", []),
        ("A B.", "A <b>B</b>.", ["markup"]),
        ("A B.", "A [[B]].", ["markup"]),
        ("A B.", "A {{B}}.", ["markup"]),
        ("A < B.", "A < B, C > D.", []),
        ("Cafés.", "CafÃ©s sont fermÃ©s.", ["mojibake"]),
        ("So it is.", "Dâ€™accord, câ€™est ainsi.", ["mojibake"]),
        ("Hello.", "РџСЂРёРІРµС‚ РІСЃРµРј.", ["mojibake"]),
        ("Cafés.", "Les cafés d’accord.", []),
        ("Hello.", "Привет всем.", []),
        ("Hello.", "Ângela está à mesa.", []),
    ],
)
def test_leftovers(english: str, translation: str, rules: list[str]) -> None:
    findings = found(find_leftovers([pair(english, translation)]))
    assert findings == [(rule, "error") for rule in rules]


@pytest.mark.parametrize(
    ("english", "translation", "expected"),
    [
        ('He said "no".', 'Er sagte ""nein"".', [("doubled-quotes", "error")]),
        ('He said "no".', '"Er sagte „nein“."', [("doubled-quotes", "error")]),
        ("He left.", '"Er ging."', [("doubled-quotes", "error")]),
        ('"He left."', '"Er ging."', []),
        ("He left.", "Er ging.", []),
        ('"No," he said. "Never."', '"Nein", sagte er. "Nie."', []),
        ('The "O" began.', 'Die "Operation "Drache"".', [("doubled-quotes", "warning")]),
        ("He left.", "Er „ging.", [("unbalanced-quotes", "warning")]),
        ('He "left.', "Er „ging.", []),
        ("He said ''no''.", "「いいえ」と言った。", []),
        ("He said no.", "「「いいえ」」と言った。", [("doubled-quotes", "error")]),
    ],
)
def test_quotation_marks(english: str, translation: str, expected: list[tuple[str, str]]) -> None:
    assert found(find_doubled_quotes([pair(english, translation)])) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See https://a.org/b_(c).", ["https://a.org/b_(c"]),
        ("Siehe www.a-b.org/x?y=1, oder a.b@c.de!", ["www.a-b.org/x?y=1", "a.b@c.de"]),
        ("http://a.orgを見て", ["http://a.org"]),
        ("see www and @name, a.b", []),
    ],
)
def test_addresses(text: str, expected: list[str]) -> None:
    assert addresses(text) == expected


@pytest.mark.parametrize(
    ("find", "english", "translation", "message"),
    [
        (find_outer_blanks, "A.", " a", "spaces before the line"),
        (find_outer_blanks, "A.", "a\u00a0", "spaces behind the line"),
        (find_outer_blanks, "A.", "\ta ", "spaces before and behind the line"),
        (find_outer_blanks, "A.", "a\u200b", "spaces behind the line"),
        (find_outer_blanks, "A.", "\ufeffa", "spaces before the line"),
        (find_outer_blanks, "A.", "a b", None),
        (find_outer_blanks, "A.", " ", None),
        (find_changed_addresses, "See www.a.org now.", "www.a.orgを見て。", None),
        (
            find_changed_addresses,
            "See www.a.org now.",
            "見て。",
            'the address "www.a.org" of the source is missing',
        ),
        (
            find_changed_addresses,
            "See it.",
            "www.a.org",
            'the address "www.a.org" is not in the source',
        ),
        (
            find_changed_addresses,
            "www.a.org",
            "www.a.de",
            'the address must stay "www.a.org", but is "www.a.de"',
        ),
        (
            find_decomposed,
            "A.",
            "eine nai\u0308ve Sache",
            'decomposed Unicode in "naïve": 6 characters that should be 5 (NFC)',
        ),
        (
            lambda pairs: find_odd_characters(pairs, find_language("rus")),
            "A.",
            "в cлучаях",
            'letters of two scripts in one word, "cлучаях": U+0063 LATIN SMALL LETTER C',
        ),
    ],
)
def test_messages(
    find: Callable[..., Iterable[Finding]], english: str, translation: str, message: str | None
) -> None:
    findings = [finding.message for finding in find([pair(english, translation)])]
    assert findings == ([message] if message else [])


def test_severities_of_blanks_and_addresses() -> None:
    pairs = [pair("See www.a.org.", "Siehe ")]
    assert found(find_outer_blanks(pairs)) == [("outer-blanks", "warning")]
    assert found(find_changed_addresses(pairs)) == [("urls-differ", "error")]
