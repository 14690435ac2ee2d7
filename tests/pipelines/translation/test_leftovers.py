import pytest

from corpusmill.pipelines.translation.check_characters import find_leftovers
from tests.pipelines.translation.pair_cases import found, pair


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
