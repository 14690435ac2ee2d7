import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.duplicates.minhash import jaccard, word_ngrams
from tests.tools.case_tables import read_byte_cases

LINES = st.lists(st.sampled_from([b"a", b"b", b"c", "ї".encode(), b"\xed\xa0\x80"])).map(b" ".join)


@pytest.mark.parametrize(
    ("line", "n", "expected"), read_byte_cases("duplicates/ngrams", "word_ngrams", 0)
)
def test_word_ngrams(line: bytes, n: int, expected: list[str]) -> None:
    assert word_ngrams(line, n) == [ngram.encode() for ngram in expected]


@pytest.mark.parametrize(
    ("first", "second", "n", "expected"), read_byte_cases("duplicates/ngrams", "jaccard", 0, 1)
)
def test_jaccard(first: bytes, second: bytes, n: int, expected: float) -> None:
    assert jaccard(first, second, n) == expected
    assert jaccard(second, first, n) == expected


@given(LINES, st.integers(1, 5))
def test_there_are_as_many_ngrams_as_places_for_them(line: bytes, n: int) -> None:
    assert len(word_ngrams(line, n)) == max(len(line.split()) - n + 1, 1)
    assert jaccard(line, line, n) == 1.0
