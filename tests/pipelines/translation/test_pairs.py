import pytest

from corpusmill.pipelines.translation.sentence_pairs import excerpt, fold, name_characters
from corpusmill.transforms.files.records import Finding
from tests.pipelines.translation.pair_cases import pair
from tests.tools.case_tables import read_cases


def test_a_finding_names_the_file_and_line() -> None:
    finding = pair("One.", "Eins.", place=7).finding("empty", "error", "why")
    assert finding == Finding("devtest-0007", "empty", "error", "why", "xx.devtest", 7)


@pytest.mark.parametrize(
    ("text", "folded"),
    read_cases("translation/sentence_pairs", "folded"),
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_an_excerpt_is_one_line_in_which_everything_is_seen() -> None:
    assert excerpt("a\nb\u200bc\ufeff") == '"a<U+000A>b<U+200B>c<U+FEFF>"'
    assert excerpt("é" * 61) == f'"{"é" * 60}…"'


def test_characters_are_named_once_and_in_order() -> None:
    assert name_characters("\u200b\u00ad\u200b") == "U+00AD SOFT HYPHEN, U+200B ZERO WIDTH SPACE"
