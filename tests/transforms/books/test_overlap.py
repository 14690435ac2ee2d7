import itertools
import random
from collections.abc import Sequence
from fractions import Fraction

import numpy
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpusmill.transforms.books import book_overlap
from corpusmill.transforms.books.book_overlap import (
    ContestedBook,
    HashedBook,
    NgramBlock,
    SharedNgrams,
    parse_threshold,
)
from corpusmill.transforms.duplicates.minhash import hash_ngrams
from corpusmill.transforms.files.records import OverlapVerdict
from tests.transforms.books.partitioned_selection import select_hashed
from tests.transforms.books.sequential_selection import CountedText, select_texts

HALF = Fraction(1, 2)


def hashed(books: Sequence[CountedText], n: int) -> list[HashedBook]:
    return [HashedBook(book.book_id, book.tokens, hash_ngrams(book.text, n)) for book in books]


def numbered(texts: Sequence[str]) -> list[CountedText]:
    """Books with the ids 1, 2, … that are as large as their texts."""
    return [
        CountedText(number, len(text.split()), text) for number, text in enumerate(texts, start=1)
    ]


def kept(texts: Sequence[str], threshold: str = "0.5", n: int = 1) -> list[int]:
    """Numbers, from 1 on, of the texts that are kept."""
    verdicts = select_hashed(hashed(numbered(texts), n), parse_threshold(threshold), 4)
    return [book_id for book_id, verdict in verdicts.items() if verdict.is_kept]


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        ([], []),
        (["a b c"], [1]),
        (["a b c", "d e f"], [1, 2]),
        (["a b c d", "a b c"], [1]),
        (["a b c", "a b c d"], [2]),  # the larger one stays, wherever it stands
        (["a b c", "c b a"], [1]),  # of equally large ones the smaller id
        (["a b c d e", "a b x y"], [1]),  # exactly half
        (["a b c d e", "a x y z"], [1, 2]),
        (["a b c d e", "x y z v w", "a b x z"], [1, 2]),  # the union covers it, neither one alone
        (["a b c d e f", "a b c x y z", "x y z 1 2"], [1, 3]),  # its cover is not kept itself
        (["a b c d e f", "a b c x y", "x y 1 2", "1 2 3"], [1, 3]),
        (["", "", "a"], [1, 2, 3]),  # without words there is nothing to overlap
    ],
)
def test_kept_books(texts: list[str], numbers: list[int]) -> None:
    assert kept(texts) == numbers
    reference = select_texts(numbered(texts), n=1).values()
    assert sorted(verdict.book_id for verdict in reference if verdict.is_kept) == numbers


@pytest.mark.parametrize(
    ("threshold", "numbers"),
    [("0.3", [1]), ("0.30000", [1]), ("3/10", [1]), ("0.300001", [1, 2]), ("1", [1, 2])],
)
def test_the_threshold_is_exact(threshold: str, numbers: list[int]) -> None:
    """0.3 as a binary fraction is less than three tenths."""
    assert kept(["a b c d e f g h i j k", "a b c 1 2 3 4 5 6 7"], threshold) == numbers


def test_a_threshold_of_one_leaves_what_is_covered_wholly() -> None:
    assert kept(["a b c", "a b", "b d"], "1") == [1, 3]


# Few words and many books, so that they overlap in each way that there is.
LETTERS = "abcdefgh"
TEXTS = st.lists(st.sampled_from(LETTERS), max_size=8).map(" ".join)
BOOKS = st.lists(st.tuples(TEXTS, st.integers(1, 4)), max_size=12).map(
    lambda pairs: [
        CountedText(number, tokens, text) for number, (text, tokens) in enumerate(pairs, start=1)
    ]
)
THRESHOLDS = st.sampled_from(["1/4", "1/3", "0.5", "2/3", "0.9", "1"])


@settings(max_examples=300)
@given(BOOKS, THRESHOLDS, st.integers(1, 3), st.sampled_from([1, 2, 5]), st.integers(1, 3))
@example(numbered(["a b c d e f", "a b c x y", "x y 1 2", "1 2 3", "3 4 5", "4 5"]), "1/2", 1, 3, 2)
def test_the_parts_give_what_the_loop_gives(
    books: list[CountedText], threshold: str, n: int, partitions: int, books_at_once: int
) -> None:
    expected = select_texts(books, Fraction(threshold), n)
    found = select_hashed(hashed(books, n), parse_threshold(threshold), partitions, books_at_once)
    assert found == expected


def test_the_parts_give_what_the_loop_gives_of_many_books() -> None:
    """With contested books in long chains: parts of each other, which come in ever other mixtures."""
    chance = random.Random(1)
    words = [f"w{number}" for number in range(2500)]
    texts = []
    for _ in range(150):
        pieces = [
            words[start : start + chance.randrange(5, 60)]
            for start in chance.choices(range(2440), k=3)
        ]
        texts.append(" ".join(itertools.chain(*pieces)))
    books = numbered(texts)
    expected = select_texts(books, n=3)
    assert select_hashed(hashed(books, 3), HALF, 7, 40) == expected
    decisions = [verdict.is_kept for verdict in expected.values()]
    assert min(decisions.count(True), decisions.count(False)) > 20
    for verdict in expected.values():
        assert sum(ngrams for _, ngrams in verdict.covering) == verdict.covered


def test_a_hundred_copies_make_one_kept_book() -> None:
    text = " ".join(map(str, range(500)))
    verdicts = select_hashed(hashed(numbered([text] * 100), 8), HALF, 3)
    assert [verdict.is_kept for verdict in verdicts.values()] == [True] + [False] * 99
    assert verdicts[100] == OverlapVerdict(100, 493, 493, False, ((1, 493),))


def test_share_ngrams() -> None:
    """Book 7 is the largest; 3 goes before 5, which is as large. 5 and 7 come in a block of their own."""
    blocks = [
        NgramBlock(
            numpy.array([[5, 10, 3], [7, 20, 2]]), numpy.array([1, 2, 9, 2, 4], numpy.uint64)
        ),
        NgramBlock(numpy.array([[3, 10, 3]]), numpy.array([1, 2, 3], numpy.uint64)),
    ]
    counts, shared = book_overlap.share_ngrams(blocks)
    assert counts.tolist() == [[7, 20, 2, 0], [3, 10, 3, 1], [5, 10, 3, 2]]
    assert shared.books.tolist() == [7, 3, 5]
    assert shared.owners.tolist() == [1, 2, 0, 1, 2]  # of n-gram 1, of n-gram 2
    assert shared.begins.tolist() == [True, False, True, False, False]


def test_find_chains() -> None:
    """Book 20 is free. The four n-grams: 10-20-30-40, 10-30-40 twice, 20-40, 30."""
    owners = [0, 1, 2, 3, 0, 2, 3, 0, 2, 3, 1, 3, 2]
    starts = [0, 4, 7, 10, 12]
    shared = SharedNgrams(
        numpy.array([10, 20, 30, 40]),
        numpy.array(owners, numpy.uint32),
        numpy.isin(numpy.arange(len(owners)), starts),
    )
    chains = book_overlap.find_chains(shared, numpy.array([10, 30, 40]))
    assert chains.certain.tolist() == [[30, 1], [40, 2]]
    assert {book_overlap.chain_ids(chain): ngrams for chain, ngrams in chains.ngrams.items()} == {
        (10, 30, 40): 2
    }
    assert chains.links.tolist() == [[10, 30], [30, 40]]


def test_attribute_ngrams() -> None:
    shared = SharedNgrams(
        numpy.array([10, 20, 30]),
        numpy.array([0, 1, 2, 0, 2, 1, 2, 0, 1], numpy.uint32),
        numpy.array([True, False, False, True, False, True, False, True, False]),
    )
    rows = book_overlap.attribute_ngrams(shared, numpy.array([10]))
    assert rows.tolist() == [[30, 20, 2]]  # n-grams that only a dropped book has cover nothing
    every = book_overlap.attribute_ngrams(shared, numpy.array([], numpy.int64))
    assert every.tolist() == [[20, 10, 2], [30, 10, 2], [30, 20, 1]]


def test_decide() -> None:
    books = [
        ContestedBook(1, 50, 10, 5),  # dropped: half is certain
        ContestedBook(2, 40, 10, 4),  # kept: the chain with 1 counts nothing
        ContestedBook(3, 40, 10, 2),  # dropped: 3 from the chain of 2
        ContestedBook(4, 30, 10, 4),  # kept: its chain has but dropped books
    ]
    chains = [((1, 2), 3), ((1, 2, 3), 3), ((3, 4), 5)]
    assert book_overlap.decide(reversed(books), chains, HALF) == [1, 3]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 9))), st.integers(0, 9)
)
def test_sum_rows(rows: list[tuple[int, int, int]], cut: int) -> None:
    array = numpy.array(rows, numpy.int64).reshape(-1, 3)
    expected: dict[tuple[int, int], int] = {}
    for first, second, number in rows:
        expected[first, second] = expected.get((first, second), 0) + number
    summed = book_overlap.sum_rows(array, 2)
    assert summed.tolist() == [[*key, number] for key, number in sorted(expected.items())]
    parts = numpy.concatenate([book_overlap.sum_rows(array[:cut], 2), array[cut:]])
    assert book_overlap.sum_rows(parts, 2).tolist() == summed.tolist()
    assert book_overlap.sum_rows(array[:, :1], 1).ravel().tolist() == sorted(
        {row[0] for row in rows}
    )


@given(st.lists(st.integers(0, 99), unique=True), st.integers(1, 5))
def test_cut_by_id(ids: list[int], parts: int) -> None:
    rows = numpy.array([[book_id, -book_id] for book_id in ids], numpy.int64).reshape(-1, 2)
    cut = {part: piece.tolist() for part, piece in book_overlap.cut_by_id(rows, parts)}
    expected = {
        part: [[book_id, -book_id] for book_id in ids if book_id % parts == part]
        for part in range(parts)
    }
    assert cut == {part: piece for part, piece in expected.items() if piece}


@pytest.mark.parametrize(
    ("written", "threshold"),
    [("0.5", "1/2"), (0.5, "1/2"), (0.1, "1/10"), ("1/3", "1/3"), (1, "1")],
)
def test_parse_threshold(written: str | float, threshold: str) -> None:
    assert parse_threshold(written) == Fraction(threshold)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("0", "threshold must be above 0 and at most 1, not 0"),
        ("-0.5", "threshold must be above 0 and at most 1, not -0.5"),
        ("1.01", "threshold must be above 0 and at most 1, not 1.01"),
        ("half", "threshold must be a number, not half"),
        ("nan", "threshold must be a number, not nan"),
        ("1/0", "threshold must be a number, not 1/0"),
        ("0.1234567", "threshold must have at most six decimals: 0.1234567"),
    ],
)
def test_thresholds_that_make_no_sense(written: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_threshold(written)


@pytest.mark.parametrize(
    ("ngrams", "covering", "detail"),
    [
        (100, {84: 2, 5946: 95}, "0.97 of its 8-grams are in 5946 (0.95), 84 (0.02)"),
        (100, {7: 50}, "0.50 of its 8-grams are in 7 (0.50)"),
        (1000, {2: 498, 1: 1, 3: 1}, "0.50 of its 8-grams are in 2 (0.50) and 2 others"),
        (
            100,
            {1: 9, 2: 9, 3: 30, 4: 9},
            "0.57 of its 8-grams are in 3 (0.30), 1 (0.09), 2 (0.09) and 1 other",
        ),
        (
            1000,
            dict.fromkeys(range(1, 102), 5),
            "0.51 of its 8-grams are in 1 (0.01) and 100 others",
        ),
    ],
)
def test_overlap_reason(ngrams: int, covering: dict[int, int], detail: str) -> None:
    verdict = book_overlap.judge(10, ngrams, covering, False)
    assert verdict.covered == sum(covering.values())
    assert book_overlap.overlap_reason(verdict, 8) == ("overlaps", detail)
