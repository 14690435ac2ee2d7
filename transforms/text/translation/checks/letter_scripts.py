"""To which script a letter belongs, and how much of a text is written in a script."""

import functools
import unicodedata

import regex  # type: ignore[import-untyped]


@functools.cache
def _letters_of(scripts: tuple[str, ...]) -> "regex.Pattern[str]":
    """Letters of the scripts; those that several scripts share count for each of them."""
    classes = "".join(rf"\p{{Script_Extensions={script}}}" for script in scripts)
    return regex.compile(rf"[[{classes}]&&\p{{L}}]", regex.V1)


_LETTERS = regex.compile(r"\p{L}")


def own_share(text: str, scripts: tuple[str, ...]) -> float | None:
    """The share of letters that are of the scripts (ISO 15924), 0 to 1. None where there are no letters."""
    letters = len(_LETTERS.findall(text))
    return len(_letters_of(scripts).findall(text)) / letters if letters else None


def foreign_letters(text: str, scripts: tuple[str, ...]) -> list[str]:
    """The letters of a text that are of none of the scripts, in their order."""
    letters: list[str] = _LETTERS.findall(_letters_of(scripts).sub("", text))
    return letters


def name_script(letter: str) -> str:
    """The script of a letter as its name in Unicode begins: "Latin", "Cyrillic", "CJK"."""
    word = unicodedata.name(letter, "unnamed").split()[0]
    return word if word == "CJK" else word.capitalize()
