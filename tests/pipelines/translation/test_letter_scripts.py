import pytest

from corpusmill.pipelines.translation.wrong_language import (
    count_letters,
    foreign_letters,
    name_script,
)


@pytest.mark.parametrize(
    ("text", "scripts", "letters", "own"),
    [
        ("abc", ("Latn",), 3, 3),
        ("abcд", ("Latn",), 4, 3),
        ("漢字とカナ", ("Hani", "Hira", "Kana"), 5, 5),
        ("漢字と", ("Hani",), 3, 2),
        ("हिन्दी", ("Deva",), 3, 3),
        ("한국 韓國", ("Hang", "Hani"), 4, 4),
        ("کتاب", ("Arab",), 4, 4),
        ("12 – !", ("Latn",), 0, 0),
    ],
)
def test_letters(text: str, scripts: tuple[str, ...], letters: int, own: int) -> None:
    assert count_letters(text) == letters
    assert len(foreign_letters(text, scripts)) == letters - own


def test_foreign_letters() -> None:
    assert foreign_letters("aбc 1д中", ("Latn", "Hani")) == ["б", "д"]
    assert not foreign_letters("日本ー", ("Hani", "Kana"))


def test_scripts_have_names() -> None:
    assert list(map(name_script, "aд中あ")) == ["Latin", "Cyrillic", "CJK", "Hiragana"]
