"""A process may be killed between any two steps: the project stays whole, and the same again mends it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from corpusmill.pipelines.translation.checks import check_language
from corpusmill.pipelines.translation.imports import import_files
from corpusmill.pipelines.translation.journal import read_entries
from corpusmill.pipelines.translation.project import is_project, open_project
from corpusmill.pipelines.translation.reviews import import_reviews, write_sheets
from corpusmill.pipelines.translation.send_packets import send_packets
from corpusmill.pipelines.translation.target_languages import find_language
from tests.pipelines.translation import small_projects
from tests.pipelines.translation.clean_processes import kill_at_each_step, processes, run_all

pytestmark = pytest.mark.slow

TRANSLATED = tuple(f"Phrase {place}." for place in range(len(small_projects.IDS)))


class Action(NamedTuple):
    """An action to kill."""

    prepare: Callable[[Path], None]
    act: Callable[[Path], None]
    before: list[str]  # kinds of entries
    adds: list[str]


def make(folder: Path) -> None:
    small_projects.small_project(folder / "project")


def send(folder: Path) -> None:
    send_packets(
        open_project(str(folder / "project")), [find_language("fra")], to=str(folder / "out")
    )


def bring(folder: Path) -> None:
    import_files(open_project(str(folder / "project")), [str(folder / "fra.dev")])


def prepare_import(folder: Path) -> None:
    make(folder)
    send_packets(open_project(str(folder / "project")), [find_language("fra")])
    lines = "".join(f"{line}\n" for line in TRANSLATED[: len(small_projects.TEXTS["dev"])])
    (folder / "fra.dev").write_text(lines)


def nothing(folder: Path) -> None:
    pass


def check(folder: Path) -> None:
    check_language(open_project(str(folder / "project")), find_language("fra"))


def prepare_check(folder: Path) -> None:
    prepare_import(folder)
    (folder / "fra.devtest").write_text("Un.\nDeux.\nTrois.\n")
    (folder / "fra.test").write_text("Un.\nDeux.\n")
    names = [str(folder / f"fra.{split}") for split in small_projects.TEXTS]
    import_files(open_project(str(folder / "project")), names)


def prepare_review(folder: Path) -> None:
    prepare_check(folder)
    check(folder)
    project = open_project(str(folder / "project"))
    (sheets,) = write_sheets(project, [find_language("fra")], reviewer="Ama")
    sheet = (
        Path(sheets.paths[0])
        .read_text("utf-8")
        .replace('\t""\t""\t""\t"Ama"', '\t"ok"\t""\t""\t"Ama"')
    )
    (folder / "review.tsv").write_text(sheet, "utf-8")


def review(folder: Path) -> None:
    import_reviews(open_project(str(folder / "project")), [str(folder / "review.tsv")])


BACK = ["packet", "import", "import", "import"]
ACTIONS = {
    "make": Action(nothing, make, [], []),
    "send": Action(make, send, [], ["packet"]),
    "import": Action(prepare_import, bring, ["packet"], ["import"]),
    "check": Action(prepare_check, check, BACK, ["check"]),
    "review": Action(prepare_review, review, [*BACK, "check", "sheets"], ["review", "verdict"]),
}


def kill(name: str, folder: str) -> None:
    """In a process of its own."""
    patch = pytest.MonkeyPatch()
    small_projects.use_checks(patch, lambda translations: [])
    patch.setattr(os, "fsync", lambda _: None)  # no test cuts the power
    action = ACTIONS[name]
    template = Path(folder, "template")
    template.mkdir()
    action.prepare(template)
    seen = set()

    def prepare(step: int) -> None:
        shutil.copytree(template, Path(folder, str(step)))

    def look(step: int) -> None:
        place = Path(folder, str(step))
        if is_project(str(place / "project")):
            project = open_project(str(place / "project"))
            assert project.ids == small_projects.IDS
            seen.add(tuple(small_projects.kinds(project)))
            for path in (place / "out").glob("fra*"):  # copies are whole, too
                assert (
                    path.read_bytes() == (project.journal("fra") / "0001" / path.name).read_bytes()
                )
        else:
            seen.add(())
        action.act(place)  # again, and now to its end
        project = open_project(str(place / "project"))
        assert small_projects.kinds(project) == [*action.before, *action.adds]
        assert not list(place.rglob(".*"))

    steps = kill_at_each_step(prepare, lambda step: action.act(Path(folder, str(step))), look)
    assert steps > 8
    stages = range(len(action.adds) + 1)
    assert seen == {(*action.before, *action.adds[:stage]) for stage in stages}


@pytest.mark.parametrize("name", ACTIONS)
def test_killed_at_any_step(tmp_path: Path, name: str) -> None:
    process = processes.Process(target=kill, args=(name, str(tmp_path)))
    process.start()
    process.join()
    assert process.exitcode == 0


def import_one(folder: str, name: str) -> None:
    import_files(open_project(folder), [name])


def test_imports_at_once_are_all_there(tmp_path: Path, sent: object) -> None:
    """Six processes import three files, each of them twice."""
    project = open_project(str(tmp_path / "project"))
    files = []
    for number in range(3):
        path = tmp_path / f"{number}" / "fra.dev"
        path.parent.mkdir()
        path.write_text(f"Un.\nDeux, {number}.\nTrois.\n")
        files.append(str(path))
    assert run_all(import_one, [(str(project.folder), name) for name in files * 2]) == [0] * 6
    entries = read_entries(project.journal("fra"))
    assert [entry.kind for entry in entries] == ["packet", *["import"] * 3]
    originals = sorted((entry.folder / "original/fra.dev").read_text() for entry in entries[1:])
    assert originals == sorted(Path(name).read_text() for name in files)
    state = small_projects.state_of(project)
    assert state.disputed == ["dev-0002"]
    assert len(state.answers["dev-0002"]) == 3
