"""Runs a build, publishes it, and displays its progress and a summary."""

import contextlib
import logging
import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Protocol

from apache_beam.io.filesystems import FileSystems

from corpusmill.pipelines.run import progress, publish, summary
from corpusmill.pipelines.run.corpora import row_of
from corpusmill.pipelines.run.engines.engine import Engine, PlannedBuild
from corpusmill.pipelines.run.engines.run_pipeline import find_engine
from corpusmill.pipelines.run.estimate import warn_of_small_disk
from corpusmill.pipelines.run.estimates import Estimate, find_steps
from corpusmill.pipelines.run.folder_cards import write_cards
from corpusmill.pipelines.run.publish import TargetError
from corpusmill.pipelines.run.run_stages import Staged, run_stages
from corpusmill.pipelines.run.stage_folders import StageFolders, stage_folders
from corpusmill.transforms.files.builds.finished_builds import read_json, read_manifest
from corpusmill.transforms.files.builds.plausibility import (
    EMPTY_TRAIN,
    Doubt,
    find_doubts,
    find_small,
)
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.runners import IN_PROCESS

LOG = logging.getLogger(__name__)


class Corpus(Staged, Protocol):
    """Interface of a build that can be launched."""

    @property
    def unheld(self) -> Collection[str]: ...
    @property
    def path(self) -> Sequence[str]: ...
    def bytes_to_read(self, stripes: int) -> int: ...
    def caveats(self) -> Sequence[str]: ...
    def doubts(self) -> Sequence[Doubt]: ...


def launch(
    corpus: Corpus,
    output: str,
    *,
    runner: str = IN_PROCESS,
    workers: int | None = None,
    beam_flags: Sequence[str] = (),
    replace: bool = False,
    fresh: bool = False,
    ignore_memory: bool = False,
    as_json: bool = False,
    accept: Collection[str] = (),
    is_sample: bool = False,
) -> dict[str, Any]:
    """Runs a build, and publishes it in a folder below `output`. Returns the manifest of the build.

    An interrupted run of the same build is resumed, unless `fresh` is True.

    Args:
      corpus: The build to run.
      output: The parent folder of all builds.
      runner, workers, beam_flags: See `find_engine`.
      replace: Whether to replace a finished build.
      fresh: Whether to run all stages again.
      ignore_memory: Whether to start even if the in-process runner has too little memory.
      as_json: Whether to print the summary as JSON.
      accept: Names of doubts (see plausibility.py) that do not stop the build.
      is_sample: Whether the input is a sample, so that no warning about a small build is logged.

    Raises BuildError for bad or implausible input, TargetError if the target cannot be written.
    """
    workers = workers or os.cpu_count() or 1
    engine = find_engine(runner, workers, beam_flags)
    is_first_look = bool(getattr(corpus.config, "limit", 0))
    if is_first_look:  # a build with a limit is small
        accept, is_sample, ignore_memory = (*accept, EMPTY_TRAIN), True, True
    for caveat in corpus.caveats():
        LOG.warning(caveat)
    end_on_doubts(corpus.doubts(), accept)
    target = FileSystems.join(output, *corpus.path)
    start = time.monotonic()
    row = row_of(corpus)
    engine.prepare(plan_build(corpus, output, ignore_memory))
    if not is_first_look:
        warn_of_small_disk(corpus, output, workers)
    with stage_folders(target) as stages:
        if stages.are_left and publish.is_completed(target) and not replace:
            _tidy_up(stages, target)
        with (
            publish.building(target, replace=replace) as folder,
            progress_shown(
                " ".join(corpus.path[:2]),
                corpus.path[0],
                lambda: corpus.bytes_to_read(workers),
                engine,
                workers,
                [stage.name for stage in corpus.stages()],
                corpus.config,
            ),
        ):
            run_stages(corpus, engine, stages, folder, workers, fresh=fresh)
            end_on_doubts(find_doubts(read_manifest(folder)), accept)
        write_cards([target])
        stages.remove()  # last: stages beside a finished build show that its process was killed
    manifest = read_manifest(target)
    seconds = time.monotonic() - start
    tell = summary.print_json if as_json else summary.print_summary
    tell(target, manifest, read_json(target, "stats.json"), seconds)
    for remark in () if is_sample else find_small(manifest, row.unit, row.usual):
        LOG.warning("%s", remark)
    return manifest


def end_on_doubts(doubts: Iterable[Doubt], accept: Collection[str]) -> None:
    """Raises BuildError if there are doubts about the inputs that the user has not accepted.

    A doubt is a sign of wrong or damaged inputs, such as an empty split train (see plausibility.py). The
    stages that are finished are kept for the next run.

    Args:
      doubts: The doubts about the inputs.
      accept: The names of the accepted doubts, from --accept.
    """
    found = list(doubts)
    for doubt in found:
        if doubt.name in accept:
            LOG.warning("accepted because of --accept %s: %s", doubt.name, doubt.message)
    if open_ := [doubt for doubt in found if doubt.name not in accept]:
        names = " ".join(doubt.name for doubt in open_)
        messages = "; ".join(doubt.message for doubt in open_)
        raise BuildError(f"{messages}. If this is intended, add --accept {names}")


def plan_build(corpus: Corpus, output: str, ignore_memory: bool = False) -> PlannedBuild:
    """Returns the paths and the memory need of a build, for the engine that will run it.

    Args:
      corpus: The build.
      output: The parent folder of all builds.
      ignore_memory: Whether to leave out the memory need, so that the engine does not check it.
    """
    memory = None if ignore_memory else row_of(corpus).memory
    held = (paths for role, paths in corpus.inputs().items() if role not in corpus.unheld)
    return PlannedBuild(corpus.path, output, [path for paths in held for path in paths], memory)


def _tidy_up(stages: StageFolders, target: str) -> None:
    """Updates the README.md files above a published build, and removes stages left by a killed build."""
    write_cards([target])
    with contextlib.suppress(TargetError):  # another build, with `replace`, is running
        stages.remove_leftovers()


def progress_shown(
    label: str,
    corpus: str,
    total_bytes: Callable[[], int],
    engine: Engine,
    workers: int,
    stages: Sequence[str],
    settings: Any = None,
) -> contextlib.AbstractContextManager[None]:
    """Returns a context manager that displays the progress of a build. The steps of the build are listed in
    steps.toml.

    If workers run on other machines, nothing is displayed, because the engine has its own display.

    Args:
      label: The name of the build in the display.
      corpus: The name of the corpus.
      total_bytes: Function that returns the size of the input in bytes.
      engine: The engine that runs the build.
      workers: The number of worker processes.
      stages: The names of all stages, in order.
      settings: The settings of the corpus.
    """
    if not engine.is_local:
        return contextlib.nullcontext()
    steps = find_steps(corpus, stages, settings)
    return progress.shown(label, Estimate(steps, total_bytes(), workers, settings))
