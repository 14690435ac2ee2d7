"""An entry is there whole or not at all, and none is ever replaced."""

import os
from pathlib import Path

import pytest

from corpusmill.pipelines.translation import journal
from corpusmill.pipelines.translation.journal import Draft, append, locked, read_entries
from corpusmill.transforms.files.read_files import InputError
from tests.pipelines.translation.clean_processes import run_all
from tests.pipelines.translation.small_projects import TIME, tree
from tests.tools.case_tables import read_cases
from tests.tools.error_of import error_of


def add(folder: Path, kind: str = "note", **files: str) -> journal.Entry:
    contents = {name.replace("__", "/"): text.encode() for name, text in files.items()}
    with locked(folder):
        draft = Draft(kind, 1, {"n": 7}, contents)
        return append(folder, "Ama", len(read_entries(folder)), lambda _: draft)


def test_entries_are_read_as_they_were_written(tmp_path: Path) -> None:
    folder = tmp_path / "languages" / "fra"
    assert read_entries(folder) == []
    first = add(folder, "letter", a="x")
    second = add(folder, original__b="y")
    assert read_entries(folder) == [first, second]
    assert (first.name, second.name) == ("0001", "0002")
    assert first == (1, folder / "0001", "letter", 1, TIME, "Ama", {"n": 7})
    assert sorted(tree(folder)) == [
        "0001/a",
        "0001/entry.json",
        "0002/entry.json",
        "0002/original/b",
    ]
    assert tree(folder)["0002/original/b"] == b"y"


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_an_entry_keeps_the_umask(
    umask: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    before = os.umask(umask)
    request.addfinalizer(lambda: os.umask(before))
    add(tmp_path / "journal", a="x")
    for path in tmp_path.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o777 if path.is_dir() else 0o666) & ~umask, path


def test_a_number_that_another_writer_took_is_not_replaced(tmp_path: Path) -> None:
    """As on a file system that knows no locks."""
    add(tmp_path, a="first")
    before = tree(tmp_path)
    entry = append(
        tmp_path, "", 0, lambda number: Draft("import", 1, {"mine": number}, {"a": b"2"})
    )
    assert entry.number == 2
    assert entry.facts == {"mine": 2}
    assert {name: data for name, data in tree(tmp_path).items() if name[:4] == "0001"} == before


def test_what_a_killed_writer_left_is_no_entry_and_goes(tmp_path: Path) -> None:
    add(tmp_path, a="1")
    leftover = tmp_path / ".unfinished-x1"
    leftover.mkdir()
    (leftover / "entry.json").write_text("{")
    assert len(read_entries(tmp_path)) == 1
    assert add(tmp_path).number == 2
    assert not leftover.exists()


def test_a_draft_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(number: int) -> Draft:
        raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"), locked(tmp_path):
        append(tmp_path, "", 0, fail)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [("[" * 100_000, "not JSON: "), *read_cases("translation/project", "damaged_entries")],
)
def test_a_damaged_entry_is_named(tmp_path: Path, content: str, message: str) -> None:
    path = add(tmp_path).folder / "entry.json"
    path.write_text(content)
    assert error_of(InputError, read_entries, tmp_path).startswith(f"{path}: {message}")


def test_a_missing_entry_is_named(tmp_path: Path) -> None:
    for _ in range(3):
        entry = add(tmp_path)
    (tmp_path / "0002").rename(tmp_path / "gone")
    with pytest.raises(InputError, match="entry 0002 is missing"):
        read_entries(tmp_path)
    entry.folder.rename(tmp_path / "0002")
    assert len(read_entries(tmp_path)) == 2


def add_five(folder: str, who: int) -> None:
    for place in range(5):
        add(Path(folder), **{f"from{who}": f"{place}"})


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    assert run_all(add_five, [(str(tmp_path), who) for who in range(3)]) == [0, 0, 0]
    entries = read_entries(tmp_path)
    assert [entry.number for entry in entries] == list(range(1, 16))
    found = [
        (path.name, path.read_text()) for entry in entries for path in entry.folder.glob("from*")
    ]
    assert len(found) == 15
    for who in range(3):  # each writer's own entries stand in its order
        assert [text for name, text in found if name == f"from{who}"] == list("01234")
