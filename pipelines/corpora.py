"""One row per corpus: the command line, engines, Dataflow's forms and refresh read it."""

import importlib
from types import ModuleType
from typing import NamedTuple

from pipelines.settings.memory_model import JSON, MB, XML, MemoryModel


class CorpusRow(NamedTuple):
    """A corpus, without what takes a while to import."""

    name: str  # of its command, of its kind in refresh, and of the first folder of its builds
    module: str  # its method, in pipelines/
    build: str  # the class there
    settings: str  # that of its settings
    command: str  # module in pipelines/commands/
    memory: MemoryModel  # of the in-process runner
    is_template: bool = True  # Dataflow can start it by a form

    def load(self) -> ModuleType:
        """Imports the module of the method."""
        return importlib.import_module(f"pipelines.{self.module}")


_WIKI40B = MemoryModel(600 * MB, 300 * MB, 0.75, XML)

CORPORA = (
    CorpusRow("wiki40b", "wiki40b", "Wiki40b", "Wiki40bConfig", "wiki40b", _WIKI40B),
    CorpusRow(
        "entities",
        "entities",
        "Entities",
        "EntitiesConfig",
        "entities",
        MemoryModel(500 * MB, 300 * MB, 0.015, JSON),  # 130 bytes an item at most
    ),
    CorpusRow(
        "multilingual",
        "wiki40b_multilingual",
        "Wiki40bMultilingual",
        "MultilingualConfig",
        "multilingual",
        _WIKI40B,
        is_template=False,
    ),
    CorpusRow("lm1b", "lm1b", "Lm1b", "Lm1bConfig", "lm1b", MemoryModel(450 * MB, 150 * MB, 0.2)),
    CorpusRow("pg19", "pg19", "Pg19", "Pg19Config", "pg19", MemoryModel(500 * MB, 260 * MB, 0.3)),
    CorpusRow(
        "simplebooks",
        "simplebooks",
        "SimpleBooks",
        "SimpleBooksConfig",
        "simplebooks",
        MemoryModel(600 * MB, 260 * MB, 0.5),
    ),
    CorpusRow(
        "flores101",
        "flores101",
        "Flores101",
        "Flores101Config",
        "flores101",
        MemoryModel(500 * MB, 300 * MB, 0.2, XML),
        is_template=False,
    ),
    CorpusRow(
        "subwords",
        "subwords",
        "Subwords",
        "SubwordsConfig",
        "subwords",
        MemoryModel(500 * MB, 300 * MB, 0.5),
    ),
)


def row_of(name: str) -> CorpusRow:
    """The row of a corpus. Raises KeyError."""
    return {row.name: row for row in CORPORA}[name]
