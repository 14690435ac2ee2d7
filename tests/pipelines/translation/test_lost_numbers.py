import pytest

from corpusmill.pipelines.translation.check_numbers import find_lost_numbers
from corpusmill.pipelines.translation.target_languages import find_language
from tests.pipelines.translation.pair_cases import found, pair
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(
    ("code", "english", "translation"),
    read_cases("translation/numbers", "kept"),
)
def test_kept(code: str, english: str, translation: str) -> None:
    assert not list(find_lost_numbers([pair(english, translation)], find_language(code)))


@pytest.mark.parametrize(
    ("code", "english", "translation", "severity", "message"),
    read_cases("translation/numbers", "lost"),
)
def test_lost(code: str, english: str, translation: str, severity: str, message: str) -> None:
    findings = list(find_lost_numbers([pair(english, translation)], find_language(code)))
    assert found(findings) == [("numbers-differ", severity)]
    assert message in ("", findings[0].message)
