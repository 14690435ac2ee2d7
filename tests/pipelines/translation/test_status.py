"""The table of all languages: whole in a file, and divided on a narrow screen."""

import pytest

from corpusmill.pipelines.translation.project import Project
from corpusmill.pipelines.translation.status import LanguageStatus, render_text
from corpusmill.pipelines.translation.target_languages import FLORES101_CODES, find_language
from tests.pipelines.translation.offices import Office, good
from tests.pipelines.translation.small_projects import TIME
from tests.tools.case_tables import read_cases

NAME = "a-project-whose-name-has-forty-letters-x"


def status(code: str, state: str = "checks failed", **known: object) -> LanguageStatus:
    counts = 3001, 3001, 0, 1, 2989, 1234, 2345, 601, 601
    made = LanguageStatus(code, find_language(code).name, state, 2, *counts, "89.9", TIME, 12.5)
    return made._replace(**known)  # type: ignore[arg-type]


@pytest.fixture
def named(office: Office) -> Project:
    office.make("fra", "--name", NAME)
    return office.project


@pytest.mark.parametrize("width", [80, 120])
def test_a_screen_is_not_overrun(named: Project, width: int) -> None:
    codes = FLORES101_CODES[::5]
    found = [status(code) for code in codes]
    lines = render_text(named, found, width).splitlines()
    assert lines[0] == f"{NAME}: 8 sentences, 21 languages"
    assert max(map(len, lines)) <= width
    for code in codes:  # in each of the parts of the table
        row = " ".join(line for line in lines if line.split()[:1] == [code])
        assert all(
            cell in row for cell in ("89.9", "3,001/3,001", "2,989", "1,234", "2,345", "601/601")
        )
    said = " ".join(" ".join(lines).split())
    assert f"next for {', '.join(codes[:8])} and 13 more: `packets` sends the lines" in said


def test_a_file_has_all_of_it(named: Project) -> None:
    found = [status("fra"), status("ara", score=None, errors=None, warnings=None)]
    whole = render_text(named, found)
    assert whole == render_text(named, found, 200)
    assert whole.splitlines()[1].split() == [
        *("language", "name", "state", "round", "since", "days", "score", "translated"),
        *("awaited", "disputed", "edited", "errors", "warnings", "reviewed"),
    ]


@pytest.mark.parametrize(
    ("state", "told"),
    read_cases("translation/workflow", "next"),
)
def test_what_is_to_be_done(named: Project, state: str, told: str) -> None:
    last = render_text(named, [status("fra", state)]).splitlines()[-1]
    assert last.startswith(f"next for fra: {told}") if told else last == f"1 {state}"


def test_what_is_not_known_is_not_zero(office: Office) -> None:
    office.make("fra,deu")
    total = office.do("status").out.splitlines()[5].split()
    assert total == ["total", "0/16", "16", "0", "0", "–", "–", "0/8"]
    office.do("import", office.translate(good()))
    office.do("check")
    total = office.do("status").out.splitlines()[5].split()
    assert total == ["total", "8/16", "8", "0", "0", "0", "0", "0/8"]
