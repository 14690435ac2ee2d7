"""Imports take what is right in returned files, refuse the rest with reasons, and keep the files."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from corpusmill.pipelines.translation.checks import check_language
from corpusmill.pipelines.translation.imports import Imported, import_files
from corpusmill.pipelines.translation.journal import Sent
from corpusmill.pipelines.translation.language_state import REFUSED
from corpusmill.pipelines.translation.packet_files import Packet, PacketLine, write_sheet
from corpusmill.pipelines.translation.project import Project, Rules, create_project
from corpusmill.pipelines.translation.send_packets import send_packets
from corpusmill.pipelines.translation.target_languages import find_language
from corpusmill.pipelines.translation.xliff import write_xliff
from tests.pipelines.translation import small_projects
from tests.pipelines.translation.offices import Office, good, read_packet
from tests.tools.case_tables import read_cases

TRICKY = tuple(read_cases("translation/imports", "tricky"))


def filled(
    project: Project,
    texts: Sequence[str],
    *,
    code: str = "fra",
    number: int = 1,
    ids: Sequence[str] = small_projects.IDS,
) -> Packet:
    """A packet as a translator gives it back."""
    sources = {one.id: one for one in project.sentences}
    lines = tuple(
        PacketLine(sources[name], text, ()) for name, text in zip(ids, texts, strict=True)
    )
    return Packet(project.key, find_language(code), 1, number, lines)


def write(folder: Path, packet: Packet, name: str = "fra.xlf") -> Path:
    path = folder / name
    data = write_xliff(packet) if name.endswith(".xlf") else write_sheet(packet).encode("utf-8")
    path.write_bytes(data)
    return path


def send(project: Project, code: str = "fra") -> Sent:
    return send_packets(project, [find_language(code)])[0]


def bring(project: Project, *paths: Path, language: str = "") -> list[Imported]:
    return import_files(project, map(str, paths), language=language, by="Ama")


def texts(project: Project, code: str = "fra") -> dict[str, str]:
    return {
        name: one.text for name, one in small_projects.state_of(project, code).translations.items()
    }


@pytest.mark.parametrize("name", ["fra.xlf", "fra.tsv", "back.csv"])
def test_every_text_comes_in_to_the_letter(tmp_path: Path, sent: Project, name: str) -> None:
    path = write(tmp_path, filled(sent, TRICKY), name)
    (imported,) = bring(sent, path)
    assert imported.is_new
    assert texts(sent) == dict(zip(small_projects.IDS, TRICKY, strict=True))
    entry = imported.entry
    assert entry
    assert (entry.name, entry.by, entry.round) == ("0002", "Ama", 1)
    assert (entry.folder / "original" / name).read_bytes() == path.read_bytes()
    counts = {"base": 1, "lines": 8, "empty": 0, "first": 8}
    assert entry.facts.items() >= counts.items()
    assert small_projects.state_of(sent).name == "back"


def test_plain_files_of_each_split(tmp_path: Path, sent: Project) -> None:
    places = (("dev", TRICKY[:3]), ("devtest", TRICKY[3:6]), ("test", TRICKY[6:]))
    for split, lines in places:
        (tmp_path / f"fra.{split}").write_text("".join(f"{line}\n" for line in lines), newline="")
    imported = bring(sent, tmp_path / "fra.dev", tmp_path / "fra.devtest")
    assert [one.entry.name for one in imported if one.entry] == ["0002", "0003"]
    assert small_projects.state_of(sent).name == "partly back"
    bring(sent, tmp_path / "fra.test")
    assert texts(sent) == dict(zip(small_projects.IDS, TRICKY, strict=True))
    one = small_projects.state_of(sent).translations["devtest-0003"]
    assert (one.file, one.line) == ("fra.devtest", 3)


@pytest.mark.parametrize("name", ["fra.xlf", "fra.tsv"])
def test_an_empty_target_is_no_translation(tmp_path: Path, sent: Project, name: str) -> None:
    (imported,) = bring(sent, write(tmp_path, filled(sent, ("Un.", *[""] * 7)), name))
    assert texts(sent) == {"dev-0001": "Un."}
    assert imported.entry
    assert (imported.entry.facts["empty"], imported.entry.facts["lines"]) == (7, 8)
    assert small_projects.counts_of(small_projects.state_of(sent)) == (1, 7, 0)
    (tmp_path / "fra.dev").write_text("Un.\n\n \n")
    (plain,) = bring(sent, tmp_path / "fra.dev")
    assert plain.entry
    assert (plain.entry.facts["empty"], plain.entry.facts["lines"]) == (1, 3)
    assert texts(sent) == {"dev-0001": "Un.", "dev-0003": " "}  # the checks find blanks


def test_the_same_file_twice_adds_nothing(tmp_path: Path, sent: Project) -> None:
    path = write(tmp_path, filled(sent, TRICKY))
    bring(sent, path)
    before = small_projects.tree(sent.folder)
    (again,) = bring(sent, path)
    assert again.entry
    assert (again.is_new, again.entry.name) == (False, "0002")
    assert small_projects.tree(sent.folder) == before
    other_name = tmp_path / "copy.xlf"
    other_name.write_bytes(path.read_bytes())
    assert not bring(sent, other_name)[0].is_new


def test_two_answers_to_one_packet_are_both_kept_and_disputed(
    tmp_path: Path, sent: Project
) -> None:
    bring(sent, write(tmp_path, filled(sent, TRICKY), "one.xlf"))
    second = ("Il pleuvait.", *TRICKY[1:])
    (imported,) = bring(sent, write(tmp_path, filled(sent, second), "two.xlf"))
    assert imported.entry
    facts = imported.entry.facts
    assert (facts["disputed"], facts["same"]) == (1, 7)
    state = small_projects.state_of(sent)
    assert state.disputed == ["dev-0001"]
    found = [(a.entry, a.translation("dev-0001").text) for a in state.answers["dev-0001"]]
    assert found == [(2, TRICKY[0]), (3, "Il pleuvait.")]
    assert texts(sent)["dev-0001"] == TRICKY[0]


def test_an_answer_to_a_later_packet_settles_and_an_earlier_one_is_too_late(
    tmp_path: Path, sent: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(sent, write(tmp_path, filled(sent, TRICKY), "one.xlf"))
    bring(sent, write(tmp_path, filled(sent, ("Deux.", *TRICKY[1:])), "two.xlf"))
    assert check_language(sent, find_language("fra")).has_errors
    packet = send(sent)
    assert packet.entry
    assert packet.entry.facts["ids"] == ["dev-0001"]
    assert small_projects.state_of(sent).name == "sent"
    answer = filled(sent, ("Trois.",), number=packet.entry.number, ids=("dev-0001",))
    bring(sent, write(tmp_path, answer, "three.xlf"))
    assert (texts(sent)["dev-0001"], small_projects.state_of(sent).disputed) == ("Trois.", [])
    assert small_projects.state_of(sent).name == "back"
    (late,) = bring(sent, write(tmp_path, filled(sent, ("Quatre.", *TRICKY[1:])), "four.xlf"))
    assert late.entry
    assert (late.entry.facts["late"], late.entry.facts["same"]) == (1, 7)
    assert (texts(sent)["dev-0001"], small_projects.state_of(sent).disputed) == ("Trois.", [])


def test_a_file_without_a_number_settles_a_dispute_although_it_came_before(
    tmp_path: Path, sent: Project
) -> None:
    one, two = tmp_path / "fra.dev", tmp_path / "x" / "fra.dev"
    two.parent.mkdir()
    one.write_text("Un.\nDeux.\nTrois.\n")
    two.write_text("Uno.\nDeux.\nTrois.\n")
    bring(sent, one, two)
    assert small_projects.state_of(sent).disputed == ["dev-0001"]
    assert not bring(sent, one)[0].is_new  # the packet is the same: it tells nothing new
    check_language(sent, find_language("fra"))
    send(sent)
    assert bring(sent, one)[0].is_new
    assert small_projects.state_of(sent).disputed == []
    assert texts(sent)["dev-0001"] == "Un."
    assert not bring(sent, one)[0].is_new


BAD: dict[str, tuple[Callable[[Project], Packet], str]] = {
    "other-project": (
        lambda project: filled(project, TRICKY)._replace(project="wmt-00000000"),
        r"belongs to the project wmt-00000000, not to flores101-",
    ),
    "other-packet": (
        lambda project: filled(project, TRICKY, number=9),
        "answers packet 0009 of fra, which was never sent",
    ),
    "not-sent": (
        lambda project: filled(project, TRICKY, code="deu"),
        "no packet was sent for deu",
    ),
}
BAD_LINES: dict[str, tuple[Callable[[Project], Packet], str, str]] = {
    "other-source": (
        lambda project: _with_sources(filled(project, TRICKY), text="It hailed."),
        "dev-0001",
        r"the source must be 'It rained\.', as it was sent, but is 'It hailed\.'",
    ),
    "unknown-id": (
        lambda project: _with_sources(filled(project, TRICKY), id="dev-0099"),
        "",
        "the project has no sentence 'dev-0099'",
    ),
    "broken-line": (
        lambda project: filled(project, ("a\nb", *TRICKY[1:])),
        "dev-0001",
        "the translation has a line break: write it in one line",
    ),
}


def _with_sources(packet: Packet, **changes: str) -> Packet:
    first, *others = packet.lines
    changed = first._replace(source=first.source._replace(**changes))  # type: ignore[arg-type]
    return packet._replace(lines=(changed, *others))


@pytest.mark.parametrize("ending", ["xlf", "tsv"])
@pytest.mark.parametrize("case", BAD)
def test_a_file_of_another_packet_is_refused_and_the_others_are_imported(
    tmp_path: Path, sent: Project, case: str, ending: str
) -> None:
    make, message = BAD[case]
    right = write(tmp_path, filled(sent, TRICKY), "good.xlf")
    bad = write(tmp_path, make(sent), f"bad.{ending}")
    refused, imported = bring(sent, bad, right)
    assert re.search(rf"/bad\.{ending}: .*{message}", refused.problem)
    assert (refused.entry, imported.is_new, imported.problem) == (None, True, "")
    assert small_projects.kinds(sent) == ["packet", "import"]
    assert not sent.journal("deu").exists()


@pytest.mark.parametrize("ending", ["xlf", "tsv"])
@pytest.mark.parametrize("case", BAD_LINES)
def test_a_line_that_is_wrong_is_refused_and_the_others_are_imported(
    tmp_path: Path, sent: Project, case: str, ending: str
) -> None:
    make, name, message = BAD_LINES[case]
    path = write(tmp_path, make(sent), f"fra.{ending}")
    for is_new in (True, False):  # a file that was imported before has the same faults
        (imported,) = bring(sent, path)
        assert (imported.is_new, imported.problem) == (is_new, "")
        (fault,) = imported.faults
        assert fault.id == name
        assert re.match(message, fault.message)
    assert list(texts(sent)) == list(small_projects.IDS[1:])
    assert imported.entry
    facts = imported.entry.facts
    assert (facts["lines"], facts["first"], facts["refused"], facts["empty"]) == (8, 7, 1, 0)
    table = (imported.entry.folder / REFUSED).read_text()
    assert table.startswith(f"id\tline\tmessage\n{name}\t{fault.line}\t")


def test_refused_lines_go_back_with_their_reasons_until_they_are_imported(
    tmp_path: Path, office: Office
) -> None:
    office.make()
    back = office.translate({**good(), "dev-0002": "Un\nDeux", "test-0001": "Un BAD."})
    other = tmp_path / "fra.dev"
    other.write_text("Un.\n")
    told = office.do("import", other, back, status=1).out.splitlines()
    assert told == [
        f"refused: {other}: expected 3 lines, one per sentence; found 1",
        f"{back}: fra, imported as 0002, answers packet 0001: 8 lines, 1 refused, 7 new",
        "  line 3: dev-0002 refused: the translation has a line break: write it in one line",
        "2 files, 1 refused; 8 lines read = 7 imported + 0 empty + 1 refused",
        "next: `packets` sends refused lines again after `check`; or import a corrected file",
    ]
    office.do("check", status=1)
    sent = office.do("packets", "--languages", "fra").out
    assert "2 sentences with errors in check 0003 or refused by `import`" in sent
    _, rows = read_packet(office.newest_file("fra-round*.tsv"))
    assert {row["id"]: row["notes"] for row in rows} == {
        "dev-0002": "missing: there is no translation; refused: the translation has a line break:"
        " write it in one line",
        "test-0001": "is-bad: bad is in it",
    }
    office.do("import", office.translate(dict.fromkeys(("dev-0002", "test-0001"), "Bien.")))
    office.do("check")
    assert "check 0006 has passed" in office.do("packets", "--languages", "fra").out


def test_a_correction_that_is_refused_goes_back_although_the_checks_have_passed(
    office: Office,
) -> None:
    office.make()
    office.do("import", office.translate(good()))
    corrected = office.translate({**good(), "dev-0002": "Un\nDeux"})
    office.do("import", corrected, status=1)
    office.do("check")
    assert "round 1 again, 1 sentence" in office.do("packets", "--languages", "fra").out
    _, ((row,)) = read_packet(office.newest_file("fra-round*.tsv"))
    assert row["notes"].startswith("refused: the translation has a line break")


@pytest.mark.parametrize(
    ("name", "content", "language", "message"),
    read_cases("translation/project", "unreadable_files"),
)
def test_files_that_cannot_be_read(
    tmp_path: Path, sent: Project, name: str, content: str, language: str, message: str
) -> None:
    (tmp_path / name).write_bytes(content.encode("latin-1"))
    (refused,) = bring(sent, tmp_path / name, language=language)
    assert re.search(message, refused.problem)
    assert small_projects.kinds(sent) == ["packet"]


def test_no_such_file(tmp_path: Path, sent: Project) -> None:
    (refused,) = bring(sent, tmp_path / "fra.xlf")
    assert refused.problem.endswith("fra.xlf: No such file or directory")
    (refused,) = bring(sent, Path("/dev/null"), language="fra")
    assert "/dev/null: not a regular file, but a character device" in refused.problem


def test_the_language_of_a_file_whose_name_does_not_tell(tmp_path: Path, sent: Project) -> None:
    (tmp_path / "final-version.dev").write_text("1\n2\n3\n")
    (imported,) = bring(sent, tmp_path / "final-version.dev", language="fra")
    assert imported.code == "fra"


def test_a_folder_with_the_source_among_the_languages(tmp_path: Path, sent: Project) -> None:
    folder = tmp_path / "release"
    (folder / "dev").mkdir(parents=True)
    (folder / "README").write_text("read me")
    (folder / "dev" / ".hidden.tsv").write_text("x")
    (folder / "dev" / "fra.dev").write_text("1\n2\n3\n")
    source = folder / "dev" / "eng.dev"
    source.write_text("".join(f"{text}\n" for text in small_projects.TEXTS["dev"]))
    passed, imported = bring(sent, folder)
    assert (passed.path, passed.entry, imported.code) == (str(source), None, "fra")
    source.write_text("It rained.\nThe river fell.\nNobody was hurt.\n")
    refused, _ = bring(sent, folder)
    assert (
        "eng.dev, line 2: differs from sentence dev-0002 of the project, which" in refused.problem
    )


def test_a_folder_without_answers(tmp_path: Path, sent: Project) -> None:
    (tmp_path / "empty").mkdir()
    (refused,) = bring(sent, tmp_path / "empty")
    assert "empty: the folder contains no file whose name ends with one of .xlf" in refused.problem


def test_two_projects_of_one_name_are_told_apart(tmp_path: Path, sent: Project) -> None:
    small_projects.small_project(tmp_path / "same")
    other = create_project(str(tmp_path / "other"), Rules(), list(sent.sentences)[:3])
    path = write(tmp_path, filled(other, TRICKY[:3], ids=small_projects.IDS[:3]))
    (refused,) = bring(sent, path)
    assert "belongs to the project flores101-" in refused.problem


def test_a_line_that_another_file_of_the_run_has_right_is_not_sent_again(office: Office) -> None:
    office.make()
    plain = office.folder / "fra.dev"
    plain.write_text("Il pleut.\nDeux lignes.\nTrois.\n")
    back = office.translate({**good(), "dev-0001": "Il pleut.", "dev-0002": "Un\nDeux"})
    told = office.do("import", plain, back, "--language", "fra").out
    assert "11 lines read = 10 imported + 0 empty + 1 refused" in told
    state = small_projects.state_of(office.project)
    assert (state.entries[-1].facts["refused"], state.refused) == (1, {})
    assert (state.entries[-1].facts["right_elsewhere"]) == ["dev-0002"]


def test_a_file_that_was_imported_before_reports_the_lines_that_are_still_refused(
    office: Office,
) -> None:
    office.make()
    old = office.folder / "old.tsv"
    old.write_bytes(office.translate({**good(), "dev-0002": "Un\nDeux"}).read_bytes())
    office.do("import", old, status=1)
    assert "line 3: dev-0002 refused" in office.do("import", old, status=1).out
    office.do("import", office.translate(good()))
    assert office.do("import", old).out.endswith("already imported as 0002; nothing was added\n")


def test_the_untranslated_rows_of_a_table_without_sources_are_counted(office: Office) -> None:
    office.make()
    table = office.folder / "fra.tsv"
    table.write_text("id\ttarget\ndev-0001\tIl pleut.\ndev-0002\t\n")
    office.do("import", table, "--language", "fra")
    facts = small_projects.state_of(office.project).entries[-1].facts
    assert (facts["lines"], facts["empty"], facts["first"]) == (2, 1, 1)


def test_a_document_of_an_undetermined_language_takes_the_language_that_is_named(
    tmp_path: Path, sent: Project
) -> None:
    path = write(tmp_path, filled(sent, TRICKY))
    text = path.read_text("utf-8").replace('trgLang="fr"', 'trgLang="und"')
    path.write_text(text.replace(f'original="{sent.key}/fra/round1/packet1"', 'original="a"'))
    (refused,) = bring(sent, path)
    assert refused.problem.endswith("does not contain its language; name it with --language")
    (imported,) = bring(sent, path, language="fra")
    assert imported.is_new
