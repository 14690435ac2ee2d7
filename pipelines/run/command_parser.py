"""The parser of the command line.

It adds flags for log messages. For a misspelled command or flag, it suggests similar ones.
"""

import argparse
import difflib
import logging
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

LEVELS = ("debug", "info", "warning", "error")
DEFAULTS = {"quiet": False, "verbose": False, "log_level": ""}


class CommandParser(argparse.ArgumentParser):
    """An ArgumentParser with the flags for log messages, which are allowed before and after the command."""

    def __init__(self, *args: Any, **named: Any):
        super().__init__(*args, **named)
        self._given: list[str] = []  # the arguments on the command line
        # A flag that is not given sets no value, so a value from before the command is kept.
        self._messages = messages = self.add_argument_group("messages")
        for flag, help in (
            ("--quiet", "show no progress, and log only warnings and errors"),
            ("--verbose", "also log the messages of Beam"),
        ):
            messages.add_argument(flag, action="store_true", default=argparse.SUPPRESS, help=help)
        messages.add_argument(
            "--log-level",
            choices=LEVELS,
            default=argparse.SUPPRESS,
            help="the least level of corpusmill's messages that are logged (default info)",
        )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parses arguments (see argparse)."""
        self._given = sys.argv[1:] if args is None else list(args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Prints the error in one line with a hint to use --help, and exits.

        Unlike argparse, it does not print all flags. If a required flag is missing, the message also suggests
        corrections of misspelled flags.
        """
        known = [one for one in self._option_string_actions if one.startswith("--")]
        names = [one.partition("=")[0] for one in self._given if one.startswith("--")]
        for name in names if "are required" in message else ():
            if name not in known and (near := guess(name, known)):
                message += f"; no such flag: {name}{near}"
        text = f"{self.prog}: error: {message}\n{self.prog} --help explains the flags"
        self.exit(2, f"{fill(text)}\n")

    def format_help(self) -> str:
        """Returns the help page (see argparse). The flags for log messages are last."""
        self._action_groups.sort(key=lambda group: group is self._messages)
        return super().format_help()

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Checks the value of an argument (see argparse). For an unknown command, the error message suggests
        similar commands.
        """
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            kind, known = str(action.metavar or "command").lower(), ", ".join(action.choices)
            near = guess(value, action.choices)
            end = f"{near} Known: {known}" if near else f"; known: {known}"
            raise argparse.ArgumentError(None, f"no such {kind}: {value!r}{end}")
        super()._check_value(action, value)

    def flags(self, command: str = "") -> Iterator[str]:
        """Yields the flags of this parser and of the given command; by default, of all commands."""
        for action in self._actions:
            yield from (one for one in action.option_strings if one.startswith("--"))
            if isinstance(action, argparse._SubParsersAction):
                chosen = action.choices.get(command)
                for parser in [chosen] if chosen else action.choices.values():
                    yield from parser.flags()


def fill(text: str) -> str:
    """Wraps a text between words to the width of the terminal. Without a terminal, returns it unchanged."""
    if not sys.stderr.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join(
        textwrap.fill(
            line, width, break_long_words=False, break_on_hyphens=False, replace_whitespace=False
        )
        for line in text.splitlines()
    )


def guess(word: str, known: Iterable[str]) -> str:
    """Returns a suggestion such as "; did you mean --language?".

    Args:
      word: The misspelled word.
      known: The words to suggest from.

    Returns "" if no known word is similar.
    """
    near = difflib.get_close_matches(word, list(dict.fromkeys(known)), 2)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def level_of(settings: argparse.Namespace) -> int:
    """Returns the logging level for corpusmill's messages, as chosen by --quiet and --log-level."""
    name = settings.log_level or ("warning" if settings.quiet else "info")
    return logging.getLevelNamesMapping()[name.upper()]
