"""Reads cases of tests from the tables in tests/cases/*/*.toml."""

import functools
import pathlib
import tomllib
from typing import Any

_FOLDER = pathlib.Path(__file__).parents[1] / "cases"


@functools.cache
def _tables(name: str) -> dict[str, list[Any]]:
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))


def read_cases(name: str, key: str) -> list[Any]:
    """Returns the cases below a key of a file, such as "translation/numbers"."""
    return _tables(name)[key]
