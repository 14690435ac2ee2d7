"""Adds commands to the parser, and the flags that several commands have in common.

Formats help pages for the width of the terminal.

Prose is wrapped, long commands are continued with backslashes, and the layout of columns is kept.

The parser of the command line.

It adds flags for log messages. For a misspelled command or flag, it suggests similar ones.
"""

import argparse
import difflib
import functools
import inspect
import os
import pathlib
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from corpusmill.transforms.files.builds.ledger import DOUBTS
from corpusmill.transforms.files.errors import IN_PROCESS, runner_named

from .corpora import rows
from .forecast import print_forecast
from .settings import Config, add_settings, positive, settings_of, typed

if TYPE_CHECKING:
    from .corpus_build import CorpusBuild
    from .forecast import Forecast

_COMMAND = re.compile(r" {4,}(?:corpusmill |--?\w)")
_COMMENT = re.compile(r"( *\S.* {2,}# )\S")
_ROW = re.compile(r"( *\S.*? {2,})\S")
_BEFORE_FLAG = re.compile(r" (?=--?\w)")


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Wraps a help page line by line, so that lists of examples and files keep their layout."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = (f"{indent}{line}" if line else "" for line in _join_prose(text.splitlines()))
        return "\n".join(part for line in lines for part in fill_page(line, width))


def _join_prose(lines: list[str]) -> Iterator[str]:
    """Yields the lines of a text, with each unindented paragraph joined to one line."""
    paragraph: list[str] = []
    for line in [*lines, ""]:
        if line and not line.startswith(" "):
            paragraph.append(line)
            continue
        if paragraph:
            yield " ".join(paragraph)
            paragraph = []
        yield line


def fill_page(line: str, width: int) -> list[str]:
    """Splits a line of a help page into lines of at most `width` columns, unless a word is longer."""
    if len(line) <= width:
        return [line]
    indent = len(line) - len(line.lstrip(" "))
    if _COMMAND.match(line):
        return _fill_command(line, width, indent)
    comment = _COMMENT.match(line)
    row = comment or _ROW.match(line)
    kept = row[1] if row else " " * indent
    mark = "# " if comment else ""
    return textwrap.wrap(
        line[len(kept) :],
        width,
        initial_indent=kept,
        subsequent_indent=" " * (len(kept) - len(mark)) + mark,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _fill_command(line: str, width: int, indent: int) -> list[str]:
    """Splits a long command into lines of at most `width` columns. The lines are broken before flags.

    Each line except the last ends with a backslash.

    Args:
      indent: The number of spaces before the command.
    """
    is_continued = line.endswith(" \\")
    first, *flags = _BEFORE_FLAG.split(line.removesuffix(" \\").strip())
    further = indent + 2 * (not first.startswith("-"))
    lines = [" " * indent + first]
    for flag in flags:
        if len(lines[-1]) + len(flag) + len("  \\") <= width:
            lines[-1] += f" {flag}"
        else:
            lines.append(" " * further + flag)
    *broken, last = lines
    return [*(f"{one} \\" for one in broken), f"{last} \\" if is_continued else last]


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Run: TypeAlias = Callable[[argparse.Namespace, Sequence[str]], int | None]

ABOVE = ("README.md", "CURRENT")
"""Names of files beside builds, which a shell pattern such as uk/* also matches."""


def add_command(
    commands: Commands,
    name: str,
    help: str,
    page: str | None,
    run: Run | None = None,
) -> argparse.ArgumentParser:
    """Adds a command to a parser, and returns the parser of the command.

    Args:
      help: The line about the command in the help page of the parser.
      page: The help page of the command. The first paragraph is printed above the flags, the others below.
      run: Function (settings, Beam's flags) → exit status, which runs the command. By default, it builds the
        corpus `name`.
    """
    parser = commands.add_parser(name, help=help, formatter_class=HelpFormatter, allow_abbrev=False)
    describe(parser, page, run or functools.partial(build_corpus, name))
    return parser


def describe(parser: argparse.ArgumentParser, page: str | None, run: Run | None = None) -> None:
    """Sets the help page of a command, and the function that runs it; see `add_command`."""
    parser.description, _, parser.epilog = inspect.cleandoc(page or "").partition("\n\n")
    parser.set_defaults(run=run)


class Flags:
    """Adds flags to a command, as a group with a title in its help page.

    Args:
      title: The title of the group; "" to add the flags to no group.
      about: A description of the group.
    """

    def __init__(self, parser: argparse.ArgumentParser, title: str = "", about: str | None = None):
        self._group = parser.add_argument_group(title, about) if title else parser

    def text(self, flag: str, metavar: str, help: str, **more: Any) -> None:
        """Adds a flag whose value is a string. The default is "".

        Args:
          more: Further arguments for `add_argument`.
        """
        self._group.add_argument(flag, metavar=metavar, help=help, **{"default": "", **more})

    def files(
        self, flag: str, help: str, metavar: str = "FILE", *, required: bool = False, **more: Any
    ) -> None:
        """Adds a flag with one or more values, such as file names. The default is an empty list.

        Args:
          more: Further arguments for `add_argument`.
        """
        given = {"nargs": "+", "default": [], "required": required, **more}
        self._group.add_argument(flag, metavar=metavar, help=help, **given)

    def number(
        self,
        flag: str,
        help: str,
        default: float | str | None = None,
        *,
        metavar: str = "N",
        **more: Any,
    ) -> None:
        """Adds a flag whose value is a number of the type of `default`, or an int if `default` is None.

        Args:
          more: Further arguments for `add_argument`.
        """
        kind = int if default is None else type(default)
        shown = "" if default is None else " (default %(default)s)"
        given = {"type": kind, "default": default, **more}
        self._group.add_argument(flag, metavar=metavar, help=help + shown, **given)

    def choice(self, flag: str, choices: Sequence[str], help: str, **more: Any) -> None:
        """Adds a flag whose value must be one of `choices`. The default is the first one.

        Args:
          more: Further arguments for `add_argument`.
        """
        given = {"choices": choices, "default": choices[0], **more}
        self._group.add_argument(flag, help=help, **given)

    def switch(self, flag: str, help: str, **more: Any) -> None:
        """Adds a flag without a value. The setting is True if the flag is given.

        Args:
          more: Further arguments for `add_argument`.
        """
        self._group.add_argument(flag, help=help, **{"action": "store_true", **more})

    def workers(self, help: str, default: int | None = None) -> None:
        """Adds --workers, the number of worker processes. If `default` is None, it is the number of cores."""
        self.number("--workers", help, default or os.cpu_count() or 1, type=positive)


def add_output(
    parser: argparse.ArgumentParser, *, has_stages: bool = True, doubts: Sequence[str] = ()
) -> None:
    """Adds the flags for the output folder of a build.

    Args:
      has_stages: Whether the build runs in stages. If so, flags for resuming, estimates and memory are also
        added.
      doubts: The signs of damaged inputs for which the build ends, and which --accept names.
    """
    flags = Flags(parser)
    flags.text("--output", "DIR", "parent folder of the build", required=True)
    flags.switch("--replace", "replace a finished build")
    if has_stages:
        add_json(parser)
        flags.switch(
            "--fresh",
            "repeat all stages (default: resume an earlier run of the same build that was interrupted)",
        )
        flags.switch(
            "--ignore-memory",
            "start even if the machine has less memory than the in-process runner needs",
        )
        parser.set_defaults(accept=())
        if doubts:
            meanings = "; ".join(f"{name}: {DOUBTS[name]}" for name in doubts)
            flags.files(
                "--accept",
                f"publish the build even if its result suggests damaged or wrong inputs: {meanings}",
                "DOUBT",
                choices=doubts,
            )
        flags.switch(
            "--dry-run",
            "only check the inputs, and print what the build would do, and how much time, memory, disk or"
            " money it would need",
        )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Adds --json, which prints the summary as JSON."""
    help = "print only a summary as JSON to stdout, one line for each build or check"
    Flags(parser).switch("--json", help)


def add_runner(parser: argparse.ArgumentParser, workers: int | None = None) -> None:
    """Adds --workers and --runner.

    Args:
      workers: The default number of worker processes; None for the number of cores.
    """
    flags = Flags(parser, "runner", "flags that are not listed here are passed to Beam")
    flags.workers(
        "number of worker processes, for the in-process runner and Spark on this machine", workers
    )
    flags.text(
        "--runner",
        "NAME",
        "in-process (default; also called DirectRunner), SparkRunner, DataflowRunner, FlinkRunner, …",
        default=IN_PROCESS,
        type=typed(runner_named),
    )


def runner_of(settings: argparse.Namespace, beam_flags: Sequence[str]) -> dict[str, Any]:
    """Returns the values of --runner and --workers as keyword arguments for functions that run a pipeline."""
    return {"runner": settings.runner, "workers": settings.workers, "beam_flags": beam_flags}


def add_folders(parser: argparse.ArgumentParser, what: str) -> None:
    """Adds one or more folders as arguments of a command. `what` describes them in the help page."""
    parser.add_argument("folders", nargs="+", action=_Folders, metavar="DIR", help=what)


class _Folders(argparse.Action):
    """Stores the folders on the command line.

    A shell pattern such as uk/* also matches files that are not builds, such as uk/README.md and uk/CURRENT.
    These files are left out, unless all arguments are such files.
    """

    def __call__(self, _: object, settings: argparse.Namespace, values: Any, *__: object) -> None:
        folders = [one for one in values if pathlib.PurePath(one).name not in ABOVE]
        setattr(settings, self.dest, folders or values)


def add_build(parser: argparse.ArgumentParser, config: type[Config], *more: type) -> None:
    """Adds the flags of a command that builds a corpus: its settings, the output folder and the runner.

    Args:
      more: Classes of further settings, which are not those of a build.
    """
    for one in (config, *more):
        add_settings(parser, one)
    add_output(parser, doubts=config.doubts)
    add_runner(parser)


def build_corpus(name: str, settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    """Builds the corpus `name`. Each field of its config class is set from the flag with the same name."""
    build, config = rows()[name].classes()
    launch_build(build(config(**settings_of(config, settings))), settings, beam_flags)


def launch_build(
    corpus: "CorpusBuild", settings: argparse.Namespace, beam_flags: Sequence[str]
) -> "Forecast | None":
    """Builds a corpus with the settings from the flags of `add_output` and `add_runner`.

    With --dry-run, only prints and returns a forecast of the cost. Otherwise returns None.

    Raises TargetError if there is a finished build. It names what differs from the requested build.
    """
    from apache_beam.io.filesystems import FileSystems

    from .launch import launch
    from .publish import FinishedError, is_built

    try:
        if settings.dry_run:
            return print_forecast(corpus, settings, beam_flags)
        launch(
            corpus,
            settings.output,
            **runner_of(settings, beam_flags),
            replace=settings.replace,
            fresh=settings.fresh,
            ignore_memory=settings.ignore_memory,
            accept=settings.accept,
            is_sample=getattr(settings, "is_sample", False),
            as_json=settings.json,
        )
    except FinishedError:
        if not getattr(settings, "is_table_unbuilt", False):
            is_built(FileSystems.join(settings.output, *corpus.path), corpus)
        raise
    return None


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
        help = "the least level of corpusmill's messages that are logged (default info)"
        messages.add_argument("--log-level", choices=LEVELS, default=argparse.SUPPRESS, help=help)

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

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Returns the values of an argument (see argparse). An empty one is often an unset variable."""
        if "" in arg_strings and not isinstance(action, argparse._SubParsersAction):
            raise argparse.ArgumentError(action, "expected a value, got an empty string")
        return super()._get_values(action, arg_strings)

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
