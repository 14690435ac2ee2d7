import pytest

from corpusmill.pipelines.translation.target_languages import find_language
from corpusmill.pipelines.translation.wrong_language import find_wrong_scripts, without_names
from tests.pipelines.translation.pair_cases import found, pair

ENGLISH = "The ferry of Robert Miller sails to Aegina at noon."


@pytest.mark.parametrize(
    ("code", "translation", "severities"),
    [
        ("ell", "Το πλοίο του Robert Miller φεύγει για την Αίγινα.", []),
        ("ell", "The ferry sails to the island at noon.", ["error"]),
        ("ell", "To ploio feugei gia tin Αίγινα το μεσημέρι.", ["warning"]),
        ("ell", "Το πλοίο φεύγει в полдень για την Αίγινα.", ["warning"]),
        ("ell", "Η σταθερά д και το ж.", []),
        ("ell", "OK", []),  # too short to tell
        ("ell", "12:00", []),
        ("rus", "Паром Robert Miller идёт в Aegina.", []),
        ("hin", "नौका दोपहर को जाती है।", []),
        ("hin", "নৌকা দুপুরে ছাড়ে এবং দ্বীপে যায়।", ["error"]),
        ("deu", "Паром идёт на остров в полдень.", ["error"]),
        ("jpn", "フェリーは正午に島へ出航します。", []),
        ("kor", "배는 정오에 섬으로 떠난다.", []),
        ("zho_simpl", "罗伯特的渡轮中午开往爱琴娜岛。", []),
        ("zho_simpl", "羅伯特的渡輪中午開往愛琴娜島。", ["error"]),
        ("zho_trad", "羅伯特的渡輪中午開往愛琴娜島。", []),
        ("zho_trad", "罗伯特的渡轮中午开往爱琴娜岛。", ["error"]),
        ("zho", "羅伯特的渡輪 罗伯特的渡轮", []),  # nobody has said which
    ],
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
