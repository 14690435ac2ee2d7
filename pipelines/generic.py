"""Makes the command of a corpus that has no command module, with a flag for each field of its
config class.
"""

import argparse
import collections.abc
import dataclasses
import functools
import types
import typing
from collections.abc import Callable
from typing import Any, Self

from corpusmill.pipelines.run.command_parser import CommandParser
from corpusmill.pipelines.run.corpora import CorpusRow
from corpusmill.pipelines.run.flags import Commands, add_output, add_runner, build_corpus


class LazyParser(CommandParser):
    """A parser that adds its flags only when they are needed, because the module of a corpus is slow to
    import.

    Args:
      fill: Function that adds the flags to this parser.
    """

    def __init__(self, *args: Any, fill: Callable[[Self], None] | None = None, **named: Any):
        super().__init__(*args, **named)
        self._fill = fill

    def filled(self) -> Self:
        """Returns this parser. Adds its flags first, if this was not yet done."""
        fill, self._fill = self._fill, None
        if fill:
            fill(self)
        return self

    def parse_known_args(self, *args: Any, **named: Any) -> Any:
        """Parses arguments (see argparse)."""
        return super(LazyParser, self.filled()).parse_known_args(*args, **named)


def add(row: CorpusRow, commands: Commands) -> None:
    """Adds the command that builds a corpus. The name of the command is that of the corpus.

    Args:
      row: The row of the corpus in the list of corpora (corpora.py).
    """
    fill = functools.partial(_fill, row)
    commands.add_parser(row.name, help=f"builds {row.name}", allow_abbrev=False, fill=fill)


def _fill(row: CorpusRow, parser: argparse.ArgumentParser) -> None:
    parser.description = (row.load().__doc__ or "").partition("\n")[0]
    parser.set_defaults(run=functools.partial(build_corpus, row.name))
    settings = parser.add_argument_group("settings")
    _, config = row.classes()
    kinds = typing.get_type_hints(config)
    for field in dataclasses.fields(config):
        _add_flag(settings, field, kinds[field.name])
    add_output(parser)
    add_runner(parser)


def _add_flag(group: Any, field: "dataclasses.Field[Any]", kind: Any) -> None:
    """Adds a flag for a field of a config class.

    For a sequence, the flag takes several values. For a Literal, it takes one of the Literal's values. For a
    bool, it takes no value. The flag is required if the field has no default.

    Args:
      group: The group of flags to which the flag is added.
      field: The field.
      kind: The type of the field.
    """
    is_needed = field.default is field.default_factory is dataclasses.MISSING
    flag: dict[str, Any] = {"type": kind, "metavar": field.name.split("_")[-1].upper()}
    origin = typing.get_origin(kind)
    if kind is bool:
        flag = {"action": argparse.BooleanOptionalAction if field.default else "store_true"}
    elif origin is typing.Literal:
        flag = {"choices": typing.get_args(kind)}
    elif origin in (tuple, list, collections.abc.Sequence):
        flag |= {"nargs": "+", "type": typing.get_args(kind)[0]}
    elif origin in (typing.Union, types.UnionType):
        flag["type"] = typing.get_args(kind)[0]
    text = field.metadata.get("help", field.name.replace("_", " "))
    if field.default not in (dataclasses.MISSING, None, "", (), False):
        text += f" (default {field.default})".replace("%", "%%")
    name = f"--{field.name.replace('_', '-')}"
    group.add_argument(name, default=None, required=is_needed, help=text, **flag)
