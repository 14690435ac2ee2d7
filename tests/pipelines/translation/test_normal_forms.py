import unicodedata

import pytest

from corpusmill.pipelines.translation.check_characters import find_decomposed
from tests.pipelines.translation.pair_cases import found, pair


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


def test_a_decomposed_word_is_named() -> None:
    (finding,) = find_decomposed([pair("A.", "eine nai\u0308ve Sache")])
    assert finding.message == ('decomposed Unicode in "naïve": 6 characters that should be 5 (NFC)')
