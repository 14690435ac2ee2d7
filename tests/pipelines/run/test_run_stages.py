"""A build in stages goes on where it was interrupted, and gives what an undisturbed one gives."""

import dataclasses
import logging
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import apache_beam as beam
import pytest
from apache_beam.pvalue import AsList

from corpusmill.pipelines.run import progress
from corpusmill.pipelines.run.corpus_build import Place, Stage
from corpusmill.pipelines.run.engines.run_pipeline import InProcess
from corpusmill.pipelines.run.progress import Estimate, find_steps
from corpusmill.pipelines.run.run_stages import MARK, run_stages, stage_folders
from corpusmill.transforms.files import counters
from corpusmill.transforms.files.builds.manifest import Provenance
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.scratch import Scratch, fetch
from corpusmill.transforms.files.stage_files import LIST

WORDS = ("one", "two", "three", "four", "five")


class Doubled(NamedTuple):
    words: beam.PCollection  # of (word, its letters twice, put away)
    count: beam.PCollection  # one int


class Joined(NamedTuple):
    lines: beam.PCollection  # of str


@dataclasses.dataclass(frozen=True)
class WordsConfig:
    language: str = "en"


@dataclasses.dataclass
class Words:
    """A build of three stages. Which of them ran, a file tells: workers have no memory in common."""

    folder: Path
    config: WordsConfig = WordsConfig()
    fails: str = ""  # the stage that ends with an error

    def stages(self) -> Sequence[Stage]:
        return (
            Stage("double", self.double),
            Stage("join", self.join),
            Stage("write", self.write),
        )

    def double(self, root: beam.Pipeline, place: Place) -> Doubled:
        words = root | beam.Create(WORDS)
        return Doubled(
            words | "Double" >> beam.Map(_double, Scratch(place.scratch), self._run("double")),
            words | "Count" >> beam.combiners.Count.Globally(),
        )

    def join(self, root: beam.Pipeline, place: Place, doubled: Any) -> Joined:
        return Joined(doubled.words | "Join" >> beam.Map(_join, self._run("join")))

    def write(self, root: beam.Pipeline, place: Place, doubled: Any, joined: Any) -> None:
        _ = doubled.count | "Write" >> beam.Map(
            _write, AsList(joined.lines), place.folder, self._run("write")
        )

    def _run(self, stage: str) -> tuple[str, bool]:
        return str(self.folder / "ran"), stage == self.fails

    def inputs(self) -> Mapping[str, Sequence[str]]:
        return {}

    def provenance(self) -> Provenance:
        return Provenance("words", "en", "2026", "1", {}, {}, (), {})

    def launch(self, *, fresh: bool = False) -> str:
        """Builds, and gives what was written."""
        output = self.folder / "built"
        output.mkdir(exist_ok=True)
        with stage_folders(str(self.folder / "target")) as folders:
            run_stages(self, InProcess(1, ()), folders, str(output), 1, fresh=fresh)
            folders.remove()
        return (output / "words.txt").read_text()

    def ran(self) -> Counter[str]:
        """Stage → elements that it has worked on since the last call."""
        log = self.folder / "ran"
        ran = Counter(log.read_text().split()) if log.exists() else Counter()
        log.unlink(missing_ok=True)
        return ran


def _note(stage: str, run: tuple[str, bool]) -> None:
    log, fails = run
    with Path(log).open("a") as file:
        file.write(f"{stage}\n")
    if fails:
        raise InputError(stage, "fails")


def _double(word: str, scratch: Scratch, run: tuple[str, bool]) -> tuple[str, bytes]:
    _note("double", run)
    counters.count("read-lines", "lines")
    counters.flush()
    return word, scratch.put(2 * word.encode())


def _join(word: tuple[str, bytes], run: tuple[str, bool]) -> str:
    _note("join", run)
    return f"{word[0]} {fetch(word[1]).decode()}"


def _write(count: int, lines: Sequence[str], folder: str, run: tuple[str, bool]) -> None:
    _note("write", run)
    Path(folder, "words.txt").write_text("\n".join([str(count), *sorted(lines)]))


WHOLE = "5\n" + "\n".join(sorted(f"{word} {word}{word}" for word in WORDS))


def interrupted(folder: Path, stage: str) -> Words:
    """A build that has ended with an error in a stage."""
    words = Words(folder, fails=stage)
    with pytest.raises(BuildError, match=f"{stage}: fails"):
        words.launch()
    words.fails = ""
    words.ran()
    return words


def test_an_undisturbed_build_runs_each_stage_once_and_leaves_nothing(tmp_path: Path) -> None:
    words = Words(tmp_path)
    assert words.launch() == WHOLE
    assert words.ran() == {"double": 5, "join": 5, "write": 1}
    assert not (tmp_path / ".target.stages").exists()


def test_what_is_finished_is_not_done_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    words = interrupted(tmp_path, "write")
    caplog.set_level(logging.INFO, "corpusmill")
    caplog.clear()
    assert words.launch() == WHOLE
    assert words.ran() == {"write": 1}
    first, second, third = caplog.messages
    assert first.startswith("stage 1 of 3, double: already finished, 20")
    assert first.endswith((" bytes", " kB"))
    assert second.startswith("stage 2 of 3, join: already finished, 20")
    assert third == "stage 3 of 3, write"


@pytest.mark.parametrize(
    ("stage", "fresh", "ran"),
    [
        ("join", False, {"join": 5, "write": 1}),
        ("write", True, {"double": 5, "join": 5, "write": 1}),
    ],
)
def test_a_build_goes_on_in_the_middle_unless_all_is_to_be_done_again(
    tmp_path: Path, stage: str, fresh: bool, ran: Mapping[str, int]
) -> None:
    words = interrupted(tmp_path, stage)
    assert words.launch(fresh=fresh) == WHOLE
    assert words.ran() == ran


def test_other_settings_do_all_again_and_it_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    words = interrupted(tmp_path, "write")
    words.config = WordsConfig("uk")
    caplog.set_level(logging.INFO, "corpusmill")
    caplog.clear()
    assert words.launch() == WHOLE
    assert words.ran() == {"double": 5, "join": 5, "write": 1}
    told = r"removed stages of an earlier run, .*: 01-double-\w+, 02-join-\w+"
    assert re.fullmatch(told, caplog.messages[0])


def _stage(folder: Path, number: int) -> Path:
    (found,) = (folder / ".target.stages").glob(f"0{number}-*")
    return found


@pytest.mark.parametrize(
    ("number", "damaged", "is_cut", "again"),
    [
        (1, "count-*", False, {"double": 5, "join": 5, "write": 1}),
        (1, ".scratch/*", True, {"double": 5, "join": 5, "write": 1}),
        (2, "lines-*", True, {"join": 5, "write": 1}),
        (2, "written.json", False, {"join": 5, "write": 1}),
    ],
)
def test_a_damaged_stage_and_all_after_it_are_run_again(
    tmp_path: Path,
    number: int,
    damaged: str,
    is_cut: bool,
    again: Mapping[str, int],
    caplog: pytest.LogCaptureFixture,
) -> None:
    words = interrupted(tmp_path, "write")
    path = next(_stage(tmp_path, number).glob(damaged))
    if is_cut:
        path.write_bytes(b"")
    else:
        path.unlink()
    caplog.set_level(logging.INFO, "corpusmill")
    assert words.launch() == WHOLE
    assert words.ran() == again
    assert "so it is run again" in caplog.text


def test_other_bytes_in_a_file_are_an_error_and_never_a_wrong_build(tmp_path: Path) -> None:
    words = interrupted(tmp_path, "write")
    path = next(_stage(tmp_path, 2).glob("lines-*"))
    data = path.read_bytes()
    path.write_bytes(data[:-8] + bytes([data[-8] ^ 1]) + data[-7:])
    with pytest.raises(
        BuildError,
        match=f"{path}: the files of an earlier stage of the build are damaged or missing",
    ):
        words.launch()
    assert words.launch(fresh=True) == WHOLE


def test_what_was_counted_is_known_when_a_build_goes_on(tmp_path: Path) -> None:
    """Without it, the display would begin at nothing, and stay there."""

    def counted() -> Counter[str]:
        words.launch()
        return progress.counts_so_far()

    with progress.shown("words", Estimate(find_steps("words", ["read"]), 5)):
        words = interrupted(tmp_path, "write")
    with progress.shown("words", Estimate(find_steps("words", ["read"]), 5)):
        assert counted() == {"read-lines/lines": 5}
    with progress.shown("words", Estimate(find_steps("words", ["read"]), 5)):
        assert counted() == {"read-lines/lines": 5}


def test_a_build_of_one_stage_has_no_stages_to_tell_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class OneStage(Words):
        def stages(self) -> Sequence[Stage]:
            return (Stage("write", self.all_at_once),)

        def all_at_once(self, root: beam.Pipeline, place: Place) -> None:
            doubled = self.double(root, place)
            self.write(root, place, doubled, self.join(root, place, doubled))

    caplog.set_level(logging.INFO, "corpusmill")
    assert OneStage(tmp_path).launch() == WHOLE
    assert caplog.messages == []


def test_a_finished_stage_that_cannot_be_read_is_named_with_the_way_out(tmp_path: Path) -> None:
    words = interrupted(tmp_path, "write")
    (stages,) = tmp_path.rglob(".*.stages")
    for path in stages.rglob("*"):
        if path.is_file() and path.name not in (MARK, LIST):
            path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(
        BuildError, match=rf"; if this happens again, remove {stages}, and the next run"
    ):
        words.launch()
    shutil.rmtree(stages)
    words.launch()
    assert words.ran() == Counter(double=5, join=5, write=1)
