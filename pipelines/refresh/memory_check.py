"""Whether the build of a dump will have the memory that it needs: asked before the dump is downloaded."""

import os
from collections.abc import Iterable

from pipelines.corpora import rows
from pipelines.engines.engine import IN_PROCESS
from pipelines.engines.local.memory import check_memory, memory_limit
from pipelines.refresh.config import Settings
from pipelines.refresh.remote import RemoteDump


def check_memory_of(corpus: str, dumps: Iterable[RemoteDump], settings: Settings) -> None:
    """Raises BuildError for dumps that are too large. A file whose size no site tells counts for nothing."""
    if settings.runner != IN_PROCESS or settings.ignore_memory:
        return
    sizes = {
        file.name: file.size
        for dump in dumps
        for of_role in dump.files.values()
        for file in of_role
        if file.size > 0
    }
    model, workers = rows()[corpus].memory, settings.workers or os.cpu_count() or 1
    check_memory(model, model.text_bytes(sizes), workers, memory_limit())
