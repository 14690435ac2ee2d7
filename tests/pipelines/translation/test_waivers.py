"""Many findings are accepted at once: all of a rule, or those of a table that a person has filled in."""

import re
from pathlib import Path

import pytest

from corpusmill.pipelines.translation.language_state import LanguageState, Row, Waive, find_waivers
from corpusmill.transforms.files.markup import read_table, write_table
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import Finding
from tests.pipelines.translation.offices import Office, good
from tests.pipelines.translation.small_projects import kinds, state_of, tree
from tests.tools.case_tables import read_cases

BAD = {"dev-0001": "BAD", "dev-0002": "BAD", "devtest-0001": "ODD", "test-0002": "BAD"}


@pytest.fixture
def failed(office: Office) -> Office:
    """Three errors, a warning, and two missing lines of other ids."""
    office.make()
    office.do("import", office.translate({**good(), **BAD}))
    office.do("check", status=1)
    return office


def fill(office: Office, reasons: dict[str, str], name: str = "because.tsv") -> Path:
    """The newest findings with a column `because`, filled in for some ids."""
    text = office.newest_file("findings.tsv").read_text("utf-8")
    rows = [{**row, "because": reasons.get(row["id"], "")} for _, row in read_table(text, ())]
    path = office.folder / name
    path.write_text(write_table(list(rows[0]), [list(row.values()) for row in rows]), "utf-8")
    return path


def waived(office: Office) -> dict[tuple[str, str], tuple[str, str]]:
    return {key: (one.because, one.by) for key, one in state_of(office.project).waivers.items()}


def test_the_rows_that_are_filled_in_are_waived(failed: Office) -> None:
    table = fill(failed, {"dev-0001": "a name", "devtest-0001": 'he says "odd" \\ so'})
    told = failed.do("check", "--waive-table", table, "--by", "Eli", status=1).out
    assert told.startswith("fra: failed, 2 errors, 0 warnings, 2 waived (check 0004)")
    assert waived(failed) == {
        ("dev-0001", "is-bad"): ("a name", "Eli"),
        ("devtest-0001", "is-odd"): ('he says "odd" \\ so', "Eli"),
    }
    before = tree(failed.project_folder)
    again = failed.do("check", "--waive-table", table, "--by", "Eli", status=1)
    assert "check 0004, nothing has changed since" in again.out
    assert tree(failed.project_folder) == before


def test_a_table_may_come_from_a_spreadsheet(failed: Office) -> None:
    """In UTF-16, with CRLF, marks around fields, columns in another order, and a row of blanks below."""
    table = fill(failed, {"dev-0002": 'said "so"'})
    rows = [line.split("\t") for line in table.read_text("utf-8").splitlines()]
    quoted = [
        [f'"{f.replace(chr(34), chr(34) * 2)}"' if " " in f else f for f in row] for row in rows
    ]
    lines = ["\t".join(reversed(row)) for row in [*quoted, [""] * len(rows[0])]]
    table.write_bytes(
        "".join(f"{line}\r\n" for line in ["\ufeff" + lines[0], *lines[1:]]).encode("utf-16-le")
    )
    failed.do("check", "--waive-table", table, "--by", "Eli", status=1)
    assert waived(failed) == {("dev-0002", "is-bad"): ('said "so"', "Eli")}


def test_quotes_that_a_spreadsheet_drops_do_not_make_another_message() -> None:
    quoting = Finding("dev-0001", "is-bad", "error", '"bad" is in it', "fra.dev", 1)
    dropped = Row("because.tsv", 2, quoting._replace(message="bad is in it"), "a name")
    state = LanguageState([], ["dev-0001"])
    (waiver,) = find_waivers(state, [quoting], Waive([], [dropped], "Eli"))
    assert waiver.because == "a name"
    other = dropped._replace(finding=quoting._replace(message="good is in it"))
    with pytest.raises(InputError, match="now has another message"):
        find_waivers(state, [quoting], Waive([], [other], "Eli"))


def test_a_waiver_of_a_table_ends_with_its_text(failed: Office) -> None:
    table = fill(failed, {"dev-0001": "a name", "dev-0002": "a name"})
    failed.do("check", "--waive-table", table, "--by", "Eli", status=1)
    failed.do("packets", "--languages", "fra")
    changed = failed.folder / "fra.dev"
    changed.write_text("BAD again\nBAD\nPhrase dev-0003.\n")
    failed.do("import", changed)
    failed.do("check", status=1)
    assert set(waived(failed)) == {("dev-0002", "is-bad")}
    # The same rule of the same line, and yet another finding: its file and line have changed.
    stale = failed.do("check", "--waive-table", table, "--by", "Eli", status=1)
    assert "because.tsv, line 2: dev-0001:is-bad now has another message" in stale.err


def test_all_of_a_rule(failed: Office) -> None:
    one = ("--waive", "dev-0002:is-bad", "--because", "a name", "--by", "Ama")
    failed.do("check", *one, status=1)
    all_of_it = ("--waive", "*:is-bad", "--because", "house style", "--by", "Eli")
    told = failed.do("check", *all_of_it).out
    assert told.startswith("fra: passed, 0 errors, 1 warning, 3 waived (check 0005)")
    assert waived(failed) == {
        ("dev-0001", "is-bad"): ("house style", "Eli"),
        ("dev-0002", "is-bad"): ("a name", "Ama"),
        ("test-0002", "is-bad"): ("house style", "Eli"),
    }
    assert "check 0005, nothing has changed since" in failed.do("check", *all_of_it).out
    story = failed.do("status", "--language", "fra").out
    assert "waived is-bad of dev-0001, test-0002 (Eli: house style)" in story


def test_several_findings_in_one_flag(failed: Office) -> None:
    named = ("dev-0001:is-bad", "dev-0002:is-bad", "--because", "a name", "--by", "Eli")
    told = failed.do("check", "--languages", "fra", "--waive", *named, status=1).out
    assert told.startswith("fra: failed, 1 error, 1 warning, 2 waived")


def test_both_at_once(failed: Office) -> None:
    table = fill(failed, {"devtest-0001": "odd it is"})
    named = ("--waive", "*:is-bad", "--because", "house style", "--by", "Eli")
    told = failed.do("check", "--waive-table", table, *named).out
    assert told.startswith("fra: passed, 0 errors, 0 warnings, 4 waived")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        *read_cases("translation/workflow", "bad_waivers"),
        ("\t2\t", f"\t{'9' * 5_000}\t", "line 2: the column `line` must be a number, got '9"),
        ("", "dev-0001\tx\n", "line 6: expected 8 fields, as in the header; found 2"),
        ("", "", "line 6: .*waived twice"),
    ],
)
def test_tables_that_cannot_be(failed: Office, old: str, new: str, message: str) -> None:
    table = fill(failed, {"dev-0001": "a name"})
    text = table.read_text("utf-8")
    more = new or text.split("\n")[1].replace("a name", "x") + "\n"  # the row again
    table.write_text(text.replace(old, new) if old else text + more, "utf-8")
    ran = failed.do("check", "--waive-table", table, "--by", "Eli", status=1)
    assert re.search(rf"corpusmill: error: .*because\.tsv.*{message}", ran.err), ran.err
    assert kinds(failed.project) == ["packet", "import", "check"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    read_cases("translation/workflow", "table_settings"),
)
def test_settings_that_cannot_be(failed: Office, arguments: tuple[str, ...], message: str) -> None:
    table = str(fill(failed, {"dev-0001": "a name"}))
    given = [table if one == "TABLE" else one for one in arguments]
    assert message in failed.do("check", *given, status=2).err
    assert kinds(failed.project) == ["packet", "import", "check"]


def test_what_has_to_come_is_not_waived_with_its_rule(office: Office) -> None:
    office.make()
    office.do("import", office.translate({**good(), "dev-0001": ""}))
    waive = ("--waive", "*:missing", "--because", "x", "--by", "E")
    assert "*:missing cannot be waived" in office.do("check", *waive, status=2).err
