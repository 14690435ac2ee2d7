"""Reads the cases of the books.

A .case file has "=== label", a text, "--->", what becomes of it. A .toml file has tables of values.
"""

import json
import tomllib
from typing import Any, NamedTuple

from tests.tools.case_tables import CASES

_FOLDER = CASES / "books"


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


def read_table(name: str, **texts: str) -> dict[str, Any]:
    """The tables of one file: name → rows. "{NAME}" in a string stands for one of `texts`."""
    source = (_FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    for key, text in texts.items():
        source = source.replace(f"{{{key}}}", json.dumps(text, ensure_ascii=False)[1:-1])
    return tomllib.loads(source)
