import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.duplicates.minhash import jaccard, word_ngrams

LINES = st.lists(st.sampled_from([b"a", b"b", b"c", "ї".encode(), b"\xed\xa0\x80"])).map(b" ".join)


@pytest.mark.parametrize(
    ("line", "n", "expected"),
    [
        (b"a b c d", 1, [b"a", b"b", b"c", b"d"]),
        (b"a b c d", 3, [b"a b c", b"b c d"]),
        (b"a a a a", 2, [b"a a", b"a a", b"a a"]),
        (b"a b c", 3, [b"a b c"]),
        (b"a b", 3, [b"a b"]),
        (b"  a \t b\x0b", 1, [b"a", b"b"]),
        (b"  a \t b ", 5, [b"a b"]),
        (b"", 3, [b""]),
        (b" \t", 1, [b""]),
        ("Київ — столиця".encode(), 2, ["Київ —".encode(), "— столиця".encode()]),
        ("a\u00a0b".encode(), 1, ["a\u00a0b".encode()]),  # a no-break space is no ASCII
    ],
)
def test_word_ngrams(line: bytes, n: int, expected: list[bytes]) -> None:
    assert word_ngrams(line, n) == expected


@pytest.mark.parametrize(
    ("first", "second", "n", "expected"),
    [
        (b"a b c d", b"a b c d", 3, 1.0),
        (b"a b c d", b"a b c e", 3, 1 / 3),
        (b"a b c d", b"d c b a", 1, 1.0),
        (b"a b c d", b"d c b a", 2, 0.0),
        (b"a a b", b"a b b", 1, 1.0),  # sets: how often a word stands there does not count
        (b"a b", b"a  b ", 3, 1.0),
        (b"a b", b"a b c", 3, 0.0),
        (b"", b" ", 3, 1.0),
        (b"", b"a", 3, 0.0),
    ],
)
def test_jaccard(first: bytes, second: bytes, n: int, expected: float) -> None:
    assert jaccard(first, second, n) == expected
    assert jaccard(second, first, n) == expected


@given(LINES, st.integers(1, 5))
def test_there_are_as_many_ngrams_as_places_for_them(line: bytes, n: int) -> None:
    assert len(word_ngrams(line, n)) == max(len(line.split()) - n + 1, 1)
    assert jaccard(line, line, n) == 1.0
