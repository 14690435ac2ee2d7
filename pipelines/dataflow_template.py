"""Runs a build from a Dataflow Flex template: a web form with the flags of a command.

A template can start only one job, with a graph that is known in advance, and must not wait for its end. A
build runs several jobs in order, and more steps after them. So the job of the template has one worker and one
step, which runs the corpusmill command. The command starts the jobs of the build, waits for them, and
publishes the build. If the worker of the template's job is lost, the running job of the build continues. When
that job has ended, launch the template again: the build resumes with the next stage.
"""

import argparse
import logging
import shlex
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from corpusmill.pipelines.run.corpora import rows
from corpusmill.pipelines.run.flags import DEFAULTS
from corpusmill.transforms.files.errors import DATAFLOW, IN_PROCESS, BuildError

from .cli import LazyParser, make_parser

ONE_WORKER = ("--num_workers=1", "--max_num_workers=1", "--autoscaling_algorithm=NONE")
HANDED_ON = (
    "project",
    "region",
    "temp_location",
    "service_account_email",
    "network",
    "subnetwork",
    "sdk_container_image",
)
"""Flags of the template's job that are passed on to the jobs of the build."""

_ON, _OFF = "true", "false"
_TAIL_LINES = 20
_NOT_OFFERED = ("help", "runner", "json", "dry_run", *DEFAULTS)


def commands() -> list[str]:
    """Returns the names of the commands for which a template can be made."""
    return [row.name for row in rows().values() if row.is_template]


def main(arguments: Sequence[str] | None = None) -> None:
    """Starts the job of a template, without waiting for its end.

    Args:
      arguments: --command, the flags of the command (see `metadata_of`), and flags for the template's job. By
        default, the arguments of this process.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--command", choices=commands(), required=True)
    chosen, given = parser.parse_known_args(given)
    for parameter in metadata_of(chosen.command)["parameters"][1:]:
        parser.add_argument(f"--{parameter['name']}", required=not parameter["isOptional"])
    values, flags = parser.parse_known_args(["--command", chosen.command, *given])
    command = command_line(vars(values), flags)
    make_parser().parse_known_args(command)  # wrong flags are errors here, before a job is started
    # The flags of the user may override these.
    options = PipelineOptions([f"--runner={DATAFLOW}", *ONE_WORKER, *flags])
    pipeline = beam.Pipeline(options=options)
    _ = pipeline | "Command" >> beam.Create([command]) | "RunCommand" >> beam.Map(run_command)
    pipeline.run()


def metadata_of(command: str) -> dict[str, Any]:
    """Returns the definition of the web form for a command, with a parameter for each flag.

    It is the content of the file for `gcloud dataflow flex-template build --metadata-file`.
    """
    parser = parser_of(command)
    chosen = _parameter("command", "Command", "The corpusmill command of this template.")
    chosen["regexes"] = [f"^{command}$"]
    own = [_describe(action) for action in _actions_of(parser)]
    return {
        "name": f"corpusmill {command}",
        "description": parser.description,
        "parameters": [chosen, *own, *_jobs_parameters()],
    }


def command_line(values: Mapping[str, str | None], flags: Sequence[str]) -> list[str]:
    """Returns the command line for the values that a user has entered in the form.

    Args:
      values: Name of a parameter → its value; None or "" if it is missing.
      flags: The Beam flags of the template's job. Flags that the jobs of the build also need, such as
        --project, are also added to the command line.
    """
    line = [str(values["command"])]
    for action in _actions_of(parser_of(line[0])):
        value = values.get(_name_of(action))
        if value and action.nargs == 0:
            line += [action.option_strings[0]] if value == _ON else []
        elif value:
            parts = shlex.split(value) if action.nargs else [value]
            line += [action.option_strings[0], *parts]
    runner = values.get("jobs_runner") or DATAFLOW
    line += ["--runner", runner]
    if runner == IN_PROCESS:
        return line
    options = PipelineOptions(list(flags)).get_all_options(drop_default=True)
    line += [f"--{name}={options[name]}" for name in HANDED_ON if options.get(name)]
    return line + shlex.split(values.get("jobs_flags") or "")


def run_command(command: Sequence[str]) -> None:
    """Runs a corpusmill command until it ends. Its output is written to the log of the worker.

    Raises BuildError with the last lines of its output if the command fails.
    """
    log = logging.getLogger(__name__)
    log.info("corpusmill %s", shlex.join(command))
    tail: deque[str] = deque(maxlen=_TAIL_LINES)
    with subprocess.Popen(
        [sys.executable, "-m", "corpusmill", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        for line in process.stdout or ():
            tail.append(line)
            log.info("%s", line.rstrip())
    if process.returncode:
        raise BuildError(
            f"corpusmill {command[0]} ended with exit status {process.returncode}: {''.join(tail).strip()}"
        )


def parser_of(command: str) -> argparse.ArgumentParser:
    (choices,) = (
        action.choices
        for action in make_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    parser: LazyParser = choices[command]
    return parser.filled()


def _actions_of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if _name_of(action) not in _NOT_OFFERED]


def _name_of(action: argparse.Action) -> str:
    """Returns the name of a flag's parameter in the form, such as "page_props" for "--page-props"."""
    return action.option_strings[-1].lstrip("-").replace("-", "_")


def _describe(action: argparse.Action) -> dict[str, Any]:
    name = _name_of(action)
    # The number of cores of the machine that writes the form does not matter.
    shown = {**vars(action), "default": "all cores"} if name == "workers" else vars(action)
    text = (action.help or name) % {**shown, "prog": "corpusmill"}
    label = name.replace("_", " ").capitalize()
    if action.nargs and action.nargs != "?":
        text += (
            ". Several are separated by spaces, and quoted as in a shell if they contain spaces."
        )
    parameter = _parameter(name, label, text, optional=not action.required)
    if action.nargs == 0:
        parameter |= {"paramType": "BOOLEAN", "regexes": [f"^({_ON}|{_OFF})$"]}
    elif action.choices:
        parameter["regexes"] = [f"^({'|'.join(map(str, action.choices))})$"]
    return parameter


def _parameter(name: str, label: str, text: str, *, optional: bool = False) -> dict[str, Any]:
    return {
        "name": name,
        "label": label,
        "helpText": text,
        "isOptional": optional,
        "paramType": "TEXT",
    }


def _jobs_parameters() -> list[dict[str, Any]]:
    runner = _parameter(
        "jobs_runner",
        "Jobs runner",
        f"{DATAFLOW} (default): the build starts its own jobs; {IN_PROCESS}: the one worker of this"
        " template does all the work, in `workers` processes, which is enough for small inputs.",
        optional=True,
    )
    runner["regexes"] = [f"^({DATAFLOW}|{IN_PROCESS})$"]
    flags = _parameter(
        "jobs_flags",
        "Jobs flags",
        "Flags for the jobs of the build, quoted as in a shell:"
        " --worker_machine_type=n2-highmem-4 --max_num_workers=50 --disk_size_gb=50",
        optional=True,
    )
    return [runner, flags]
