import pytest

from corpusmill.pipelines.translation.wrong_language import (
    foreign_letters,
    name_script,
)
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(
    ("text", "scripts", "letters", "own"),
    read_cases("translation/wrong_language", "letters"),
)
def test_letters(text: str, scripts: list[str], letters: int, own: int) -> None:
    assert len(foreign_letters(text, tuple(scripts))) == letters - own


def test_foreign_letters() -> None:
    assert foreign_letters("aбc 1д中", ("Latn", "Hani")) == ["б", "д"]
    assert not foreign_letters("日本ー", ("Hani", "Kana"))


def test_scripts_have_names() -> None:
    assert list(map(name_script, "aд中あ")) == ["Latin", "Cyrillic", "CJK", "Hiragana"]
