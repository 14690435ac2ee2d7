"""Makes the command-line parser with all commands."""

import argparse
import importlib
from collections.abc import Sequence
from typing import Any

from corpusmill.pipelines import demo, generic, score
from corpusmill.pipelines.inspect import (
    compare_command,
    contamination_command,
    croissant_command,
    harness_command,
    inspect_documents,
    overlap_command,
    publish,
    report_command,
    verify_command,
)
from corpusmill.pipelines.refresh import fetch_command, refresh_command
from corpusmill.pipelines.run.command_parser import DEFAULTS, CommandParser, guess
from corpusmill.pipelines.run.corpora import rows
from corpusmill.pipelines.run.flags import Commands
from corpusmill.pipelines.run.help_pages import HelpFormatter
from corpusmill.pipelines.versions import print_versions

OF_BUILDS = (
    *(
        fetch_command,
        refresh_command,
        report_command,
        inspect_documents,
        verify_command,
        compare_command,
    ),
    *(
        contamination_command,
        overlap_command,
        score,
        harness_command,
        croissant_command,
        publish,
        demo,
    ),
)

EPILOG = """\
first steps:
  corpusmill demo                   builds every corpus from bundled samples, in a minute
  corpusmill fetch wiki40b --language uk    downloads the files of one build, and prints how to build it
  corpusmill help wiki40b           how to build Wiki-40B from dumps on disk
  corpusmill help lm1b              how to build One Billion Word from news sentences
  corpusmill help pg19              how to build PG-19 from Project Gutenberg, and simplebooks SimpleBooks
  corpusmill report DIR             the sizes of finished builds, and the figures of the papers
"""


def make_parser() -> CommandParser:
    """Returns the parser of all commands."""
    parser = CommandParser(
        prog="corpusmill",
        description="Builds language-model benchmark corpora from their raw sources.",
        epilog=EPILOG,
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(**DEFAULTS)
    parser.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        help="print the versions of this package and of each corpus",
    )
    commands: Any = parser.add_subparsers(
        title="commands",
        required=True,
        metavar="COMMAND",
        dest="command",
        parser_class=generic.LazyParser,
    )
    for row in rows().values():
        if row.command:
            importlib.import_module(row.command).add(commands)
        else:
            generic.add(row, commands)
    for command in OF_BUILDS:
        command.add(commands)
    _add_help(commands)
    return parser


def _add_help(commands: Commands) -> None:
    about = "show the help page of a command"
    parser = commands.add_parser("help", help=about, description=about, allow_abbrev=False)
    parser.add_argument("words", nargs="*", metavar="COMMAND", action=_Help, commands=commands)


class _Version(argparse.Action):
    """Prints the versions, for --version, and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print_versions()
        parser.exit()


class _Help(argparse.Action):
    """Prints the help page of a command, such as "flores101 packets", and exits."""

    def __init__(self, *args: Any, commands: Commands, **named: Any):
        super().__init__(*args, **named)
        self._commands = commands

    def __call__(self, parser: argparse.ArgumentParser, _: object, words: Any, *__: object) -> None:
        shown = self._find(parser, words)
        shown.print_help()
        parser.exit()

    def _find(self, parser: argparse.ArgumentParser, words: Sequence[str]) -> Any:
        if not words:
            return make_parser()
        found, choices = parser, self._commands.choices
        for word in words:
            if word not in choices:
                parser.error(f"no such command: {word!r}{guess(word, choices)}")
            found = choices[word]
            if isinstance(found, generic.LazyParser):
                found.filled()
            below = [one for one in found._actions if isinstance(one, argparse._SubParsersAction)]
            choices = below[0].choices if below else {}
        return found
