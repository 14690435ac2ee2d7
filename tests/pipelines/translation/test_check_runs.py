"""Checks in many processes write what one writes, and an error says where it came from."""

import signal
import sys
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from corpusmill.pipelines.translation import checks
from corpusmill.pipelines.translation.checks import check_language, check_languages
from corpusmill.pipelines.translation.imports import import_files
from corpusmill.pipelines.translation.journal import read_entries
from corpusmill.pipelines.translation.project import Project
from corpusmill.pipelines.translation.send_packets import send_packets
from corpusmill.pipelines.translation.target_languages import TargetLanguage, find_language
from corpusmill.transforms.files.read_files import InputError
from tests.pipelines.translation.small_projects import kinds, small_project, tree

CODES = ("deu", "fra")
LANGUAGES = [find_language(code) for code in CODES]


def make(folder: Path) -> Project:
    project = small_project(folder / "project")
    send_packets(project, LANGUAGES, formats=["tsv"])
    for language in LANGUAGES:
        path = folder / f"{language.code}.dev"
        path.write_text(f"{language.code} 1 \nDie Regierung 4.\n\n", "utf-8")
        import_files(project, [str(path)])
    return project


def without_times(project: Project) -> dict[str, bytes]:
    """Entries of other processes have the time of the clock."""
    times = {entry.time for code in CODES for entry in read_entries(project.journal(code))}
    files = tree(project.folder)
    for time in times:
        files = {name: data.replace(time.encode(), b"") for name, data in files.items()}
    return files


@pytest.mark.slow
def test_processes_write_what_one_process_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "corpusmill.pipelines.translation.run_checks")  # the real ones
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one, two = make(tmp_path / "one"), make(tmp_path / "two")
    here = list(check_languages(one, LANGUAGES, workers=1, by="Eli"))
    monkeypatch.setattr(checks, "MIN_LINES", 0)
    handler = signal.getsignal(signal.SIGINT)
    there = list(check_languages(two, LANGUAGES, workers=2, by="Eli"))
    assert [checked.code for checked in there] == list(CODES)
    assert [checked.findings for checked in there] == [checked.findings for checked in here]
    assert all(len(checked.findings) > 6 for checked in here)
    assert without_times(one) == without_times(two)
    assert signal.getsignal(signal.SIGINT) is handler


class NoProcesses:
    """A pool that starts none."""

    def __init__(self, *_: object) -> None:
        pass

    def submit(self, *_: object) -> Future[object]:
        killed = Future[object]()
        killed.set_exception(BrokenProcessPool("killed"))
        return killed

    def shutdown(self, *, cancel_futures: bool) -> None:
        assert cancel_futures


def test_a_killed_process_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make(tmp_path)
    monkeypatch.setattr(checks, "MIN_LINES", 0)
    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", NoProcesses)
    with pytest.raises(InputError, match="0 of 2 languages are done: use --workers 1"):
        list(check_languages(project, LANGUAGES, workers=2))
    assert kinds(project, "deu") == ["packet", "import"]


@pytest.mark.parametrize("error", [ValueError("no number"), TypeError("no number")])
def test_an_error_names_the_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    project = make(tmp_path)

    def fail_for_french(project: Project, language: TargetLanguage, **settings: object) -> object:
        if language.code == "fra":
            raise error
        return check_language(project, language, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(checks, "check_language", fail_for_french)
    with pytest.raises(type(error)) as caught:
        list(check_languages(project, LANGUAGES))
    told = [str(caught.value), *getattr(caught.value, "__notes__", ())]
    assert told in (["fra: no number"], ["no number", "This happened in the check of fra."])
    assert kinds(project, "deu") == ["packet", "import", "check"]
    assert kinds(project, "fra") == ["packet", "import"]
