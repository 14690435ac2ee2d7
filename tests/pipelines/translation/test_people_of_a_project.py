"""The organiser's record of translators is checked, and compared with the requirements of the paper."""

import pytest

from corpusmill.pipelines.translation.workflow import RECORD, REQUIREMENTS, compare
from tests.pipelines.translation.offices import Office, good
from tests.tools.case_tables import read_cases

HEADER = "name\tlanguage\tnative\tenglish\tdegree\tyears\ttested\n"
AMA = "Ama\tfra\tyes\tC2\tno\t4\t2025-11-30\n"


@pytest.mark.parametrize(
    ("cells", "day", "known"), read_cases("translation/workflow", "requirements")
)
def test_requirements(cells: str, day: str, known: str) -> None:
    columns = ("native", "english", "degree", "years", "tested")
    row = dict(zip(columns, cells.replace("–", "").split(" "), strict=True))
    shown = {True: "yes", False: "no", None: "–"}
    assert [shown[met] for met in compare(row, day).values()] == known.split()


@pytest.mark.parametrize(("row", "message"), read_cases("translation/workflow", "bad_records"))
def test_a_wrong_row_is_named(row: str, message: str, office: Office) -> None:
    office.make()
    record = office.project_folder / RECORD
    record.write_text(f"{HEADER}{AMA}{row}\n", "utf-8")
    assert f"{record}, line 3: {message}" in office.do("status", status=1).err


def test_people_without_a_row_or_a_requirement_are_listed(office: Office) -> None:
    office.make()
    office.do("import", office.translate(good()), "--by", "Ama")
    office.do("packets", "--languages", "fra", "--edit")
    office.do("import", office.translate({}), "--by", "Ben")
    assert "person" not in office.do("status").out  # the organiser keeps no record
    (office.project_folder / RECORD).write_text(HEADER + AMA, "utf-16")
    shown = office.do("status", "--totals").out
    assert shown.count("Ama") == 0
    assert ["fra", "Ben", *"––––"] in [line.split() for line in shown.splitlines()]
    for what in (*(f"{one} 1 0 1" for one in REQUIREMENTS.values()), "by editors 0.0% 1 of 1"):
        assert what in " ".join(shown.split())
