"""From settings to a finished build: the engine, progress, publishing."""

import contextlib
import functools
import json
import logging
import os
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from pipelines import progress, publish
from pipelines.engines.engine import IN_PROCESS
from pipelines.engines.run_pipeline import find_engine, run_pipeline


class Corpus(Protocol):
    """One build of a corpus, as the launcher needs it."""

    @property
    def path(self) -> Sequence[str]: ...
    def bytes_to_read(self, stripes: int) -> int: ...
    def build(self, root: beam.Pipeline, folder: str, stripes: int) -> None: ...
    def caveats(self) -> Sequence[str]: ...


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
    engine = find_engine(runner, workers, beam_flags)
    for caveat in corpus.caveats():
        logging.getLogger(__name__).warning(caveat)
    target = FileSystems.join(output, *corpus.path)
    start = time.monotonic()
    total_bytes = functools.partial(corpus.bytes_to_read, workers)
    with (
        publish.building(target, replace=replace) as folder,
        progress_shown(" ".join(corpus.path[:2]), total_bytes, runner),
    ):
        run_pipeline(lambda root: corpus.build(root, folder, workers), engine)
    manifest: dict[str, Any] = _read_json(target, "manifest.json")
    seconds = time.monotonic() - start
    progress.print_summary(target, manifest, _read_json(target, "stats.json"), seconds)
    return manifest


def progress_shown(
    label: str, total_bytes: Callable[[], int], runner: str
) -> contextlib.AbstractContextManager[None]:
    """Other runners show the progress of a job in their own way: for them nothing is added up."""
    if runner != IN_PROCESS:
        return contextlib.nullcontext()
    return progress.shown(label, total_bytes())


def _read_json(folder: str, name: str) -> Any:
    path = FileSystems.join(folder, name)
    with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        return json.loads(file.read())
