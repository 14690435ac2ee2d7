import pytest

from transforms.text.translation.checks.letter_scripts import (
    foreign_letters,
    name_script,
    own_share,
)


@pytest.mark.parametrize(
    ("text", "scripts", "share"),
    [
        ("abc", ("Latn",), 1.0),
        ("abcд", ("Latn",), 0.75),
        ("漢字とカナ", ("Hani", "Hira", "Kana"), 1.0),
        ("漢字と", ("Hani",), 2 / 3),
        ("हिन्दी", ("Deva",), 1.0),
        ("한국 韓國", ("Hang", "Hani"), 1.0),
        ("کتاب", ("Arab",), 1.0),
        ("12 – !", ("Latn",), None),
    ],
)
def test_own_share(text: str, scripts: tuple[str, ...], share: float | None) -> None:
    assert own_share(text, scripts) == share


def test_foreign_letters() -> None:
    assert foreign_letters("aбc 1д中", ("Latn", "Hani")) == ["б", "д"]
    assert not foreign_letters("日本ー", ("Hani", "Kana"))


def test_scripts_have_names() -> None:
    assert list(map(name_script, "aд中あ")) == ["Latin", "Cyrillic", "CJK", "Hiragana"]
