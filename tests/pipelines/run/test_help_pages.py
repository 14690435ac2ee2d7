"""Help pages in a narrow terminal."""

import argparse
from collections.abc import Iterator

import pytest

from corpusmill.pipelines.cli import make_parser
from corpusmill.pipelines.run.flags import fill_page
from tests.tools.case_tables import read_cases


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parser, and those of all its commands."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from parsers(below)


def test_pages_fit_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for parser in parsers(make_parser()):
        _, _, below_usage = parser.format_help().partition("\n\n")
        assert [line for line in below_usage.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize(("line", "lines"), read_cases("pipelines/help_pages", "lines_are_filled"))
def test_lines_are_filled(line: str, lines: list[str]) -> None:
    assert fill_page(line, 30) == lines
