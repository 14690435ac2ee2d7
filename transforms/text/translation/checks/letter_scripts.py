"""To which script a letter belongs, and which letters of a text are of other scripts."""

import functools
import unicodedata

import regex  # type: ignore[import-untyped]


@functools.cache
def _letters_of(scripts: tuple[str, ...]) -> "regex.Pattern[str]":
    """Letters of the scripts; those that several scripts share count for each of them."""
    classes = "".join(rf"\p{{Script_Extensions={script}}}" for script in scripts)
    return regex.compile(rf"[[{classes}]&&\p{{L}}]", regex.V1)


_LETTERS = regex.compile(r"\p{L}")


def count_letters(text: str) -> int:
    """Returns the number of letters in a text."""
    return len(_LETTERS.findall(text))


def foreign_letters(text: str, scripts: tuple[str, ...]) -> list[str]:
    """The letters of a text that are of none of the scripts, in their order."""
    letters: list[str] = _LETTERS.findall(_letters_of(scripts).sub("", text))
    return letters


def name_script(letter: str) -> str:
    """The script of a letter as its name in Unicode begins: "Latin", "Cyrillic", "CJK"."""
    word = unicodedata.name(letter, "unnamed").split()[0]
    return word if word == "CJK" else word.capitalize()
