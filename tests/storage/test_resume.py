"""A build on a store that was killed in its last stage does not redo the first."""

import dataclasses
import os
import random
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import apache_beam as beam
import pytest

from corpusmill.pipelines.run import publish
from corpusmill.pipelines.run.corpus_build import Place, Stage
from corpusmill.pipelines.run.engines.run_pipeline import InProcess
from corpusmill.pipelines.run.publish import building, is_completed
from corpusmill.pipelines.run.run_stages import run_stages, stage_folders
from corpusmill.transforms.files.builds.manifest import COMPLETED, Provenance
from corpusmill.transforms.files.scratch import OBJECT_BYTES, Scratch, fetch
from corpusmill.transforms.files.write_files import write_text
from tests.storage import processes
from tests.storage.stores import Store, names_below, names_beside, read

pytestmark = pytest.mark.storage

LARGE = random.Random(1).randbytes(2 * OBJECT_BYTES)  # put away as an object


class Collected(NamedTuple):
    pieces: beam.PCollection  # of bytes, put away


@dataclasses.dataclass(frozen=True)
class PiecesConfig:
    log: str  # a file on this machine that says what ran


@dataclasses.dataclass
class Pieces:
    """A build of two stages."""

    config: PiecesConfig
    dies: bool = False  # in the last stage

    def stages(self) -> Sequence[Stage]:
        return Stage("collect", self.collect), Stage("write", self.write)

    def collect(self, root: beam.Pipeline, place: Place) -> Collected:
        pieces = root | beam.Create([b"small", LARGE])
        return Collected(
            pieces | "Collect" >> beam.Map(_collect, Scratch(place.scratch), self.config.log)
        )

    def write(self, root: beam.Pipeline, place: Place, collected: Any) -> None:
        _ = (
            collected.pieces
            | beam.combiners.ToList()
            | "Write" >> beam.Map(_write, place.folder, self.config.log, self.dies)
        )

    def inputs(self) -> Mapping[str, Sequence[str]]:
        return {}

    def provenance(self) -> Provenance:
        return Provenance("pieces", "en", "2026", "1", {}, {}, (), {})


def _collect(piece: bytes, scratch: Scratch, log: str) -> bytes:
    _note(log, "collect")
    return scratch.put(piece)


def _write(pieces: Sequence[bytes], folder: str, log: str, dies: bool) -> None:
    _note(log, "write")
    write_text(folder, "sizes.txt", " ".join(str(size) for size in sorted(map(_size, pieces))))
    if dies:
        os.kill(os.getpid(), signal.SIGKILL)
    write_text(folder, "manifest.json", "{}")


def _size(piece: bytes) -> int:
    return len(fetch(piece))


def _note(log: str, stage: str) -> None:
    with Path(log).open("a") as file:
        file.write(f"{stage}\n")


def build(target: str, log: str, dies: bool) -> None:
    with stage_folders(target) as folders:
        with building(target) as folder:
            run_stages(Pieces(PiecesConfig(log), dies), InProcess(1, ()), folders, folder, 1)
        folders.remove()


@pytest.mark.parametrize("store", ["gs"], indirect=True)
def test_a_killed_build_goes_on_with_its_last_stage(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "DEAD_SECONDS", 2.0)
    target, log = store.path("pieces", "en", "1"), tmp_path / "log"
    process = processes.start(build, target, str(log), True)
    process.join(120)
    assert process.exitcode == -signal.SIGKILL
    assert not is_completed(target)
    assert log.read_text().split() == ["collect", "collect", "write"]
    assert any(name.endswith("/stage.json") for name in names_below(store.path("pieces", "en")))

    build(target, str(log), False)
    assert log.read_text().split() == ["collect", "collect", "write", "write"]
    assert read(f"{target}/sizes.txt").decode() == f"5 {len(LARGE)}"
    assert sorted(names_below(target)) == [COMPLETED, "manifest.json", "sizes.txt"]
    assert names_beside(target) == []
