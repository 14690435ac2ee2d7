"""Another translator edits what came back, before the check: what is sent, what is kept, and when."""

from pathlib import Path

import pytest

from corpusmill.pipelines.translation.imports import EDITS
from corpusmill.pipelines.translation.workflow import measure
from tests.pipelines.translation.offices import Office, good, read_packet, target_of
from tests.pipelines.translation.small_projects import IDS, state_of
from tests.tools.case_tables import read_cases

EDIT = ("packets", "--languages", "fra", "--edit")


def translated(office: Office, texts: dict[str, str] | None = None) -> None:
    office.make()
    office.do("import", office.translate(texts or good()), "--by", "Ama")


def test_an_editor_gets_the_translations_and_the_differences_are_kept(office: Office) -> None:
    translated(office)
    assert "next for fra: `packets --edit` sends" in office.do("status").out
    assert "fra: 0003 sent: round 1, all 8 sentences for an editor" in office.do(*EDIT).out
    assert office.state() == "in editing"
    packet = office.newest_file("fra-round1-0003-editing.tsv")
    columns, rows = read_packet(packet)
    assert [row[target_of(columns)] for row in rows] == list(good().values())
    xliff = office.newest_file("fra-round1-0003-editing.xlf").read_text("utf-8")
    assert xliff.count('state="translated"') == len(IDS)
    guidelines = office.newest_file("*-editing-guidelines.md").read_text("utf-8")
    assert guidelines.startswith("# Guidelines for editors of translations into French\n")
    assert "8 sentences, which another translator has translated" in guidelines

    back = office.translate({**good(), "dev-0002": 'Dit "oui".', "test-0001": "=Prends."})
    taken = office.do("import", back, "--by", "Ben").out
    edits = office.newest_file(EDITS)
    changed = "answers packet 0003: 8 lines, 6 the same as before, 2 changed"
    assert (
        taken == f"{back}: fra, imported as 0004, {changed}\n  what the editor changed: {edits}\n"
    )
    assert edits.read_text("utf-8").splitlines() == [
        "id\tbefore\tafter",
        'dev-0002\tPhrase dev-0002.\tDit "oui".',
        "test-0001\tPhrase test-0001.\t'=Prends.",
    ]
    assert (office.state(), len(state_of(office.project).edited)) == ("edited", 8)
    assert "next for fra: `check` checks the translations" in office.do("status").out
    assert "all translations are edited" in office.do(*EDIT).out
    assert "passed" in office.do("check").out
    assert "0003" in office.do("status", "--language", "fra").out


def test_the_translator_is_not_the_editor(office: Office) -> None:
    translated(office)
    office.do(*EDIT)
    back = office.translate({"dev-0001": "Autrement."})
    refused = office.do("import", back, "--by", "Ama", status=1).out
    assert "answers packet 0003, which another person than the translator must edit" in refused
    assert "'Ama' for this file and for the translation 0002; name the editor with --by" in refused
    assert office.state() == "in editing"
    office.do("import", back, "--by", "Ben")
    again = office.do("import", office.folder / "back-0001.tsv", back, "--by", "Ama").out
    assert again.count("already imported") == 2


def test_what_comes_back_later_is_edited_later(office: Office) -> None:
    office.make()
    texts = {name: text for name, text in good().items() if name in IDS[:6]}
    office.do("import", office.translate(texts), "--by", "Ama")
    assert "6 sentences for an editor" in office.do(*EDIT).out
    assert "packet 0003 is with an editor" in office.do(*EDIT).out
    office.do("import", office.translate({}), "--by", "Ben")
    assert office.state() == "partly back"
    rest = office.folder / "fra.test"
    rest.write_text("Prends le bus.\nIl part.\n")
    assert "answers packet 0001" in office.do("import", rest, "--by", "Ama").out
    assert (office.state(), len(state_of(office.project).edited)) == ("back", 6)
    assert "2 sentences for an editor" in office.do(*EDIT).out
    again = office.do("import", office.translate({}), "--by", "Ben").out
    assert "answers packet 0006: 2 lines, 2 the same as before" in again
    assert office.state() == "edited"


def test_an_editor_settles_a_dispute(office: Office) -> None:
    translated(office)
    other = office.translate({**good(), "dev-0001": "Autrement."}).rename(office.folder / "b.tsv")
    office.do("import", other, "--by", "Ama")
    office.do(*EDIT)
    rows = {row["id"]: row for row in read_packet(office.newest_file("*-editing.tsv"))[1]}
    assert rows["dev-0001"]["notes"].startswith("disputed: the same packet has different answers")
    assert not rows["dev-0002"]["notes"]
    office.do("import", office.translate({"dev-0001": "Ainsi."}), "--by", "Ben")
    assert not state_of(office.project).disputed
    edits = office.newest_file(EDITS).read_text("utf-8").splitlines()
    assert edits[1:] == ["dev-0001\tPhrase dev-0001.\tAinsi."]


@pytest.mark.parametrize(("steps", "told"), read_cases("translation/workflow", "too_late_to_edit"))
def test_editing_is_before_the_check(steps: list[str], told: str, office: Office) -> None:
    office.make()
    for step in steps:
        if step in ("bad", "good"):
            office.do("import", office.translate({**good(), IDS[0]: step.upper()}), "--by", "Ama")
            office.do("check", status=int(step == "bad"))
        elif step == "sheets":
            office.do("review", "--sheets")
        else:
            wrong = dict.fromkeys(IDS, ("grammar", "critical")) if step != "ok" else {}
            office.do("review", "--import", office.review(wrong, "Ada"))
    sent = office.do(*EDIT).out
    assert sent.startswith("fra: nothing sent")
    assert told in sent


@pytest.mark.parametrize(
    ("translators", "editors", "told", "texts", "edited", "edits"),
    read_cases("translation/workflow", "corrected_while_edited"),
)
def test_a_correction_while_the_lines_are_with_the_editor(
    translators: str,
    editors: str,
    told: str,
    texts: list[str],
    edited: int,
    edits: list[str],
    office: Office,
) -> None:
    translated(office)
    newer = office.translate({**good(), "dev-0001": translators}).rename(office.folder / "c.tsv")
    office.do(*EDIT)
    office.do("import", newer, "--by", "Ama", "--corrects", "last")
    assert office.state() == "in editing"
    back = office.translate({"dev-0001": editors} if editors else {})
    taken = office.do("import", back, "--by", "Ben").out
    assert f"answers packet 0003: 8 lines, {told}" in taken
    state = state_of(office.project)
    found = [answer.translation("dev-0001").text for answer in state.answers["dev-0001"]]
    assert (found, len(state.edited), len(state.awaited)) == (texts, edited, 0)
    assert measure(state)["changed"] == len(edits) / edited
    written = [
        one.read_text("utf-8").splitlines()[1:]
        for one in sorted(office.project.journal("fra").glob(f"*/{EDITS}"))
    ]
    assert written == ([edits] if edits else [])
    assert ("1 sentence for an editor" in office.do(*EDIT).out) == (edited < len(IDS))


def test_an_editor_corrects_the_own_file_after_a_correction_of_the_translator(
    office: Office,
) -> None:
    translated(office)
    newer = office.translate({**good(), "dev-0001": "Il a plu."}).rename(office.folder / "c.tsv")
    office.do(*EDIT)
    office.do("import", newer, "--by", "Ama", "--corrects", "last")
    office.do("import", office.translate({"dev-0001": "Il pleut."}), "--by", "Ben")
    assert state_of(office.project).disputed == ["dev-0001"]
    back = office.translate({"dev-0002": "Bien."})
    again = office.do("import", back, "--by", "Ben", "--corrects", "last").out
    assert "corrects 0005: 8 lines, 6 the same as before, 2 corrected" in again
    state = state_of(office.project)
    assert not state.disputed
    assert measure(state)["changed"] == 1 / 7
    assert [state.translations[name].text for name in IDS[:2]] == ["Il a plu.", "Bien."]


def test_a_file_without_a_packet_does_not_answer_the_editing_packet(office: Office) -> None:
    translated(office)
    office.do(*EDIT)
    plain = office.folder / "fra.dev"
    plain.write_text("".join(f"{good()[name]}\n" for name in IDS[:3]))
    assert "answers packet 0001: 3 lines, 3 the same" in office.do("import", plain).out
    assert (office.state(), state_of(office.project).edited) == ("in editing", [])


def test_two_translators_edit_the_halves_of_each_other(office: Office) -> None:
    office.make()
    for number, by in enumerate(("Ama", "Ben")):
        texts = {name: text for name, text in good().items() if IDS.index(name) % 2 == number}
        half = office.translate(texts).rename(office.folder / f"{by}.tsv")
        office.do("import", half, "--by", by)
    office.do(*EDIT)
    whole = office.translate({})
    for by, entry in (("Ama", "0002"), ("Ben", "0003")):
        refused = office.do("import", whole, "--by", by, status=1).out
        assert f"{by!r} for this file and for the translation {entry}" in refused
    lines = whole.read_text("utf-8").splitlines()
    for number, by in ((1, "Ama"), (0, "Ben")):
        path = office.folder / f"edited-{by}.tsv"
        path.write_text("\n".join([lines[0], *lines[1 + number :: 2]]), "utf-8")
        taken = office.do("import", path, "--by", by).out
        assert "answers packet 0004: 4 lines, 4 the same as before" in taken
    assert office.state() == "edited"


def test_each_round_is_edited(office: Office, tmp_path: Path) -> None:
    translated(office)
    office.do(*EDIT)
    office.do("import", office.translate({"dev-0002": "BAD"}), "--by", "Ben")
    office.do("check", status=1)
    office.do("packets", "--languages", "fra")
    office.do("import", office.translate({"dev-0002": "Bien."}), "--by", "Ama")
    assert (office.state(), len(state_of(office.project).edited)) == ("back", 7)
    office.do("check")
    assert office.state() == "checked"
    office.do("review", "--sheets")
    wrong = dict.fromkeys(IDS, ("grammar", "critical"))
    office.do("review", "--import", office.review(wrong, "Ada"))
    assert measure(state_of(office.project))["again"] == 0
    office.do("packets", "--languages", "fra")
    assert measure(state_of(office.project))["again"] == 1
    office.do("import", office.translate({}, "Encore."), "--by", "Ama")
    assert (office.state(), state_of(office.project).edited) == ("back", [])
    assert "round 2, all 8 sentences for an editor" in office.do(*EDIT).out
    assert office.newest_file("fra-round2-*-editing.tsv")
