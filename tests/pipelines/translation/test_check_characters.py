"""Findings about the characters of a translation. A case is a pair of lines and what is found in it."""

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
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(
    ("code", "text", "severities"),
    read_cases("translation/check_characters", "odd_characters"),
)
def test_odd_characters(code: str, text: str, severities: list[str]) -> None:
    findings = found(find_odd_characters([pair("A.", text)], find_language(code)))
    assert findings == [("unicode-variants", severity) for severity in severities]


@pytest.mark.parametrize(
    ("code", "english", "translation", "count"),
    read_cases("translation/check_characters", "endings"),
)
def test_endings(code: str, english: str, translation: str, count: int) -> None:
    findings = find_other_endings([pair(english, translation)], find_language(code))
    assert found(findings) == [("ending-differs", "warning")] * count


@pytest.mark.parametrize(
    ("text", "severities"),
    read_cases("translation/check_characters", "normal_forms"),
)
def test_normal_forms(text: str, severities: list[str]) -> None:
    findings = found(find_decomposed([pair("A.", text)]))
    assert findings == [("not-nfc", severity) for severity in severities]


@pytest.mark.parametrize(
    ("english", "translation", "rules"),
    read_cases("translation/check_characters", "leftovers"),
)
def test_leftovers(english: str, translation: str, rules: list[str]) -> None:
    findings = found(find_leftovers([pair(english, translation)]))
    assert findings == [(rule, "error") for rule in rules]


@pytest.mark.parametrize(
    ("english", "translation", "expected"),
    read_cases("translation/check_characters", "quotation_marks"),
)
def test_quotation_marks(english: str, translation: str, expected: list[list[str]]) -> None:
    findings = found(find_doubled_quotes([pair(english, translation)]))
    assert list(map(list, findings)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    read_cases("translation/check_characters", "addresses"),
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
