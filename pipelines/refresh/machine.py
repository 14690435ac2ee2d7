"""Checks the free disk space and the memory of this machine before anything is downloaded."""

import os
from collections.abc import Iterable

from corpusmill.pipelines.refresh.config import Settings
from corpusmill.pipelines.refresh.remote import RemoteDump
from corpusmill.pipelines.run.corpora import rows
from corpusmill.pipelines.run.engines.memory import check_memory, memory_limit
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.runners import IN_PROCESS
from corpusmill.transforms.files.stores import free_bytes


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
