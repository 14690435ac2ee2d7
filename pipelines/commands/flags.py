"""Functions that add commands, and the flags that commands share."""

import argparse
import dataclasses
import functools
import os
import pathlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from pipelines.commands.dry_run import parse_prices, print_estimate
from pipelines.commands.help_pages import HelpFormatter
from pipelines.corpora import rows
from pipelines.engines.runners import IN_PROCESS, runner_named
from transforms.text.builds.plausibility import DOUBTS
from transforms.text.wikimedia.language_names import code_of_language

if TYPE_CHECKING:
    from pipelines.builds.estimate import Estimate
    from pipelines.builds.launch import Corpus

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

ABOVE = ("README.md", "croissant.json", "CURRENT")
"""Names of files in the folders above builds. A shell pattern such as uk/* also matches these files."""
STORES = "file names or patterns, on any file system of Beam's (gs://, s3://, hdfs://)"


def add_command(
    commands: Commands,
    name: str,
    help: str,
    page: str | None,
    run: Callable[[argparse.Namespace, Sequence[str]], int | None] | None = None,
) -> argparse.ArgumentParser:
    """Adds a command to a parser.

    Args:
      page: The docstring of the module. In the help, its first paragraph is above the flags, the others
        below.
      run: Function (settings, Beam's flags) → exit status. By default, builds the corpus `name`.
    """
    about, _, more = (page or "").partition("\n\n")
    parser = commands.add_parser(
        name,
        help=help,
        description=about,
        epilog=more,
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run or functools.partial(build_corpus, name))
    return parser


class Flags:
    """Adds flags to a command, in a group with a title.

    Args:
      title: The title in the help; "" for none.
    """

    def __init__(self, parser: argparse.ArgumentParser, title: str = "", about: str | None = None):
        self._group = parser.add_argument_group(title, about) if title else parser

    def text(self, flag: str, metavar: str, help: str, **more: Any) -> None:
        """Adds a flag that takes one word; "" by default."""
        self._group.add_argument(flag, metavar=metavar, help=help, **{"default": "", **more})

    def files(
        self, flag: str, help: str, metavar: str = "FILE", *, required: bool = False, **more: Any
    ) -> None:
        """Adds a flag that takes one or more file names or patterns."""
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
        """Adds a flag that takes a number of the default's type; without a default, a whole number."""
        kind = int if default is None else type(default)
        shown = "" if default is None else " (default %(default)s)"
        given = {"type": kind, "default": default, **more}
        self._group.add_argument(flag, metavar=metavar, help=help + shown, **given)

    def choice(self, flag: str, choices: Sequence[str], help: str, **more: Any) -> None:
        """Adds a flag that takes one of several words; the first word is the default."""
        given = {"choices": choices, "default": choices[0], **more}
        self._group.add_argument(flag, help=help, **given)

    def switch(self, flag: str, help: str, **more: Any) -> None:
        """Adds a flag without a value."""
        self._group.add_argument(flag, help=help, **{"action": "store_true", **more})

    def dump_date(self, default: str) -> None:
        """Adds the flag for the date in the name of a build. `default` describes the default."""
        self.text("--dump-date", "DATE", f"names the build; default: {default}")

    def limit(self, unit: str) -> None:
        """Adds the flag that limits the input, for a quick trial. By default, there is no limit."""
        help = f"read the first N {unit} only, for a first look; manifest and card say so"
        self.number("--limit", help, default=None, type=_positive)

    def on_corrupt(self, kept: str = "take what is whole") -> None:
        """Adds the flag that chooses what to do about damaged input. `kept` describes what is kept of it."""
        help = f"what to do about damaged input: end with an error (default), or {kept}"
        self.choice("--on-corrupt", ("fail", "keep-good"), help)

    def near_duplicates(self, help: str) -> None:
        """Adds the flag for the least similarity of near-duplicates that are dropped; 0 keeps all."""
        self.text("--near-duplicates", "SIMILARITY", help, type=float, default=0.0)

    def signatures(self, unit: str) -> None:
        """Adds the switch that makes a build write files of MinHash signatures."""
        self.switch(
            "--signatures",
            f"write the MinHash signature of each {unit}, which datasketch reads, to signatures-*.parquet",
        )

    def workers(self, help: str, default: int | None = None) -> None:
        """Adds the flag for the number of worker processes; by default, the number of cores."""
        cores = default or os.cpu_count() or 1
        self.number("--workers", help, cores, type=_positive)


def add_output(parser: argparse.ArgumentParser, *, has_stages: bool = True) -> None:
    """Adds the flags for the output of a build. With `has_stages`, also adds those that control its run."""
    flags = Flags(parser)
    flags.text("--output", "DIR", "parent folder of the build", required=True)
    flags.switch("--replace", "replace a finished build")
    if has_stages:
        add_json(parser)
    if has_stages:
        flags.switch(
            "--fresh",
            "repeat all stages (default: resume an earlier run of the same build that was interrupted)",
        )
        flags.switch(
            "--ignore-memory",
            "start although the in-process runner has less memory than the build needs",
        )
        doubts = "; ".join(f"{name}: {meaning}" for name, meaning in DOUBTS.items())
        flags.files(
            "--accept",
            f"build although the result shows damaged or mismatched input: {doubts}",
            "DOUBT",
            choices=DOUBTS,
        )
        flags.switch(
            "--dry-run",
            "check the inputs and print what would be done, how long it would take, how much memory"
            " and disk it would need, or what it would cost, and do nothing",
        )
        flags.files(
            "--prices",
            "with --dry-run: prices in US dollars of a vCPU-hour (vcpu), a GB-hour of memory or of disk, a"
            " GB shuffled (shuffle); default, for Dataflow: those of the region us-central1 as Beam has them",
            "NAME=USD",
            type=parse_prices,
        )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Adds the switch for a summary in JSON format."""
    help = "print the summary as JSON, a line for each build or check, and nothing else on stdout"
    Flags(parser).switch("--json", help)


def add_runner(parser: argparse.ArgumentParser, workers: int | None = None) -> None:
    """Adds the flags for the runner. `workers` is the default number of processes; None for all cores."""
    flags = Flags(parser, "where it runs", "flags not listed here are passed to Beam")
    flags.workers("processes of the in-process runner and of Spark on this machine", workers)
    flags.text(
        "--runner",
        "NAME",
        "in-process (default; also called DirectRunner), SparkRunner, DataflowRunner, FlinkRunner, …",
        default=IN_PROCESS,
        type=_runner,
    )


def runner_of(settings: argparse.Namespace, beam_flags: Sequence[str]) -> dict[str, Any]:
    """Returns the flags from `add_runner` as keyword arguments for functions that run a pipeline."""
    runner, workers = settings.runner, settings.workers
    return {"runner": runner, "workers": workers, "beam_flags": beam_flags}


def add_folders(parser: argparse.ArgumentParser, what: str) -> None:
    """Adds arguments that are folders. `what` describes them."""
    parser.add_argument("folders", nargs="+", action=_Folders, metavar="DIR", help=what)


class _Folders(argparse.Action):
    """Removes the file names in ABOVE from the arguments, unless there are no other arguments."""

    def __call__(self, _: object, settings: argparse.Namespace, values: Any, *__: object) -> None:
        folders = [one for one in values if pathlib.PurePath(one).name not in ABOVE]
        setattr(settings, self.dest, folders or values)


def _runner(text: str) -> str:
    try:
        return runner_named(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def language(text: str) -> str:
    """Returns the code of a language, given its code or name; the type of a flag."""
    try:
        return code_of_language(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive whole number")
    return number


def settings_of(config: type, settings: argparse.Namespace) -> dict[str, Any]:
    """Returns the flags that are fields of `config`, without those that are None: these keep the defaults."""
    given = {name: value for name, value in vars(settings).items() if value is not None}
    return {
        field.name: given[field.name] for field in dataclasses.fields(config) if field.name in given
    }


def build_corpus(name: str, settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    """Builds the corpus `name`, using the flags that are fields of its settings."""
    build, config = rows()[name].classes()
    launch_build(build(config(**settings_of(config, settings))), settings, beam_flags)


def launch_build(
    corpus: "Corpus", settings: argparse.Namespace, beam_flags: Sequence[str]
) -> "Estimate | None":
    """Builds a corpus as the flags from `add_output` and `add_runner` say. In a dry run, only prints and
    returns an estimate.
    """
    from pipelines.builds.launch import launch

    if settings.dry_run:
        return print_estimate(corpus, settings, beam_flags)

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
    return None
