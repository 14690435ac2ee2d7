"""Writes and prints the reports of checks such as `verify` and `compare`.

The workers that run a check write its report, which the command then reads.

Writes the output folder of a search in data sets, such as the search for near-duplicates.

The folder has a manifest like that of a build.
"""

import contextlib
import functools
import logging
import os
import pathlib
import posixpath
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypedDict, Unpack

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.duplicates.read_texts import TextFile
from corpusmill.transforms.files.builds.finished_builds import open_build
from corpusmill.transforms.files.builds.manifest import COMPLETED, MANIFEST, Description, Release
from corpusmill.transforms.files.errors import IN_PROCESS
from corpusmill.transforms.files.read_files import file_bytes_of, hash_input, is_there
from corpusmill.transforms.files.records import InputFile
from corpusmill.transforms.files.stores import is_local
from corpusmill.transforms.files.terminal import escape_line

from ..run.corpus_build import CorpusBuild
from ..run.engines.engine import Engine
from ..run.engines.run_pipeline import find_engine
from ..run.publish import TargetError, building, is_completed

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
    if report and is_local(report):
        pathlib.Path(report).parent.mkdir(parents=True, exist_ok=True)  # before the work
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


LOG = logging.getLogger(__name__)


class FoundFolder(CorpusBuild):
    """A search in data sets, such as the search for near-duplicate documents.

    Its output folder has a manifest, a card and stats.json, like the folder of a build.

    Args:
      release: The name and the version of the command. The manifest has the name in its field `corpus`.
      title: The title of the card.
      settings: The settings that influence the output.
      inputs: A pair (name, files) for each data set. For a finished build, only its manifest is recorded as
        an input, because the manifest contains the hashes of all files.
    """

    edition = ""
    dump_date = ""

    def __init__(
        self,
        release: Release,
        title: str,
        settings: Mapping[str, Any],
        inputs: Iterable[tuple[str, Sequence[TextFile]]],
    ):
        self.release, self.description = release, Description(title)
        self._settings = settings
        self._inputs: dict[str, list[str]] = {}
        self._texts: dict[str, list[str]] = {}
        for name, files in inputs:
            texts = {
                " ".join((file.kind, file.id, *([file.shape] if file.shape else file.columns)))
                for file in files
            }
            self._texts[name] = sorted(texts.union(self._texts.get(name, [])))
            places = (posixpath.split(file.path) for file in files)
            paths = (
                str(FileSystems.join(folder, MANIFEST if _is_build(folder) else of_file))
                for folder, of_file in places
            )
            self._inputs[name] = list(dict.fromkeys([*self._inputs.get(name, []), *paths]))

    def inputs(self) -> Mapping[str, Sequence[str]]:
        return self._inputs

    def settings(self) -> Mapping[str, Any]:
        """Returns the settings, and how the texts of each data set are read: the kind of files, the column of
        ids, and the columns of texts.
        """
        return {**self._settings, "texts": self._texts}

    def is_finished(self, output: str) -> bool:
        """Returns True if `output` contains the finished results of this search: made by the same version,
        with the same settings and inputs.

        Inputs are compared by their hashes. For builds, only the manifests are compared.
        """
        if not is_completed(output):
            return False
        found = open_build(output)
        expected = self.release.corpus, self.release.version, self.settings()
        if (found.corpus, found.manifest["version"], found.manifest.get("settings")) != expected:
            return False
        listed = [
            InputFile(*map(file.get, InputFile._fields))
            for file in found.manifest.get("inputs", [])
        ]
        paths = [(role, path) for role, paths in self._inputs.items() for path in paths]
        sizes = [(role, posixpath.basename(path), file_bytes_of(path)) for role, path in paths]
        if sorted(sizes) != [file[:3] for file in listed]:
            return False
        if sorted(hash_input(*path) for path in paths) != listed:
            return False
        LOG.info("%s has the results of this search, so nothing is searched again", output)
        return True

    def signature_settings(self) -> Mapping[str, str]:
        """Returns the settings that are part of the signature of the search: all strings and integers."""
        words = {name: one for name, one in self._settings.items() if isinstance(one, str | int)}
        return {name.replace("_", "-"): str(one) for name, one in words.items()}


@functools.lru_cache(maxsize=1 << 10)
def _is_build(folder: str) -> bool:
    return is_there(FileSystems.join(folder, COMPLETED))


@contextlib.contextmanager
def new_folder(output: str) -> Iterator[str]:
    """Yields a folder to write to. It is renamed to `output` if the `with` block ends without an error.

    Raises TargetError if `output` is not empty.
    """
    if is_local(output) and pathlib.Path(output).exists() and any(os.scandir(output)):
        raise TargetError(f"{output} is not empty: use another --output")
    with building(output) as folder:
        yield folder
