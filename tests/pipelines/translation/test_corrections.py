"""A translator's own correction takes the place of what it corrects, and disputes nothing."""

from pathlib import Path

import pytest

from tests.pipelines.translation.offices import Office, good
from tests.pipelines.translation.small_projects import kinds, state_of, tree
from tests.tools.case_tables import read_cases

FIRST, SECOND, THIRD = "dev-0001", "dev-0002", "dev-0003"


@pytest.fixture
def begun(office: Office) -> Office:
    """Import 0002 has all lines."""
    office.make()
    office.do("import", office.translate(good()))
    return office


def plain(office: Office, *lines: str, folder: str = "x") -> Path:
    """fra.dev, which does not tell what packet it answers."""
    path = office.folder / folder / "fra.dev"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def texts(office: Office) -> list[str]:
    translations = state_of(office.project).translations
    return [translations[name].text for name in (FIRST, SECOND, THIRD)]


def disputed(office: Office) -> list[str]:
    return list(state_of(office.project).disputed)


OLD = [f"Phrase {name}." for name in (FIRST, SECOND, THIRD)]


@pytest.mark.parametrize("number", ["last", "2", "0002"])
def test_the_correction_is_in_force(begun: Office, number: str) -> None:
    told = begun.do("import", plain(begun, "Un.", OLD[1], ""), "--corrects", number, "--by", "Ama")
    assert "imported as 0003, answers packet 0001, corrects 0002: 3 lines, 1 empty" in told.out
    assert "1 the same as before, 1 corrected" in told.out
    assert (texts(begun), disputed(begun)) == (["Un.", *OLD[1:]], [])
    state = state_of(begun.project)
    assert state.entries[-1].facts["corrects"] == [2]
    assert [a.entry for a in state.answers[FIRST]] == [3]
    assert begun.do("check").out.startswith("fra: passed")
    story = begun.do("status", "--language", "fra").out
    assert "fra.dev answers packet 0001, corrects 0002: 3 lines, 1 empty (not" in story


def test_without_it_the_line_is_disputed_and_both_ways_out_are_told(begun: Office) -> None:
    brought = begun.do("import", plain(begun, "Un.", *OLD[1:]))
    checked = begun.do("check", status=1)
    story = begun.do("status", "--language", "fra")
    for told in (brought.out, checked.out, story.out):
        assert "send it again (`packets`) and import the answer" in told
        assert "`import FILE --corrects NUMBER`" in told
    assert disputed(begun) == [FIRST]


def test_a_dispute_is_settled_by_saying_which_file_was_the_correction(begun: Office) -> None:
    path = plain(begun, "Un.", *OLD[1:])
    begun.do("import", path)
    assert "already imported as 0003" in begun.do("import", path).out
    assert "imported as 0004" in begun.do("import", path, "--corrects", "last").out
    assert (texts(begun)[0], disputed(begun)) == ("Un.", [])
    before = tree(begun.project_folder)
    for number in ("last", "2", "4"):
        assert "already imported as 0004" in begun.do("import", path, "--corrects", number).out
    assert tree(begun.project_folder) == before


def test_another_persons_answer_is_not_corrected(begun: Office) -> None:
    begun.do("import", plain(begun, "Ein.", *OLD[1:], folder="ben"))
    mine = plain(begun, "Un.", "Deux.", OLD[2], folder="ama")
    told = begun.do("import", mine, "--corrects", "2").out
    assert "2 disputed" in told  # Ben has said what Ama had said, of the second line
    assert disputed(begun) == [FIRST, SECOND]
    both = plain(begun, "Un!", "Deux.", OLD[2], folder="both")
    begun.do("import", both, "--corrects", "3", "--corrects", "4")
    assert (texts(begun), disputed(begun)) == (["Un!", "Deux.", OLD[2]], [])


def test_a_correction_of_a_correction_corrects_what_that_has_corrected(begun: Office) -> None:
    begun.do("import", plain(begun, "Un.", "", ""), "--corrects", "2")
    begun.do("import", plain(begun, "Une.", "Deux.", ""), "--corrects", "3")
    assert (texts(begun), disputed(begun)) == (["Une.", "Deux.", OLD[2]], [])
    first = plain(begun, "Un.", "", "")  # back to what was corrected: other bytes are not asked for
    begun.do("import", first, "--corrects", "last")
    assert (texts(begun), disputed(begun)) == (["Un.", "Deux.", OLD[2]], [])


def test_two_corrections_of_one_file_may_contradict_each_other(begun: Office) -> None:
    begun.do("import", plain(begun, "Un.", "", ""), "--corrects", "2")
    begun.do("import", plain(begun, "Une.", "", ""), "--corrects", "2")
    assert disputed(begun) == [FIRST]
    assert {a.entry for a in state_of(begun.project).answers[FIRST]} == {3, 4}


def test_an_answer_to_a_later_packet_is_not_corrected_away(begun: Office) -> None:
    begun.do("import", begun.translate({**good(), FIRST: "BAD"}), "--corrects", "last")
    begun.do("check", status=1)
    begun.do("packets", "--languages", "fra")
    begun.do("import", begun.translate({}, "Bien."))
    told = begun.do("import", plain(begun, "Un.", "Deux.", OLD[2]), "--corrects", "3").out
    assert "1 corrected, 1 too late" in told
    assert (texts(begun), disputed(begun)) == (["Bien.", "Deux.", OLD[2]], [])
    answer = begun.translate({}, "Mieux.")  # a table tells its packet
    refused = begun.do("import", answer, "--corrects", "3", status=2)
    assert "import 0003 of fra answers packet 0001, but" in refused.err
    assert "a correction must answer the same packet" in refused.err


@pytest.mark.parametrize(
    ("number", "message"),
    read_cases("translation/workflow", "no_imports"),
)
def test_numbers_that_are_no_import(begun: Office, number: str, message: str) -> None:
    before = tree(begun.project_folder)
    path = plain(begun, "Un.", *OLD[1:])
    assert message in begun.do("import", path, f"--corrects={number}", status=2).err
    assert tree(begun.project_folder) == before


def test_an_import_of_other_lines_is_not_corrected(office: Office) -> None:
    office.make()
    path = plain(office, *OLD)
    assert (
        "no other import of fra contains a line"
        in office.do("import", path, "--corrects", "last", status=2).err
    )
    office.do("import", path)
    (office.folder / "fra.devtest").write_text("1\n2\n3\n")
    office.do("import", office.folder / "fra.devtest")
    assert (
        "import 0003 of fra contains no line of"
        in office.do("import", plain(office, "Un.", *OLD[1:]), "--corrects", "3", status=2).err
    )
    unknown = office.folder / "unknown.tsv"
    unknown.write_text('"id"\t"target ""fra"""\n"dev-9999"\t"Un."\n')
    refused = office.do("import", unknown, "--corrects", "3", status=2).err
    assert f"import 0003 of fra contains no line of {unknown}" in refused
    # The last import that has a line of the file is meant, not the last of all.
    told = office.do("import", plain(office, "Un.", *OLD[1:]), "--corrects", "last")
    assert "corrects 0002" in told.out
    assert kinds(office.project) == ["packet", "import", "import", "import"]


@pytest.mark.parametrize("number", ["2", "last"])
def test_a_correction_whose_lines_are_all_refused_ends_no_command(
    begun: Office, number: str
) -> None:
    path = begun.folder / "fra.tsv"
    path.write_text(f'"id"\t"target ""fra"""\n"{FIRST}"\t"Un\nDeux"\n')
    told = begun.do("import", path, "--corrects", number, status=1).out
    assert "imported as 0003, answers packet 0001, corrects 0002: 1 line, 1 refused" in told
    assert [*state_of(begun.project).refused] == [FIRST]
    assert texts(begun) == OLD
