"""From packets to a package, by the command: what is sent, checked, waived, reviewed, sent back, accepted."""

import json
import re
from pathlib import Path

import pytest

from corpusmill.pipelines.translation.journal import read_entries
from corpusmill.pipelines.translation.send_packets import plan_packet
from corpusmill.pipelines.translation.status import LanguageStatus
from tests.pipelines.translation.offices import Office, good, read_packet, target_of
from tests.pipelines.translation.small_projects import IDS, TIME, kinds, source_file, state_of, tree
from tests.tools.case_tables import read_cases


def test_all_the_way_to_acceptance(office: Office) -> None:
    office.make("fra,deu")
    assert [office.state(code) for code in ("fra", "deu")] == ["sent", "sent"]
    bad = {**good(), "dev-0002": "BAD", "test-0001": "BAD and ODD"}
    office.do("import", office.translate(bad))
    assert office.state() == "back"

    checked = office.do("check", status=1)
    assert office.state() == "checks failed"
    assert "fra: failed, 2 errors, 1 warning, 0 waived (check 0003)" in checked.out
    assert re.search(r"is-bad +error +2 +0", checked.out)
    assert "back-0001.tsv:3 dev-0002: error: is-bad: bad is in it" in checked.out
    assert "deu" not in checked.out

    again = office.do("packets", "--languages", "fra,deu", "--to", office.folder / "out")
    assert "fra: 0004 sent: round 1 again, 2 sentences" in again.out
    assert "deu: nothing sent: packet 0001 was sent, and no answer was imported yet" in again.out
    out = sorted(path.name for path in (office.folder / "out").iterdir())
    endings = ("-guidelines.md", ".tsv", ".xlf")
    assert out == [f"{stem}{end}" for stem in ("deu-round1", "fra-round1-0004") for end in endings]
    _, rows = read_packet(office.folder / "out" / "fra-round1-0004.tsv")
    assert [row["id"] for row in rows] == ["dev-0002", "test-0001"]
    assert all("is-bad: bad is in it" in row["notes"] for row in rows)
    assert office.state() == "sent"

    office.do("import", office.translate({"dev-0002": "Bien."}, "Bon."))
    assert office.do("check").out.startswith("fra: passed, 0 errors, 0 warnings")
    assert office.state() == "checked"
    passed = office.do("packets", "--languages", "fra")
    assert "fra: nothing sent: check 0006 has passed" in passed.out

    office.do("review", "--sheets", "--languages", "fra,deu")
    assert office.state() == "in review"
    half = office.do("review", "--import", office.review({}, "Ama", only=2))
    assert "fra: 2 of 4 sentences of the sample are reviewed" in half.out
    assert office.state() == "in review"
    done = office.do("review", "--import", office.review({}, "Ben"))
    assert "fra: score 100.0, 90 is needed: accepted (verdict 0010)" in done.out
    assert office.state() == "accepted"
    assert kinds(office.project) == [
        *("packet", "import", "check", "packet", "import", "check"),
        *("sheets", "review", "review", "verdict"),
    ]
    nothing = office.do("packets", "--languages", "fra")
    assert "nothing sent: the language is accepted" in nothing.out

    packaged = office.do("package", "--output", office.folder / "corpora")
    assert "2 languages: eng fra\nnote: deu is left out: sent" in packaged.out
    build = office.folder / "corpora/flores101/flores101/1.0.0"
    manifest = json.loads((build / "manifest.json").read_text())
    assert manifest["languages"]["fra"]["score"] == "100.0"
    assert (build / "dev/fra.dev").read_text() == "Phrase dev-0001.\nBien.\nPhrase dev-0003.\n"


def test_sent_back_with_what_the_reviewers_said(office: Office) -> None:
    office.make()
    office.do("import", office.translate(good()))
    office.do("check")
    office.do("review", "--sheets", "--reviewer", "Ama Ö.")
    assert office.newest_file("*-review-*.tsv").name == "fra-review-round1-Ama-Ö.tsv"
    wrong = office.project.sample[1]
    reviewed = office.do(
        "review", "--import", office.review({wrong: ("Mistranslation", "Critical")}, "Ama Ö.")
    )
    assert re.search(r"fra: score \d\d\.\d, 90 is needed: sent back: `packets`", reviewed.out)
    assert office.state() == "sent back"

    sent = office.do("packets", "--languages", "fra")
    assert "round 2, all 8 sentences: reviewers scored" in sent.out
    rows = {row["id"]: row for row in read_packet(office.newest_file("fra-round2.tsv"))[1]}
    assert list(rows) == list(IDS)
    assert "critical mistranslation: see the guide" in rows[wrong]["notes"]
    assert [name for name, row in rows.items() if row["notes"]] == [wrong]
    assert rows[wrong][target_of(rows[wrong])] == f"Phrase {wrong}."
    assert office.state() == "sent"

    # A part of the second round: what is not back is an error, although its old text was good.
    part = office.translate({name: f"Phrase {name}!" for name in IDS[:6]})
    rows_of_part = part.read_text("utf-8").splitlines(keepends=True)
    part.write_text("".join(rows_of_part[:7]), "utf-8")
    office.do("import", part)
    assert office.state() == "partly back"
    failed = office.do("check", status=1)
    assert failed.out.count("not-back: was sent again in round 2") == 2
    (office.folder / "whole").mkdir()
    whole = office.translate({name: f"Phrase {name}!" for name in IDS}).rename(
        office.folder / "whole" / "fra.tsv"
    )
    settled = office.do("packets", "--languages", "fra")
    assert "2 sentences with errors in check" in settled.out
    office.do("import", whole)
    assert office.state() == "sent"  # it answers the packet before the last
    assert office.do("check").out.startswith("fra: passed")
    assert office.state() == "checked"


def test_a_second_reviewer_makes_a_new_verdict(office: Office) -> None:
    office.make_sheets()
    wrong = office.project.sample[0]
    office.do("review", "--import", office.review({wrong: ("grammar", "critical")}, "Ama"))
    first = state_of(office.project).verdict
    office.do("review", "--import", office.review({}, "Ben"))
    second = state_of(office.project).verdict
    assert first
    assert second
    assert float(first.facts["shown"]) < float(second.facts["shown"]) < 100
    again = office.do("review", "--import", office.review({}, "Ben"))
    assert "already imported as" in again.out
    assert state_of(office.project).verdict == second


def test_a_verdict_that_a_kill_prevented_is_made_up_for(office: Office) -> None:
    office.make_sheets()
    sheet = office.review({}, "Ama")
    office.do("review", "--import", sheet)
    last = read_entries(office.project.journal("fra"))[-1]
    assert last.kind == "verdict"
    (last.folder / "entry.json").unlink()
    last.folder.rmdir()
    assert office.state() == "in review"
    assert "already imported as 0005" in office.do("review", "--import", sheet).out
    assert office.state() == "accepted"


def test_a_review_of_translations_that_have_changed(office: Office) -> None:
    office.make_sheets()
    stale = office.review({}, "Ama")
    text = stale.read_text("utf-8")
    name = office.project.sample[2]
    stale.write_text(text.replace(f"Phrase {name}.", "Autre chose."), "utf-8")
    refused = office.do("review", "--import", stale, status=1)
    assert f"the sheet is outdated: {name} is now 'Phrase {name}.'" in refused.err
    quoted = text.replace(f"Phrase {name}.", f"Phrase {name}. ")
    stale.write_text(quoted, "utf-8")
    assert "the sheet is outdated" in office.do("review", "--import", stale, status=1).err
    assert kinds(office.project)[-1] == "sheets"


def test_what_is_checked_no_longer_is_not_reviewed(office: Office) -> None:
    office.make()
    never = office.do("review", "--sheets", "--languages", "deu")
    assert never.out == "deu: no sheet: no packet was sent yet\n"
    assert office.project.languages == ["fra"]
    waiting = office.do("review", "--sheets", "--languages", "fra")
    assert "fra: no sheet: no translation was imported yet" in waiting.out
    office.do("import", office.translate({**good(), "dev-0001": "BAD"}))
    unchecked = office.do("review", "--sheets")
    assert "fra: no sheet: the current translations are not checked yet" in unchecked.out
    office.do("check", status=1)
    failed = office.do("review", "--sheets")
    assert "fra: no sheet: the checks have found 1 error; run `check`" in failed.out
    assert kinds(office.project) == ["packet", "import", "check"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [*read_cases("translation/workflow", "bad_reviews"), ("", "", "missing columns: ")],
)
def test_a_sheet_that_cannot_be_taken(office: Office, old: str, new: str, message: str) -> None:
    office.make_sheets()
    before = tree(office.project_folder)
    sheet = office.review({}, "Ama")
    sheet.write_text(sheet.read_text("utf-8").replace(old, new) if old else "", "utf-8")
    ran = office.do("review", "--import", sheet, status=1)
    assert re.search(rf"corpusmill: error: .*review-Ama\.tsv.*{message}", ran.err)
    assert tree(office.project_folder) == before


def test_a_waiver_holds_for_as_long_as_the_text_is_the_same(office: Office) -> None:
    office.make()
    office.do("import", office.translate({**good(), "dev-0001": "BAD", "dev-0002": "BAD"}))
    waive = ("--waive", "dev-0001:is-bad", "--because", "it is a name", "--by", "Eli")
    waived = office.do("check", *waive, status=1)
    assert "fra: failed, 1 error, 0 warnings, 1 waived (check 0003)" in waived.out
    assert office.do("check", status=1).out.startswith(
        "fra: failed, 1 error, 0 warnings, 1 waived (check 0003, nothing has changed since then)"
    )
    story = office.do("status", "--language", "fra").out
    assert "waived is-bad of dev-0001 (Eli: it is a name)" in story
    office.do("packets", "--languages", "fra")
    assert state_of(office.project).entries[-1].facts["ids"] == ["dev-0002"]
    office.do("import", office.translate({}, "Bien."))
    assert "passed, 0 errors, 0 warnings, 1 waived" in office.do("check").out
    assert (
        plan_packet(state_of(office.project))
        == "nothing sent: check 0006 has passed; the next step is `review`"
    )

    path = office.folder / "fra.dev"  # another text, as bad as the first
    path.write_text("BAD again\nBien.\nPhrase dev-0003.\n")
    office.do("import", path)
    assert "failed, 1 error, 0 warnings, 0 waived" in office.do("check", status=1).out


@pytest.mark.parametrize(
    ("arguments", "message"),
    read_cases("translation/workflow", "waivers"),
)
def test_waivers_that_cannot_be(office: Office, arguments: tuple[str, ...], message: str) -> None:
    office.make()
    office.do("import", office.translate({**good(), "dev-0001": "BAD", "dev-0002": ""}))
    ran = office.do("check", "--languages", "fra", *arguments, status=2)
    assert message in ran.err
    assert kinds(office.project) == ["packet", "import"]


def test_warnings_alone_pass(office: Office) -> None:
    office.make()
    office.do("import", office.translate({**good(), "dev-0001": "ODD"}))
    assert "passed, 0 errors, 1 warning" in office.do("check").out
    assert office.state() == "checked"


def test_a_disputed_line_is_shown_and_sent_again(office: Office) -> None:
    office.make()
    first = office.translate(good()).rename(office.folder / "one.tsv")
    second = office.translate({**good(), "devtest-0002": "Autrement."}).rename(
        office.folder / "two.tsv"
    )
    office.do("import", first, second)
    checked = office.do("check", status=1)
    told = "“Phrase devtest-0002.” (one.tsv, line 6, 0002); “Autrement.” (two.tsv, line 6, 0003)"
    rule = "disputed: the same packet has different answers; send the correct one"
    assert f"one.tsv:6 devtest-0002: error: {rule}: {told}" in checked.out
    story = office.do("status", "--language", "fra").out
    assert "disputed: devtest-0002: “Autrement.” (two.tsv:6, 0003)" in story
    waive = ("--waive", "devtest-0002:disputed", "--because", "x", "--by", "y")
    assert "cannot be waived" in office.do("check", *waive, status=2).err
    office.do("packets", "--languages", "fra")
    office.do("import", office.translate({}, "Autrement."))
    assert "passed" in office.do("check").out
    assert state_of(office.project).translations["devtest-0002"].text == "Autrement."


def test_status_for_people_and_for_programs(office: Office) -> None:
    office.make("fra,deu")
    office.do("import", office.translate({**good(), "dev-0001": "BAD", "dev-0002": ""}))
    office.do("check", status=1)
    shown = office.do("status").out.splitlines()
    assert shown[0] == "flores101: 8 sentences, 2 languages"
    assert shown[3].split() == [
        *("deu", "German", "sent", "1", "2026-01-02", "03:04"),
        *("0.0", "–", "0/8", "8", "0", "0", "–", "–", "0/4"),
    ]
    assert shown[4].split()[:4] == ["fra", "French", "checks", "failed"]
    assert shown[4].split()[-7:] == ["7/8", "1", "0", "0", "2", "0", "0/4"]
    assert shown[5].split() == ["total", "7/16", "9", "0", "0", "2", "0", "0/8"]
    assert shown[6] == "1 sent, 1 checks failed"
    told = json.loads(office.do("status", "--json").out)
    assert told["sentences"] == 8
    german, french = told["languages"]
    assert (german["state"], german["errors"], german["score"]) == ("sent", None, None)
    values = *("fra", "French", "checks failed", 1, 8, 7, 1, 0, 0, 2, 0, 0, 4, None), TIME, 0.0
    (people,), measures = french["people"].values(), french["measures"]
    assert set(people.values()) | set(measures.values()) == {None}
    values += (french["people"], measures)
    assert french == dict(zip(LanguageStatus._fields, values, strict=True))
    story = office.do("status", "--language", "fra").out
    assert re.search(r"0001 .* packet +(\w+: )?round 1, all 8 sentences", story)
    assert re.search(
        r"0002 .* import +(\w+: )?back-0001\.tsv answers packet 0001: 8 lines, 1 empty \(not", story
    )
    assert re.search(r"0003 .* check +(\w+: )?2 errors \(is-bad 1, missing 1\)", story)


def test_an_accepted_language_that_changes_is_not_accepted_any_longer(office: Office) -> None:
    office.make_sheets()
    office.do("review", "--import", office.review({}, "Ama"))
    sample = office.project.sample
    outside = next(name for name in IDS if name not in sample)
    office.do("import", office.translate({**good(), outside: "Autrement."}))
    assert office.state() == "back"
    office.do("check", status=1)
    office.do("packets", "--languages", "fra")
    office.do("import", office.translate({}, "Autrement."))
    office.do("check")
    assert office.state() == "accepted"  # the reviewed sentences are the same
    split = sample[0].partition("-")[0]
    texts = {name: one.text for name, one in state_of(office.project).translations.items()}
    lines = [
        "Autre." if name == sample[0] else texts[name]
        for name in IDS
        if name.startswith(f"{split}-")
    ]
    (office.folder / f"fra.{split}").write_text("".join(f"{line}\n" for line in lines))
    office.do("import", office.folder / f"fra.{split}")
    office.do("check")
    assert office.state() == "in review"  # some are not


def test_nothing_is_overwritten_outside(office: Office) -> None:
    office.make()
    out = office.folder / "out"
    out.mkdir()
    (out / "fra-round1.tsv").write_text("mine")
    ran = office.do("packets", "--languages", "fra", "--to", out, status=1)
    assert "already contains a different fra-round1.tsv" in ran.err
    ran = office.do("packets", "--languages", "deu", "--format", "tsv", "--to", out)
    ran = office.do("packets", "--languages", "deu", "--to", out)
    assert sorted(tree(out)) == ["deu-round1-guidelines.md", "deu-round1.tsv", "fra-round1.tsv"]
    assert (out / "fra-round1.tsv").read_text() == "mine"
    (out / "spa-round1.xlf").write_text("mine")
    office.do("packets", "--languages", "spa", "--to", out, status=1)
    assert office.project.languages == ["deu", "fra", "spa"]
    assert kinds(office.project, "spa") == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    read_cases("translation/workflow", "settings"),
)
def test_settings_that_cannot_be(office: Office, arguments: tuple[str, ...], message: str) -> None:
    office.make()
    before = tree(office.project_folder)
    assert message in office.do(*arguments, status=2).err
    assert tree(office.project_folder) == before


def test_the_same_acts_leave_the_same_bytes(tmp_path: Path) -> None:
    trees = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        office = Office(tmp_path / name)
        office.make("fra,deu")
        office.do("import", office.translate({**good(), "dev-0001": "BAD"}), "--by", "Ama")
        office.do("check", status=1)
        office.do("packets", "--languages", "fra")
        trees.append(tree(office.project_folder))
    assert trees[0] == trees[1]
    assert len(trees[0]) == 2 + 2 * 4 + 3 + 2 + 4


def test_all_languages_of_the_paper(office: Office) -> None:
    office.do(
        "packets",
        "--languages",
        "flores101",
        "--format",
        "tsv",
        "--source",
        source_file(office.folder),
    )
    assert len(office.project.languages) == 101
    assert "eng" not in office.project.languages
