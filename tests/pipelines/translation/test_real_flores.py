"""The released FLORES-101 files become a project, and come out of its package as the same bytes."""

from pathlib import Path

import pytest

from corpusmill.pipelines.translation.checks import check_language
from corpusmill.pipelines.translation.imports import import_files
from corpusmill.pipelines.translation.journal import read_entries
from corpusmill.pipelines.translation.language_state import LanguageState
from corpusmill.pipelines.translation.package import package
from corpusmill.pipelines.translation.project import Project, Rules, create_project, find_source
from corpusmill.pipelines.translation.send_packets import send_packets
from corpusmill.pipelines.translation.target_languages import find_language
from tests.pipelines.translation.small_projects import counts_of
from tests.tools.real_data import DATA, needs_real_data

RELEASE = DATA / "flores" / "flores101_dataset"


@pytest.fixture
def imported(tmp_path: Path) -> Project:
    project = create_project(str(tmp_path / "project"), Rules(), find_source(str(RELEASE)))
    codes = sorted(path.stem for path in (RELEASE / "devtest").iterdir() if path.stem != "eng")
    send_packets(project, [find_language(code) for code in codes], formats=["tsv"])
    import_files(project, [str(RELEASE / "devtest")])
    return project


@needs_real_data
def test_released_files_come_out_as_they_went_in(tmp_path: Path, imported: Project) -> None:
    """Whatever the checks say of them: their findings are tested where the checks are."""
    for code in imported.languages:
        check_language(imported, find_language(code))
    made = package(imported, str(tmp_path / "out"), without_review=True)
    released = sorted((RELEASE / "devtest").iterdir())
    assert len(released) == len(made.manifest["languages"]) == 13
    for path in released:
        assert (Path(made.folder) / "devtest" / path.name).read_bytes() == path.read_bytes()
    metadata = (Path(made.folder) / "metadata_devtest.tsv").read_bytes()
    assert metadata == (RELEASE / "metedata_devtest.tsv").read_bytes()


@needs_real_data
def test_all_of_it_is_back(imported: Project) -> None:
    assert len(imported.sentences) == 1012
    assert len({sentence.article for sentence in imported.sentences}) == 281
    assert len(imported.sample) == 203
    for code in imported.languages:
        state = LanguageState(read_entries(imported.journal(code)), imported.ids)
        assert (state.name, counts_of(state)) == ("back", (1012, 0, 0))
