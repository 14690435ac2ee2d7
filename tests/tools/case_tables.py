"""Reads cases of tests from the tables in tests/cases/: TOML, or TSV where all cases are cells of text."""

import functools
import pathlib
import tomllib
from typing import Any

CASES = pathlib.Path(__file__).parents[1] / "cases"


@functools.cache
def read_tables(name: str) -> dict[str, Any]:
    """Returns all tables of a file, such as "translation/numbers": key → cases."""
    return tomllib.loads((CASES / f"{name}.toml").read_text("utf-8"))


def read_cases(name: str, key: str) -> list[Any]:
    """Returns the cases below a key of a file."""
    cases: list[Any] = read_tables(name)[key]
    return cases


def read_rows(name: str) -> list[list[str]]:
    """Returns the rows of a table, such as "pipelines/messages", without its head.

    A line feed in a cell is written as in Python: a backslash, n.
    """
    lines = (CASES / f"{name}.tsv").read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines[1:]]


def read_byte_cases(name: str, key: str, *columns: int) -> list[Any]:
    """Returns the cases below a key: texts in these columns as bytes. Without columns, a case is one text."""
    cases = read_cases(name, key)
    if not columns:
        return [text.encode() for text in cases]
    return [
        [cell.encode() if at in columns else cell for at, cell in enumerate(case)] for case in cases
    ]
