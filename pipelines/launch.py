"""From settings to a finished build: pipeline options, the runner, progress, publishing."""

import contextlib
import functools
import json
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions, _BeamArgumentParser
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms.environments import SubprocessSDKEnvironment

from pipelines import progress, publish
from pipelines.workers import worker_processes
from transforms.open_input import InputError

IN_PROCESS = "in-process"
_WORKER_ERROR = re.compile(r"InputError: (.*?)(?: \[while running '|\n|$)", re.DOTALL)


class Corpus(Protocol):
    """One build of a corpus, as the launcher needs it."""

    @property
    def path(self) -> Sequence[str]: ...
    def bytes_to_read(self, stripes: int) -> int: ...
    def build(self, root: beam.Pipeline, folder: str, stripes: int) -> None: ...
    def caveats(self) -> Sequence[str]: ...


class BuildError(Exception):
    """A build ended without a result; the message is for the person who started it."""


def launch(
    corpus: Corpus,
    output: str,
    *,
    runner: str = IN_PROCESS,
    workers: int | None = None,
    beam_flags: Sequence[str] = (),
    replace: bool = False,
) -> dict[str, Any]:
    """Builds the corpus into its folder below `output` and returns its manifest.

    Raises BuildError for inputs that turn out to be bad, TargetError for a target that cannot be taken.
    """
    workers = workers or os.cpu_count() or 1
    for caveat in corpus.caveats():
        logging.getLogger(__name__).warning(caveat)
    target = FileSystems.join(output, *corpus.path)
    start = time.monotonic()
    total_bytes = functools.partial(corpus.bytes_to_read, workers)
    with (
        publish.building(target, replace=replace) as folder,
        progress_shown(" ".join(corpus.path[:2]), total_bytes, runner),
    ):
        run_pipeline(
            lambda root: corpus.build(root, folder, workers),
            runner=runner,
            workers=workers,
            beam_flags=beam_flags,
        )
    manifest: dict[str, Any] = _read_json(target, "manifest.json")
    seconds = time.monotonic() - start
    progress.print_summary(target, manifest, _read_json(target, "stats.json"), seconds)
    return manifest


def run_pipeline(
    build: Callable[[beam.Pipeline], None], *, runner: str, workers: int, beam_flags: Sequence[str]
) -> None:
    """Runs what `build` adds to a pipeline, and waits for its end.

    Raises BuildError for inputs that turn out to be bad.
    """
    options = pipeline_options(runner, workers, beam_flags)
    with worker_processes() as processes:
        command = processes.command
        pipeline = beam.Pipeline(runner=_runner(runner, workers, command), options=options)
        try:
            build(pipeline)
            _run(pipeline)
        except InputError as error:
            raise BuildError(str(error)) from None
        except Exception as error:
            if not isinstance(error, BuildError):
                print(processes.log_tail(), file=sys.stderr)
            raise


def progress_shown(
    label: str, total_bytes: Callable[[], int], runner: str
) -> contextlib.AbstractContextManager[None]:
    """Other runners show the progress of a job in their own way: for them nothing is added up."""
    if runner != IN_PROCESS:
        return contextlib.nullcontext()
    return progress.shown(label, total_bytes())


def pipeline_options(runner: str, workers: int, beam_flags: Sequence[str]) -> PipelineOptions:
    """Options for the runner."""
    flags = list(beam_flags)
    if runner == IN_PROCESS:
        flags.append(f"--direct_num_workers={workers}")
    else:
        flags.append(f"--runner={runner}")
    return PipelineOptions(flags)


def check_beam_flags(flags: Sequence[str]) -> None:
    """Raises ValueError for a flag that Beam does not know: a typing error must not go unnoticed."""
    if not flags:
        return  # to ask all of Beam's options takes a third of a second
    parser = _BeamArgumentParser(allow_abbrev=False, add_help=False)
    for subclass in _all_subclasses(PipelineOptions):
        subclass._add_argparse_args(parser)
    _, unknown = parser.parse_known_args(list(flags))
    if unknown:
        raise ValueError(f"no such flag: {' '.join(unknown)}")


def _all_subclasses(base: type) -> list[Any]:
    found: dict[str, Any] = {}
    direct: list[Any] = base.__subclasses__()
    for subclass in direct:
        found.setdefault(subclass.__qualname__, subclass)
        for below in _all_subclasses(subclass):
            found.setdefault(below.__qualname__, below)
    return list(found.values())


def _runner(name: str, workers: int, worker_command: str) -> Any:
    """The in-process runner; None for one that the options name.

    By the name DirectRunner, Beam would first try to download Prism. The environment is the one of
    --direct_running_mode=multi_processing, but for the log: workers write to a file, not into the
    progress line.
    """
    if name != IN_PROCESS:
        return None
    if workers == 1:
        return FnApiRunner()
    return FnApiRunner(SubprocessSDKEnvironment.from_command_string(worker_command))


def _run(pipeline: beam.Pipeline) -> None:
    try:
        pipeline.run().wait_until_finish()
    except RuntimeError as error:
        _raise_interruption(error)
        # What a worker raises comes as the text of its traceback.
        found = _WORKER_ERROR.findall(str(error))
        if not found:
            raise
        raise BuildError(found[-1].strip()) from None


def _raise_interruption(error: BaseException) -> None:
    """Raises the Ctrl-C or SIGTERM that Beam has wrapped, where that is what ended the run."""
    wrapped: BaseException | None = error
    while wrapped:
        if isinstance(wrapped, KeyboardInterrupt | SystemExit):
            raise wrapped from None
        wrapped = wrapped.__cause__ or wrapped.__context__


def _read_json(folder: str, name: str) -> Any:
    path = FileSystems.join(folder, name)
    with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        return json.loads(file.read())
