"""Reads the cases of tests that are tables: tests/cases/pipelines/*.tsv."""

from pathlib import Path

CASES = Path(__file__).parents[1] / "cases" / "pipelines"


def read_cases(name: str) -> list[list[str]]:
    """The rows of a table without its head. A line feed in a cell is written as in Python: a backslash, n."""
    lines = (CASES / name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines[1:]]
