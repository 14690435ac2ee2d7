import random

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.book_overlap import (
    HashedBook,
    NgramBlock,
    SharedNgrams,
    block_from_bytes,
    cut_hashes,
    deal_hashes,
    sample_hashes,
    shared_from_bytes,
    to_bytes,
)
from corpusmill.transforms.duplicates.minhash import Uint64s, hash_ngrams

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
        HashedBook(number, 10 * number, sample_hashes(hashes, sample))
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
    for partition, block in deal_hashes(books, sample, partitions):
        sizes = block.books[:, 2].tolist()
        parts = numpy.split(block.hashes, numpy.cumsum(sizes)[:-1])
        for (book_id, tokens, _), part in zip(block.books.tolist(), parts, strict=True):
            assert tokens == 10 * book_id
            found[partition, book_id] = part.tolist()
    assert found == expected


def test_partitions_are_about_equal() -> None:
    hashes = hash_ngrams(" ".join(map(str, range(40_000))), 8)
    for sample in (1, 4):
        cuts = cut_hashes(sample_hashes(hashes, sample), sample, 16)
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
    assert sample_hashes(hashes, sample).tolist() == sampled


@pytest.mark.parametrize("common", [3_000, 10_000, 17_000])
def test_a_sample_estimates_the_share_that_two_books_have_in_common(common: int) -> None:
    words = [str(number) for number in range(40_000)]
    chance = random.Random(common)
    first = hash_ngrams(" ".join(words[:20_000]), 1)
    second = hash_ngrams(" ".join(words[20_000 - common : 40_000 - common]), 1)
    sample = chance.choice([8, 16])
    sampled = sample_hashes(second, sample)
    share = numpy.isin(sampled, sample_hashes(first, sample)).mean()
    assert len(sampled) == pytest.approx(20_000 / sample, rel=0.1)
    assert share == pytest.approx(common / 20_000, abs=0.04)  # 1,250 of them: 3 deviations at most


def test_blocks_travel_as_bytes() -> None:
    block = NgramBlock(numpy.array([[84, 100, 2], [11, 50, 1]]), numpy.array([1, TOP, 7], "u8"))
    again = block_from_bytes(to_bytes(block))
    assert again.books.tolist() == block.books.tolist()
    assert again.hashes.tolist() == block.hashes.tolist()


@pytest.mark.parametrize("owners", [[], [0, 1, 0, 2, 1]])
def test_shared_ngrams_travel_as_bytes(owners: list[int]) -> None:
    begins = [place in (0, 2) for place in range(len(owners))]
    shared = SharedNgrams(
        numpy.array([84, 11, 12]), numpy.array(owners, "u4"), numpy.array(begins, bool)
    )
    again = shared_from_bytes(to_bytes(shared))
    assert again.books.tolist() == [84, 11, 12]
    assert again.owners.tolist() == owners
    assert again.begins.tolist() == begins
