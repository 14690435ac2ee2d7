import itertools
import random
from collections.abc import Sequence
from fractions import Fraction

import numpy
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpusmill.transforms.books import book_overlap
from corpusmill.transforms.duplicates.minhash import Uint64s, hash_ngrams
from tests.transforms.books.partitioned_selection import select_hashed
from tests.transforms.books.read_cases import read_table
from tests.transforms.books.sequential_selection import CountedText, numbered, select_texts

CASES = read_table("book_overlap")

TOP = (1 << 64) - 1
HASHES = st.sets(st.integers(0, TOP), max_size=20).map(
    lambda values: numpy.array(sorted(values), numpy.uint64)
)


@given(
    st.lists(HASHES, max_size=5), st.sampled_from([1, 2, 3, 16]), st.sampled_from([1, 2, 7, 256])
)
def test_each_hash_goes_to_its_partition(
    hash_sets: list[Uint64s], sample: int, partitions: int
) -> None:
    books = [
        book_overlap.HashedBook(number, 10 * number, book_overlap.sample_hashes(hashes, sample))
        for number, hashes in enumerate(hash_sets)
    ]
    width = (1 << 64) // sample
    expected: dict[tuple[int, int], list[int]] = {}
    for book in books:
        for value in book.hashes.tolist():
            limits = (width * (number + 1) // partitions for number in range(partitions - 1))
            partition = sum(value >= limit for limit in limits)
            expected.setdefault((partition, book.book_id), []).append(value)
    found = {}
    for partition, block in book_overlap.deal_hashes(books, sample, partitions):
        sizes = block.books[:, 2].tolist()
        parts = numpy.split(block.hashes, numpy.cumsum(sizes)[:-1])
        for (book_id, tokens, _), part in zip(block.books.tolist(), parts, strict=True):
            assert tokens == 10 * book_id
            found[partition, book_id] = part.tolist()
    assert found == expected


def test_partitions_are_about_equal() -> None:
    hashes = hash_ngrams(" ".join(map(str, range(40_000))), 8)
    for sample in (1, 4):
        cuts = book_overlap.cut_hashes(book_overlap.sample_hashes(hashes, sample), sample, 16)
        sizes = numpy.diff(cuts) * sample
        assert sizes.min() > 2200
        assert sizes.max() < 2800


@pytest.mark.parametrize(
    ("values", "sample", "sampled"),
    [
        ([0, 5, TOP], 1, [0, 5, TOP]),
        ([0, TOP // 2, TOP // 2 + 1, TOP], 2, [0, TOP // 2]),
        ([TOP // 4, TOP // 4 + 1], 4, [TOP // 4]),
        ([TOP - 1, TOP], 4, [TOP - 1]),
        ([], 4, []),
    ],
)
def test_sample_hashes(values: list[int], sample: int, sampled: list[int]) -> None:
    hashes = numpy.array(values, numpy.uint64)
    assert book_overlap.sample_hashes(hashes, sample).tolist() == sampled


@pytest.mark.parametrize("common", [3_000, 10_000, 17_000])
def test_a_sample_estimates_the_share_that_two_books_have_in_common(common: int) -> None:
    words = [str(number) for number in range(40_000)]
    chance = random.Random(common)
    first = hash_ngrams(" ".join(words[:20_000]), 1)
    second = hash_ngrams(" ".join(words[20_000 - common : 40_000 - common]), 1)
    sample = chance.choice([8, 16])
    sampled = book_overlap.sample_hashes(second, sample)
    share = numpy.isin(sampled, book_overlap.sample_hashes(first, sample)).mean()
    assert len(sampled) == pytest.approx(20_000 / sample, rel=0.1)
    assert share == pytest.approx(common / 20_000, abs=0.04)  # 1,250 of them: 3 deviations at most


HALF = Fraction(1, 2)


def hashed(books: Sequence[CountedText], n: int) -> list[book_overlap.HashedBook]:
    return [
        book_overlap.HashedBook(book.book_id, book.tokens, hash_ngrams(book.text, n))
        for book in books
    ]


def kept(texts: Sequence[str], threshold: str = "0.5", n: int = 1) -> list[int]:
    """Numbers, from 1 on, of the texts that are kept."""
    verdicts = select_hashed(hashed(numbered(texts), n), book_overlap.parse_threshold(threshold), 4)
    return [book_id for book_id, verdict in verdicts.items() if verdict.is_kept]


@pytest.mark.parametrize(("texts", "numbers"), CASES["kept"])
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
    found = select_hashed(
        hashed(books, n), book_overlap.parse_threshold(threshold), partitions, books_at_once
    )
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


def test_find_chains() -> None:
    """Book 20 is free. The four n-grams: 10-20-30-40, 10-30-40 twice, 20-40, 30."""
    owners = [0, 1, 2, 3, 0, 2, 3, 0, 2, 3, 1, 3, 2]
    starts = [0, 4, 7, 10, 12]
    shared = book_overlap.SharedNgrams(
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


@pytest.mark.parametrize(("written", "threshold"), CASES["thresholds"])
def test_parse_threshold(written: str | float, threshold: str) -> None:
    assert book_overlap.parse_threshold(written) == Fraction(threshold)


@pytest.mark.parametrize(("written", "message"), CASES["bad_thresholds"])
def test_thresholds_that_make_no_sense(written: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        book_overlap.parse_threshold(written)


@pytest.mark.parametrize(("ngrams", "covering", "detail"), CASES["reasons"])
def test_overlap_reason(ngrams: int, covering: list[list[int]], detail: str) -> None:
    verdict = book_overlap.judge(10, ngrams, dict(covering), False)
    assert verdict.covered == sum(shared for _, shared in covering)
    assert book_overlap.overlap_reason(verdict, 8) == ("overlaps", detail)
