"""Tables of cases for pytest.mark.parametrize, from the TOML files in tests/cases/."""

import functools
import pathlib
import tomllib
from typing import Any

CASES = pathlib.Path(__file__).parents[1] / "cases"


@functools.cache
def _read_tables(file: str) -> dict[str, Any]:
    return tomllib.loads((CASES / file).read_text("utf-8"))


def case_table(file: str, name: str) -> list[Any]:
    """Returns the rows of a table; a row is a tuple if it has several values."""
    rows: list[Any] = _read_tables(file)[name]
    return [tuple(row) if isinstance(row, list) else row for row in rows]
