import pytest

from corpusmill.pipelines.translation.check_characters import find_other_endings
from corpusmill.pipelines.translation.target_languages import find_language
from tests.pipelines.translation.pair_cases import found, pair


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
    findings = list(find_other_endings([pair(english, translation)], find_language(code)))
    assert found(findings) == [("ending-differs", "warning")] * count
