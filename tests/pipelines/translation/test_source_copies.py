import pytest

from corpusmill.pipelines.translation.sentence_pairs import find_copies
from corpusmill.pipelines.translation.target_languages import find_language
from tests.pipelines.translation.pair_cases import found, pair
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(
    ("english", "translation", "severities"),
    read_cases("translation/sentence_pairs", "copies"),
)
def test_copies(english: str, translation: str, severities: list[str]) -> None:
    pairs = [pair(english, translation)]
    expected = [("source-copy", severity) for severity in severities]
    assert found(find_copies(pairs, find_language("deu"))) == expected
    assert not list(find_copies(pairs, find_language("eng")))
