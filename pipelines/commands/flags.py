"""Flags that commands share."""

import argparse
import dataclasses
import os
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipelines.builds.launch import Corpus

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def add_files(group: argparse._ArgumentGroup, flag: str, what: str, required: bool = False) -> None:
    """Adds a flag that takes file names or patterns."""
    group.add_argument(flag, nargs="+", default=[], metavar="FILE", help=what, required=required)


def add_output(parser: argparse.ArgumentParser, *, has_stages: bool = True) -> None:
    """Adds where a build goes, whether it may replace one, and whether it goes on from an earlier run."""
    parser.add_argument("--output", required=True, metavar="DIR", help="parent folder of the build")
    parser.add_argument("--replace", action="store_true", help="replace a finished build")
    if has_stages:
        parser.add_argument(
            "--fresh",
            action="store_true",
            help="do all anew (default: go on where an earlier run of the same build was interrupted)",
        )
        parser.add_argument(
            "--ignore-memory",
            action="store_true",
            help="start although the in-process runner has not the memory that the build needs",
        )


def add_runner(parser: argparse.ArgumentParser, workers: int | None = None) -> None:
    """Adds what runs the pipeline; `workers` is the default number, None all cores."""
    runner = parser.add_argument_group("where it runs", "flags not listed here are passed to Beam")
    runner.add_argument(
        "--workers",
        type=_positive,
        default=workers or os.cpu_count() or 1,
        metavar="N",
        help="processes of the in-process runner and of Spark on this machine (default %(default)s)",
    )
    runner.add_argument(
        "--runner",
        default="in-process",
        metavar="NAME",
        help="in-process (default), SparkRunner, DataflowRunner, FlinkRunner, …",
    )


def add_folders(parser: argparse.ArgumentParser, what: str) -> None:
    """Adds folders as arguments. A pattern of the shell, uk/*, names the card above builds, too."""
    parser.add_argument("folders", nargs="+", action=_Folders, metavar="DIR", help=what)


class _Folders(argparse.Action):
    """Leaves out the cards, unless there is nothing else."""

    def __call__(self, _: object, settings: argparse.Namespace, values: Any, *__: object) -> None:
        folders = [one for one in values if pathlib.PurePath(one).name != "README.md"]
        setattr(settings, self.dest, folders or values)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number


def settings_of(config: type, settings: argparse.Namespace) -> dict[str, Any]:
    """The flags that are fields of a config; those that were not given, None here, keep its defaults."""
    given = {name: value for name, value in vars(settings).items() if value is not None}
    return {
        field.name: given[field.name] for field in dataclasses.fields(config) if field.name in given
    }


def launch_build(corpus: "Corpus", settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    """Builds a corpus with the flags of `add_output` and `add_runner`."""
    from pipelines.builds.launch import launch

    launch(
        corpus,
        settings.output,
        runner=settings.runner,
        workers=settings.workers,
        beam_flags=beam_flags,
        replace=settings.replace,
        fresh=settings.fresh,
        ignore_memory=settings.ignore_memory,
    )
