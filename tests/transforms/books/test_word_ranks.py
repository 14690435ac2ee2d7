import random
from collections import Counter
from collections.abc import Sequence

import numpy
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.book_overlap import sum_rows
from corpusmill.transforms.books.simplicity import RANKED, count_entries, rank_counts
from corpusmill.transforms.duplicates.minhash import NO_PAIRS
from corpusmill.transforms.models.word_vocabulary import (
    count_words,
    cut_by_bucket,
    pack_counts,
    unpack_counts,
)

BOOKS = st.lists(st.text("abcdé", max_size=12).map(" ".join), min_size=1, max_size=8)


def entries_by_hand(texts: Sequence[str], min_count: int) -> list[list[int]]:
    counts: Counter[str] = Counter()
    entries: Counter[int] = Counter()
    for rank, text in enumerate(texts):
        for word, count in Counter(text.split()).items():
            if counts[word] < min_count <= counts[word] + count:
                entries[rank] += 1
            counts[word] += count
    return [[rank, words] for rank, words in sorted(entries.items())]


def test_a_word_enters_with_the_book_that_makes_it_frequent_enough() -> None:
    texts = ["a b b", "a b c", "a c", "c c"]
    ranked = [
        rank_counts(count_words(f"{text}\n".encode()), rank) for rank, text in enumerate(texts)
    ]
    assert count_entries(ranked, 3).tolist() == [[1, 1], [2, 1], [3, 1]]
    assert count_entries(ranked, 1).tolist() == [[0, 2], [1, 1]]
    assert count_entries(ranked, 5).tolist() == []


@given(BOOKS, st.integers(1, 4), st.integers(1, 3), st.randoms())
def test_buckets_and_order_change_nothing(
    texts: list[str], min_count: int, buckets: int, chance: random.Random
) -> None:
    ranked = [
        rank_counts(count_words(f"{text}\n".encode()), rank) for rank, text in enumerate(texts)
    ]
    chance.shuffle(ranked)
    half = len(ranked) // 2
    parts: dict[int, list[bytes]] = {}
    for some in (ranked[:half], ranked[half:]):
        if some:
            for bucket, part in cut_by_bucket(pa.concat_batches(some), buckets):
                parts.setdefault(bucket, []).append(pack_counts(part))
    found = [
        count_entries((unpack_counts(packed, RANKED) for packed in part), min_count)
        for part in parts.values()
    ]
    summed = sum_rows(numpy.concatenate([NO_PAIRS, *found]), keys=1)
    assert summed.tolist() == entries_by_hand(texts, min_count)
