import pytest

from corpusmill.pipelines.translation.check_characters import find_odd_characters
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


def test_the_letter_of_the_other_script_is_named() -> None:
    finding: Finding
    (finding,) = find_odd_characters([pair("A.", "в cлучаях")], find_language("rus"))
    assert finding.message == (
        'letters of two scripts in one word, "cлучаях": U+0063 LATIN SMALL LETTER C'
    )
