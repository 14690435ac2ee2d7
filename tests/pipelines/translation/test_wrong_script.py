import pytest

from corpusmill.pipelines.translation.target_languages import find_language
from corpusmill.pipelines.translation.wrong_language import find_wrong_scripts, without_names
from tests.pipelines.translation.pair_cases import found, pair
from tests.tools.case_tables import read_cases

ENGLISH = "The ferry of Robert Miller sails to Aegina at noon."


@pytest.mark.parametrize(
    ("code", "translation", "severities"),
    read_cases("translation/wrong_language", "wrong_scripts"),
)
def test_wrong_scripts(code: str, translation: str, severities: list[str]) -> None:
    findings = found(find_wrong_scripts([pair(ENGLISH, translation)], find_language(code)))
    assert findings == [("wrong-script", severity) for severity in severities]


def test_the_message_tells_both_scripts() -> None:
    (finding,) = find_wrong_scripts([pair(ENGLISH, "The ferry sails.")], find_language("ell"))
    assert finding.message == "10 of 10 letters are Latin; Greek is written in Greek"
    (finding,) = find_wrong_scripts(
        [pair(ENGLISH, "羅伯特的渡輪中午開往。")], find_language("zho_simpl")
    )
    assert finding.message == (
        "3 of 10 characters are Traditional Chinese (羅輪開); expected Chinese (Simpl)"
    )


def test_names_of_the_source_are_taken_away() -> None:
    assert without_names("Ο Robert the Miller", "Robert the Miller") == "Ο  the "
