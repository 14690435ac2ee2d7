"""Writes and prints the reports of checks such as `verify` and `compare`.

The workers that run a check write its report, which the command then reads.
"""

import contextlib
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypedDict, Unpack

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from corpusmill.pipelines.run.engines.engine import Engine
from corpusmill.pipelines.run.engines.run_pipeline import find_engine
from corpusmill.transforms.files.runners import IN_PROCESS
from corpusmill.transforms.files.terminal import escape_line

SHOWN = 20  # maximum number of faults, entities or documents shown on the screen
ALL_IS_WELL = "OK: all is well"
FAULTY = "copy or build the editions again"
COLUMNS = ("what", "name", "detail")


class Means(TypedDict, total=False):
    """Keyword arguments of all checks: how to run the check, and where to write its report.

    `runner` is the name of a Beam runner, `workers` the number of worker processes, and `beam_flags` are
    flags for Beam. `report` is the path of a file to which all findings are written as tab-separated lines.
    It must be on a file system that the workers and this process share. All runners except the in-process
    runner require a report.
    """

    runner: str
    workers: int | None
    beam_flags: Sequence[str]
    report: str


@contextlib.contextmanager
def reporting(**means: Unpack[Means]) -> Iterator[tuple[Engine, str]]:
    """Yields the engine that runs the check, and the path of its report.

    If `means` has no report, the report is a temporary file. Raises ValueError if the workers of the runner
    cannot write to the path.
    """
    runner, report = means.get("runner", IN_PROCESS), means.get("report", "")
    if runner != IN_PROCESS and not report:
        raise ValueError(
            f"--runner {runner} needs --report, on a file system that its workers share"
        )
    if report and pathlib.Path(report).is_dir():
        raise ValueError(f"--report must be a file, but {report} is a folder")
    workers = means.get("workers") or os.cpu_count() or 1
    engine = find_engine(runner, workers, means.get("beam_flags", ()))
    if report:
        yield engine, report
    else:
        with tempfile.TemporaryDirectory(prefix="corpusmill-verify-") as folder:
            yield engine, FileSystems.join(folder, "report.tsv")


def add_report(
    root: beam.Pipeline, path: str, write: Callable[..., None], *arguments: object
) -> None:
    """Adds a step to a pipeline that calls `write(path, *arguments)` once. The arguments may be
    side inputs.
    """
    _ = root | "Once" >> beam.Create([path]) | "WriteReport" >> beam.Map(write, *arguments)


def write_lines(path: str, lines: Iterable[str]) -> None:
    """Writes lines to a file without compression. Each line must end with a line feed."""
    with FileSystems.create(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        for line in lines:
            file.write(line.encode("utf-8"))


def print_count(what: str, count: int) -> None:
    """Prints the number of findings of one kind.

    Args:
      what: The name of the kind, such as "moved between splits".
    """
    print(f"{what}: {count:,}" if count else f"{what}: none")


def print_first(lines: Sequence[str], count: int, report: str) -> None:
    """Prints the first findings, at most SHOWN of them, and says where the others are.

    Args:
      lines: The first findings, one on each line.
      count: The number of all findings.
      report: The path of the report; "" if there is none.
    """
    shown = lines[:SHOWN]
    for line in shown:
        print(f"  {escape_line(line)}")
    if count > len(shown):
        rest = f"all are in {report}" if report else "--report FILE lists all"
        print(f"  … and {count - len(shown):,} more; {rest}")
