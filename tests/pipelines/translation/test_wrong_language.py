import pytest

from corpusmill.pipelines.translation.target_languages import find_language
from corpusmill.pipelines.translation.wrong_language import find_foreign_lines
from tests.pipelines.translation.pair_cases import found, pair, pairs_of
from tests.tools.case_tables import read_cases

ENGLISH = "Every morning the fishermen take their boats out to the reef and wait there."
FRENCH = "Chaque matin, les pêcheurs sortent leurs bateaux jusqu'au récif et y attendent."


@pytest.mark.parametrize(
    ("code", "translation", "severities"),
    read_cases("translation/wrong_language", "other_languages"),
)
def test_other_languages(code: str, translation: str, severities: list[str]) -> None:
    findings = found(find_foreign_lines([pair(ENGLISH, translation)], find_language(code)))
    assert findings == [("wrong-language", severity) for severity in severities]


def test_languages_that_their_readers_share_are_spared() -> None:
    croatian = "Ribari svako jutro izlaze brodovima na greben i tamo čekaju do večeri."
    assert not list(find_foreign_lines([pair(ENGLISH, croatian)], find_language("bos")))
    assert found(find_foreign_lines([pair(ENGLISH, croatian)], find_language("slk")))


SUBJECTS = "fishermen drivers farmers teachers sailors painters bakers nurses monks miners".split()
PLACES = "reef market harbour village island station monastery quarry garden bridge".split()


def words_backwards(text: str) -> str:
    return " ".join(word[::-1] for word in text.split())


@pytest.mark.parametrize("code", ["kam", "fra"])
def test_english_is_told_without_knowing_the_language(code: str) -> None:
    """The other lines are in a language of nobody, so that no library can help."""
    english = [
        f"Every morning the {subject} walk down to the old {place} and wait there."
        for subject in SUBJECTS
        for place in PLACES
    ]
    left = "Meanwhile their children walk home along the market and play there."
    lines = [(text, words_backwards(text.lower())) for text in english]
    lines[41] = (lines[41][0], left)
    language = find_language(code)._replace(tag="kam")
    findings = list(find_foreign_lines(pairs_of(lines), language))
    assert [(finding.line, finding.severity) for finding in findings] == [(42, "error")]
    assert findings[0].message == f"English; expected {language.name}"
    assert not list(find_foreign_lines(pairs_of(lines[:41]), language))
