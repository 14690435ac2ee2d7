"""Reads the .case files of the books: "=== label", a text, "--->", what becomes of it."""

import pathlib
from typing import NamedTuple

_FOLDER = pathlib.Path(__file__).parents[2] / "cases" / "books"


class Case(NamedTuple):
    label: str
    text: str
    expected: str  # without line feed at its end


def read_cases(name: str) -> list[Case]:
    """The cases of one file."""
    whole = (_FOLDER / f"{name}.case").read_text(encoding="utf-8").rstrip("\n")
    cases = []
    for block in whole.removeprefix("=== ").split("\n\n=== "):
        label, _, body = block.partition("\n")
        text, _, expected = body.partition("\n--->\n")
        cases.append(Case(label, text + "\n", expected))
    return cases
