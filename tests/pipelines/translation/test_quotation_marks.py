import pytest

from corpusmill.pipelines.translation.check_characters import find_doubled_quotes
from tests.pipelines.translation.pair_cases import found, pair


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
