"""Help pages in a narrow terminal."""

import argparse
from collections.abc import Iterator

import pytest

from corpusmill.pipelines.cli import make_parser
from corpusmill.pipelines.run.flags import fill_page


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


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("  One line that is short", ["  One line that is short"]),
        (
            "  One line that is longer than its page",
            ["  One line that is longer than", "  its page"],
        ),
        (
            "  file.tsv   what there is to be found in it",
            ["  file.tsv   what there is to", "             be found in it"],
        ),
        (
            "  key = 1  # what is meant by it",
            ["  key = 1  # what is meant by", "           # it"],
        ),
        (
            "    corpusmill make --dump a.xml.bz2 --output here \\",
            ["    corpusmill make \\", "      --dump a.xml.bz2 \\", "      --output here \\"],
        ),
        (
            "      --one 1 --two 2 --three 3 --four 4",
            ["      --one 1 --two 2 \\", "      --three 3 --four 4"],
        ),
        (
            "    corpusmill make a-file-of-a-long-name.xml.bz2",
            ["    corpusmill make a-file-of-a-long-name.xml.bz2"],
        ),
    ],
)
def test_lines_are_filled(line: str, lines: list[str]) -> None:
    assert fill_page(line, 30) == lines
