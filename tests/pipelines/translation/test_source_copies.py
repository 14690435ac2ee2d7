import pytest

from corpusmill.pipelines.translation.sentence_pairs import find_copies
from corpusmill.pipelines.translation.target_languages import find_language
from tests.pipelines.translation.pair_cases import found, pair


@pytest.mark.parametrize(
    ("english", "translation", "severities"),
    [
        ("The old dog sleeps here.", "The old dog sleeps here.", ["error"]),
        ("The old dog sleeps here.", "the old dog sleeps here", ["error"]),
        ("The old grey dog sleeps here.", "The old grey cat sleeps here.", ["error"]),
        ("Buenos Aires, Argentina", "Buenos Aires, Argentina", ["warning"]),
        ("The old dog sleeps here.", "Der alte Hund schläft hier.", []),
        ("Paris, Berlin, Rome and I met.", "Paris, Berlin, Rom und ich.", []),
        ("The old dog sleeps here.", "", []),
    ],
)
def test_copies(english: str, translation: str, severities: list[str]) -> None:
    pairs = [pair(english, translation)]
    expected = [("source-copy", severity) for severity in severities]
    assert found(find_copies(pairs, find_language("deu"))) == expected
    assert not list(find_copies(pairs, find_language("eng")))
