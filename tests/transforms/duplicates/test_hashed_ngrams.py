import itertools
import sys

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.duplicates.minhash import (
    hash_ngrams,
    hash_words,
    sort_different,
    to_plain_words,
)
from corpusmill.transforms.files.text import WIDE_SPACES
from tests.transforms.books.sequential_selection import distinct_ngrams

BITS = 64
MASK = (1 << BITS) - 1
MULTIPLIER = 0x9E3779B97F4A7C13

WORDS = st.text(st.sampled_from("ab\x00é\U0001f600"), min_size=1, max_size=20)
BLANKS = st.text(st.sampled_from(" \t\n\r\x0b\x0c\x1c\x1f" + WIDE_SPACES), min_size=1, max_size=3)
TEXTS = st.lists(st.tuples(WORDS, BLANKS), max_size=30).map(
    lambda pairs: "".join(itertools.chain.from_iterable(pairs))
)


def finalize(value: int) -> int:
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK
    return value ^ value >> 31


def plain_word_hash(word: str) -> int:
    """The hash of a word, one integer at a time."""
    data = word.encode()
    value = len(data)
    for start in range(0, len(data), 8):
        lane = int.from_bytes(data[start : start + 8], "little") << 8 * max(
            8 - len(data[start:]), 0
        )
        value = finalize((value * MULTIPLIER + lane) & MASK)
    return value


def plain_hashes(text: str, n: int) -> list[int]:
    """The hashes of the n-grams of a text."""
    hashes = set()
    for ngram in distinct_ngrams(text, n):
        value = 0
        for word in ngram:
            value = (value * MULTIPLIER + plain_word_hash(word)) & MASK
        hashes.add(finalize(value))
    return sorted(hashes)


@pytest.mark.parametrize(
    ("text", "n", "hashes"),
    [
        ("a", 1, [4066279212086150060]),
        ("Alice was beginning to get very tired of", 8, [8038379180064196845]),
        ("internationalization", 1, [15087587393129263990]),
        ("Ще не вмерла", 3, [9561354681595108837]),
    ],
)
def test_hashes_are_fixed_forever(text: str, n: int, hashes: list[int]) -> None:
    assert hash_ngrams(text, n).tolist() == hashes == plain_hashes(text, n)


@given(TEXTS, st.integers(1, 9))
def test_the_hashes_are_those_of_the_words_that_split_gives(text: str, n: int) -> None:
    assert hash_words(text).tolist() == list(map(plain_word_hash, text.split()))
    assert hash_ngrams(text, n).tolist() == plain_hashes(text, n)


def test_pieces_leave_no_seam() -> None:
    words = [f"w{number * number % 70001}" for number in range(40_000)]
    text = " ".join(words)
    assert hash_words(text).tolist() == [plain_word_hash(word) for word in words]
    assert hash_ngrams(text, 5).tolist() == plain_hashes(text, 5)


def test_a_long_word_is_hashed_to_its_end() -> None:
    texts = ["x" * 20_000 + end for end in ("", "y", "z", "yz")]
    assert len({int(hash_words(text)[0]) for text in texts}) == len(texts)


def test_all_white_space_divides_words() -> None:
    blanks = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]
    assert len(hash_words("word" + "word".join(blanks) + "word")) == len(blanks) + 1


@pytest.mark.parametrize("n", [0, -1])
def test_ngrams_have_words(n: int) -> None:
    with pytest.raises(ValueError, match=f"n must be at least 1, not {n}"):
        hash_ngrams("a b", n)


@given(st.lists(st.integers(0, MASK), max_size=50))
def test_sort_different(values: list[int]) -> None:
    assert sort_different(numpy.array(values, numpy.uint64)).tolist() == sorted(set(values))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("\u201cDon\u2019t,\u201d she _said_\u2014twice.", '"DON\'T," she said--twice!'),
        ("Zo\u00eb\u2026 3,000", "zo\u00eb ... 3.000"),
        ("  \n", "* * *"),
    ],
)
def test_plain_words_are_those_of_any_edition(one: str, other: str) -> None:
    assert to_plain_words(one).split() == to_plain_words(other).split()


def test_plain_words_keep_letters_marks_and_digits() -> None:
    assert to_plain_words("Cafe\u0301 \u0995\u09bf 42nd-St.").split() == [
        "cafe\u0301",
        "\u0995\u09bf",
        "42nd",
        "st",
    ]
