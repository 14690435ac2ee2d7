"""All commands in one parser."""

import argparse
import importlib
from typing import Any

from pipelines.commands import compare, demo, fetch, generic, refresh, report, score, verify
from pipelines.commands.help_pages import HelpFormatter
from pipelines.corpora import rows

OF_BUILDS = (fetch, refresh, report, verify, compare, score, demo)

EPILOG = """\
first steps:
  corpusmill demo                   builds every corpus from bundled samples, in a minute
  corpusmill fetch wiki40b --language uk    downloads what one build needs, and says how to build it
  corpusmill wiki40b --help         how to build Wiki-40B from dumps on disk
  corpusmill lm1b --help            how to build One Billion Word from news sentences
  corpusmill pg19 --help            how to build PG-19 from Project Gutenberg, and simplebooks SimpleBooks
  corpusmill report DIR             what was built, beside the figures of the paper
"""


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="corpusmill",
        description="Builds language-model benchmark corpora from their raw sources.",
        epilog=EPILOG,
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--verbose", action="store_true", help="log more")
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
    return parser
