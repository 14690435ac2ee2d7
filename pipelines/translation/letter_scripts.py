"""Finds the letters of a text that do not belong to given Unicode scripts."""

import functools
import unicodedata

import regex  # type: ignore[import-untyped]


@functools.cache
def _letters_of(scripts: tuple[str, ...]) -> "regex.Pattern[str]":
    """Returns a pattern that matches the letters of the given scripts.

    A letter that several scripts use matches if one of these scripts is given.
    """
    classes = "".join(rf"\p{{Script_Extensions={script}}}" for script in scripts)
    return regex.compile(rf"[[{classes}]&&\p{{L}}]", regex.V1)


_LETTERS = regex.compile(r"\p{L}")


def count_letters(text: str) -> int:
    """Returns the number of letters of any script in a text."""
    return len(_LETTERS.findall(text))


def foreign_letters(text: str, scripts: tuple[str, ...]) -> list[str]:
    """Returns the letters of a text that belong to none of `scripts`, in order.

    `scripts` are ISO 15924 codes.
    """
    letters: list[str] = _LETTERS.findall(_letters_of(scripts).sub("", text))
    return letters


def name_script(letter: str) -> str:
    """Returns the name of a letter's script, such as "Latin", "Cyrillic" or "CJK".

    It is the first word of the letter's Unicode name.
    """
    word = unicodedata.name(letter, "unnamed").split()[0]
    return word if word == "CJK" else word.capitalize()
