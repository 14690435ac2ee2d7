"""Details for users: one code for a language, guidelines, legends, files without work in them, warnings."""

import re
from pathlib import Path

import pytest

from tests.pipelines.translation.offices import Office, good
from tests.pipelines.translation.small_projects import source_file, state_of
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(("sent", "journals"), read_cases("translation/languages", "journals"))
def test_a_language_has_one_code(sent: list[str], journals: list[str], office: Office) -> None:
    office.make(sent[0])
    for languages in sent[1:]:
        again = office.do("packets", "--languages", languages).out
        refused = "nothing sent: packet 0001 was sent, and no answer was imported yet"
        assert again.count(refused) == len(languages.split(","))
    assert office.project.languages == journals


def test_a_project_keeps_the_code_that_it_has(office: Office) -> None:
    office.make("ukr")
    languages = office.project_folder / "languages"
    (languages / "ukr").rename(languages / "uk")
    office.do("packets", "--languages", "ukr")
    assert office.project.languages == ["uk"]
    assert (
        office.do("status", "--language", "ukr").out == office.do("status", "--language", "uk").out
    )


def test_a_file_is_known_by_any_code_of_its_language(office: Office) -> None:
    office.make("ukr")
    plain = office.folder / "uk.devtest"
    plain.write_text("Одне.\nДруге.\nТретє.\n", "utf-8")
    assert "uk.devtest: ukr, " in office.do("import", plain).out


EMPTY = {  # name → what becomes of the packet, the message
    "no unit": (lambda text: re.sub(r"(?s)<unit.*</unit>", "", text), "the file has no sentences"),
    "nothing translated": (lambda text: text, "no sentence in the file has a translation"),
}


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_file_is_an_error(name: str, office: Office) -> None:
    change, message = EMPTY[name]
    office.make()
    packet = office.newest_file("fra-round1.xlf")
    back = office.folder / "back.xlf"
    back.write_text(change(packet.read_text("utf-8")), "utf-8")
    ran = office.do("import", back, status=1)
    assert f"back.xlf: {message}: check that the translated file was saved" in ran.out
    assert not state_of(office.project).answers


def test_one_translation_is_enough(office: Office) -> None:
    office.make()
    assert "1 new" in office.do("import", office.translate({"dev-0001": "Il a plu."})).out


def test_guidelines_lie_beside_each_packet(office: Office, tmp_path: Path) -> None:
    out = tmp_path / "out"
    office.do(
        "packets", "--languages", "fra,zho_simpl", "--source", source_file(tmp_path), "--to", out
    )
    text = (out / "fra-round1-guidelines.md").read_text("utf-8")
    assert "into French" in text
    assert "`fra-round1`: 8 English sentences" in text
    for topic in ("machine translation", "Names", "Abbreviations", "Idioms", "Pronouns"):
        assert topic in text
    assert "{" not in text
    assert "Chinese" in (out / "zho_simpl-round1-guidelines.md").read_text("utf-8")
    assert max(map(len, text.splitlines())) <= 120


def test_a_warning_is_sent_back_where_a_person_says_so(office: Office) -> None:
    """A rule of the tests warns of ODD."""
    office.make()
    office.do("import", office.translate({**good(), "dev-0002": "ODD phrase."}))
    assert "1 warning" in office.do("check").out
    assert "nothing sent" in office.do("packets", "--languages", "fra").out
    unknown = office.do("check", "--languages", "fra", "--send-back", "is-od", status=2)
    known = "rules with warnings: is-odd"
    assert f"there are no warnings of these rules: is-od; {known}" in unknown.err
    assert "1 error" in office.do("check", "--send-back", "is-odd", status=1).out
    assert "again, 1 sentence with errors" in office.do("packets", "--languages", "fra").out
