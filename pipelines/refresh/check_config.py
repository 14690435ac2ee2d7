"""Checks the settings in refresh.toml before a refresh. Nothing is downloaded.

Checks the free disk space and the memory of this machine before anything is downloaded.
"""

import os
from collections.abc import Iterable

from apache_beam.io.filesystem import BeamIOError
from apache_beam.io.filesystems import FileSystems
from apache_beam.runners.runner import create_runner

from corpusmill.transforms.files.errors import DATAFLOW, IN_PROCESS, SPARK, BuildError, runner_named
from corpusmill.transforms.files.stores import free_bytes

from ..run.corpora import rows
from ..run.engines.engine import check_beam_flags
from ..run.engines.run_pipeline import find_engine
from ..run.extras import check_extras
from ..run.forecast import check_memory, memory_limit
from .config import CURRENT_TABLE, NO_TABLE, Recipe, RefreshConfig, Settings, recipe_of
from .http_requests import name_ourselves
from .sources import RemoteDump


def check_config(config: RefreshConfig) -> None:
    """Checks all settings of refresh.toml. Raises ValueError for the first invalid setting.

    The message of the error has one line.
    """
    settings = config.refresh
    name_ourselves(settings.contact)
    check_beam_flags(settings.beam_flags)
    _check_runner(settings)
    check_extras(
        dict.fromkeys(table.kind for table in config.corpus),
        [getattr(table, "language", "") for table in config.corpus if table.kind == "wiki40b"],
    )
    for name in ("state", "metrics"):
        _check_place(f"[refresh]: {name}", getattr(settings, name), IN_PROCESS)
    _check_folders([recipe_of(table, settings) for table in config.corpus])
    for table in config.corpus:
        joined = getattr(table, table.joins, NO_TABLE)
        if joined not in (NO_TABLE, CURRENT_TABLE):
            _check_place(
                f"[[corpus]] {table.label}: {table.joins}", joined, settings.engine["runner"]
            )


def _check_runner(settings: Settings) -> None:
    try:
        runner = runner_named(settings.runner)
    except ValueError as error:
        raise ValueError(f"[refresh]: runner: {error}") from None
    for name in ("output", "downloads"):
        _check_place(f"[refresh]: {name}", getattr(settings, name), runner)
    try:
        find_engine(runner, settings.workers or os.cpu_count() or 1, settings.beam_flags)
        if runner not in (IN_PROCESS, SPARK):
            create_runner(runner)
    except (ValueError, ImportError, AttributeError) as error:
        raise ValueError(f"[refresh]: runner: {error}") from None


def _check_place(what: str, place: str, runner: str) -> None:
    """Raises ValueError if this machine or the workers of the runner cannot access the path `place`.

    Args:
      what: The name of the setting, for the message.
    """
    if FileSystems.get_scheme(place) is None:
        if runner == DATAFLOW:
            raise ValueError(
                f"{what} is {place}, a folder on this machine, which workers of {DATAFLOW} cannot access;"
                f" use a path in a bucket (gs://), or the runner {IN_PROCESS} or {SPARK}"
            )
        return
    try:
        FileSystems.get_filesystem(place)
    except (BeamIOError, ValueError) as error:
        raise ValueError(f"{what} is {place}, which cannot be accessed: {error}") from None


def _check_folders(recipes: Iterable[Recipe]) -> None:
    """Raises ValueError if two tables [[corpus]] of refresh.toml would write editions to the same folder."""
    labels: dict[str, str] = {}
    for recipe in recipes:
        table = recipe.table
        other = labels.setdefault(recipe.place, table.label)
        if other != table.label:
            folder = recipe.edition_folder or f"one folder of {table.kind}"
            raise ValueError(
                f"[[corpus]] {other} and {table.label} both write to {folder}: their `build` settings do not"
                " distinguish their editions; use two configuration files with different outputs"
            )


def check_room(settings: Settings) -> None:
    """Raises BuildError if the disk for downloads, or the disk for builds, has too little free space.

    The setting `min_free_bytes` is the limit.
    """
    for folder in (settings.downloads, settings.output):
        free = free_bytes(folder)
        if free is not None and free < settings.min_free_bytes:
            raise BuildError(
                f"{folder}: only {free:,} bytes are free, but min_free_bytes is"
                f" {settings.min_free_bytes:,}: free some space"
            )


def check_means(corpus: str, dumps: Iterable[RemoteDump], settings: Settings) -> None:
    """Raises BuildError if this machine has too little disk space or memory to build a corpus from
    the dumps.

    Files of unknown size count as 0 bytes.
    """
    check_room(settings)
    if settings.engine["runner"] != IN_PROCESS or settings.ignore_memory:
        return
    sizes = {file.name: file.size for dump in dumps for file in dump.all_files if file.size > 0}
    model, workers = rows()[corpus].memory, settings.workers or os.cpu_count() or 1
    check_memory(model, model.text_bytes(sizes), workers, memory_limit())
