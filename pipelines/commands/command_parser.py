"""Parsers of commands: flags that every command has, and guesses at what a wrong word was meant to be."""

import argparse
import difflib
import logging
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

LEVELS = ("debug", "info", "warning", "error")
DEFAULTS = {"quiet": False, "verbose": False, "log_level": ""}


class CommandParser(argparse.ArgumentParser):
    """An ArgumentParser whose flags of messages count before a command and after it."""

    def __init__(self, *args: Any, **named: Any):
        super().__init__(*args, **named)
        # Not given is not set: a value from before the command is not overwritten.
        self._messages = messages = self.add_argument_group("messages")
        for flag, help in (
            ("--quiet", "show no progress, and log warnings and errors only"),
            ("--verbose", "log what Beam says, too"),
        ):
            messages.add_argument(flag, action="store_true", default=argparse.SUPPRESS, help=help)
        messages.add_argument(
            "--log-level",
            choices=LEVELS,
            default=argparse.SUPPRESS,
            help="what to log of corpusmill (default info)",
        )

    def error(self, message: str) -> NoReturn:
        """One line, and where the flags are explained; argparse would print all of them first."""
        self.exit(2, f"{self.prog}: error: {message}\n{self.prog} --help explains the flags\n")

    def format_help(self) -> str:
        """As argparse has it, those flags last."""
        self._action_groups.sort(key=lambda group: group is self._messages)
        return super().format_help()

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """As argparse has it; of a wrong command, those near are named, not all."""
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            kind, known = str(action.metavar or "command").lower(), ", ".join(action.choices)
            near = guess(value, action.choices)
            raise argparse.ArgumentError(
                None, f"no such {kind}: {value!r}{near or ';'} known are {known}"
            )
        super()._check_value(action, value)

    def flags(self) -> Iterator[str]:
        """All flags of this parser, and of those below it."""
        for action in self._actions:
            yield from (one for one in action.option_strings if one.startswith("--"))
            if isinstance(action, argparse._SubParsersAction):
                for parser in action.choices.values():
                    yield from parser.flags()


def guess(word: str, known: Iterable[str]) -> str:
    """ "; did you mean --language?", or "" where nothing known is like the word."""
    near = difflib.get_close_matches(word, list(dict.fromkeys(known)), 2)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def level_of(settings: argparse.Namespace) -> int:
    """The level of our own log."""
    name = settings.log_level or ("warning" if settings.quiet else "info")
    return logging.getLevelNamesMapping()[name.upper()]
