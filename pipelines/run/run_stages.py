"""Runs the stages of a build in order, each as one pipeline. Finished stages are not run again."""

import contextlib
import functools
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import apache_beam as beam

from corpusmill.pipelines.run import progress
from corpusmill.pipelines.run.engines.engine import Engine
from corpusmill.pipelines.run.engines.run_pipeline import run_on
from corpusmill.pipelines.run.stage_folders import DamagedStageError, FinishedStage, StageFolders
from corpusmill.pipelines.run.stage_identity import Identified, name_stages
from corpusmill.pipelines.run.stages import Place, Stage
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.stage_files import StageOutcome, WriteStage, write_list
from corpusmill.transforms.files.stores import NOT_WRITTEN


class Staged(Identified, Protocol):
    """Interface of a build that has stages."""

    def stages(self) -> Sequence[Stage]: ...


def run_stages(
    corpus: Staged,
    engine: Engine,
    folders: StageFolders,
    folder: str,
    stripes: int,
    *,
    fresh: bool = False,
) -> None:
    """Runs the stages that are not finished, in order. The last stage always runs, and writes the build into
    `folder`.

    Args:
      corpus: The build.
      engine: The engine that runs the pipelines of the stages.
      folders: The folders of finished stages.
      folder: The folder of the build.
      stripes: The number of parts into which workers divide a file.
      fresh: Whether to run all stages, even finished ones.

    Raises BuildError for bad inputs, TargetError if another build of the same target is running.
    """
    stages = corpus.stages()
    keys = name_stages(corpus, [stage.name for stage in stages], folders.folder)
    removed = folders.open(() if fresh else keys[:-1])
    if removed and not fresh:
        _log(_NOT_OURS.format(", ".join(removed)))
    finished: dict[str, FinishedStage] = {}
    with engine.started(folders.folder) as started:
        for number, (stage, key) in enumerate(zip(stages, keys, strict=True), 1):
            label = f"stage {number} of {len(stages)}, {stage.name}"
            found = _find(folders, key, label)
            if not found:
                folders.forget(keys[number - 1 :])  # later stages refer to files of this one
                place = Place(folder, folders.begin(key), stripes)
                progress.enter_stage(stage.name)
                if len(stages) > 1:
                    _log(label)
                start, counted = time.monotonic(), progress.counts_so_far()
                with _rerun_hint(folders.folder):
                    run_on(started, functools.partial(_add, stage, place, finished))
                if number == len(stages):
                    return
                found = folders.finish(place.scratch, progress.counts_so_far() - counted)
                seconds = time.monotonic() - start
                _log(f"{label}: finished, {seconds:.0f} s, {_size(found.total_bytes)}")
            finished[stage.name] = found


_NOT_OURS = "removed stages of an earlier run, because settings, inputs or code have changed: {}"


def _find(folders: StageFolders, key: str, label: str) -> FinishedStage | None:
    try:
        found = folders.find(key)
    except DamagedStageError as error:
        _log(f"{label}: {error}, so it is run again")
        return None
    if found:
        progress.add_counts(key, found.counts)
        _log(f"{label}: already finished, {found.finished}, {_size(found.total_bytes)}")
    return found


@contextlib.contextmanager
def _rerun_hint(folder: str) -> Iterator[None]:
    """Adds advice to each BuildError about a file in `folder`, which contains the finished stages.

    The advice says how to run the finished stages again.
    """
    try:
        yield
    except BuildError as error:
        if folder not in str(error) or NOT_WRITTEN in str(error):
            raise
        raise BuildError(
            f"{error}; if this happens again, remove {folder}, and the next run repeats all stages"
        ) from None


def _add(
    stage: Stage, place: Place, before: Mapping[str, FinishedStage], root: beam.Pipeline
) -> None:
    """Adds the steps of a stage to a pipeline.

    Args:
      stage: The stage.
      place: The folders that the stage may write to.
      before: Name → stage, for all earlier stages.
      root: The pipeline.
    """
    outcomes = [StageOutcome(root, name, found.folder) for name, found in before.items()]
    outcome: Any = stage.build(root, place, *outcomes)
    if outcome:
        given = {name: one for name, one in outcome._asdict().items() if one is not None}
        _ = given | "WriteStage" >> WriteStage(place.scratch)
    else:
        write_list(place.scratch, {}, ())


def _size(total_bytes: int) -> str:
    if total_bytes < 1e9:
        return f"{total_bytes / 1e6:,.1f} MB"
    return f"{total_bytes / 1e9:,.1f} GB"


def _log(text: str) -> None:
    logging.getLogger(__name__).info("%s", text)
