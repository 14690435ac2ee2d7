"""Findings about the characters of a translation. A case is a pair of lines and what is found in it."""

import pytest

from corpusmill.pipelines.translation import check_characters
from corpusmill.pipelines.translation.target_languages import find_language
from tests.pipelines.translation.pair_cases import found, pair
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(
    ("code", "text", "severities"),
    read_cases("translation/check_characters", "odd_characters"),
)
def test_odd_characters(code: str, text: str, severities: list[str]) -> None:
    findings = found(check_characters.find_odd_characters([pair("A.", text)], find_language(code)))
    assert findings == [("unicode-variants", severity) for severity in severities]


@pytest.mark.parametrize(
    ("code", "english", "translation", "count"),
    read_cases("translation/check_characters", "endings"),
)
def test_endings(code: str, english: str, translation: str, count: int) -> None:
    findings = check_characters.find_other_endings(
        [pair(english, translation)], find_language(code)
    )
    assert found(findings) == [("ending-differs", "warning")] * count


@pytest.mark.parametrize(
    ("text", "severities"),
    read_cases("translation/check_characters", "normal_forms"),
)
def test_normal_forms(text: str, severities: list[str]) -> None:
    findings = found(check_characters.find_decomposed([pair("A.", text)]))
    assert findings == [("not-nfc", severity) for severity in severities]


@pytest.mark.parametrize(
    ("english", "translation", "rules"),
    read_cases("translation/check_characters", "leftovers"),
)
def test_leftovers(english: str, translation: str, rules: list[str]) -> None:
    pairs = [pair(english, translation)]
    findings = [
        *check_characters.find_patterns(pairs),
        *check_characters.find_wrong_encodings(pairs),
    ]
    assert [rule for rule, _ in found(findings)] == rules


@pytest.mark.parametrize(
    ("english", "translation", "expected"),
    read_cases("translation/check_characters", "quotation_marks"),
)
def test_quotation_marks(english: str, translation: str, expected: list[list[str]]) -> None:
    findings = found(check_characters.find_doubled_quotes([pair(english, translation)]))
    assert list(map(list, findings)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    read_cases("translation/check_characters", "addresses"),
)
def test_addresses(text: str, expected: list[str]) -> None:
    assert check_characters.addresses(text) == expected


@pytest.mark.parametrize(
    ("find", "english", "translation", "messages"),
    read_cases("translation/check_characters", "messages"),
)
def test_messages(find: str, english: str, translation: str, messages: list[str]) -> None:
    findings = getattr(check_characters, find)([pair(english, translation)])
    assert [finding.message for finding in findings] == messages


def test_letters_of_two_scripts_are_named() -> None:
    (finding,) = check_characters.find_odd_characters(
        [pair("A.", "в cлучаях")], find_language("rus")
    )
    two = 'letters of two scripts in one word, "cлучаях"'
    assert finding.message == f"{two}: U+0063 LATIN SMALL LETTER C"


def test_severities_of_blanks_and_addresses() -> None:
    pairs = [pair("See www.a.org.", "Siehe ")]
    assert found(check_characters.find_outer_blanks(pairs)) == [("outer-blanks", "warning")]
    assert found(check_characters.find_changed_addresses(pairs)) == [("urls-differ", "error")]
