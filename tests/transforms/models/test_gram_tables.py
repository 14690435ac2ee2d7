import numpy as np
import pytest

from corpusmill.transforms.models import gram_tables
from corpusmill.transforms.models.gram_tables import (
    COUNTS,
    Table,
    bucket_rows,
    cut_table,
    group_rows,
    look_up,
    make_table,
    pack_table,
    sort_rows,
    unpack_table,
)

WORDS = np.array([[3, 9, 4], [1, 1, 1], [3, 9, 4], [3, 9, 5], [1, 1, 1], [0, 0, 7]], np.uint32)


@pytest.mark.parametrize("collide", [False, True])
def test_rows_are_grouped_even_where_hashes_collide(
    collide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if collide:
        monkeypatch.setattr(gram_tables, "hash_rows", lambda words: np.zeros(len(words), "u8"))
    order, starts = group_rows(WORDS)
    groups = [WORDS[part].tolist() for part in np.split(order, starts[1:])]
    assert sorted(groups) == [
        [[0, 0, 7]],
        [[1, 1, 1], [1, 1, 1]],
        [[3, 9, 4], [3, 9, 4]],
        [[3, 9, 5]],
    ]
    table = np.unique(WORDS, axis=0)
    wanted = np.array([[3, 9, 5], [3, 5, 9], [0, 0, 7]], np.uint32)
    assert look_up(wanted, table).tolist() == [3, -1, 0]
    assert look_up(wanted[:0], table).tolist() == []
    assert look_up(wanted, table[:0]).tolist() == [-1, -1, -1]


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_rows_are_sorted_by_their_words(order: int) -> None:
    words = np.random.default_rng(order).integers(0, 2**32, (500, order)).astype(np.uint32)
    words[::2, 0] = 2**31
    assert words[sort_rows(words)].tolist() == sorted(words.tolist())


@pytest.mark.parametrize("buckets", [1, 2, 64])
def test_tables_are_cut_by_the_words_alone(buckets: int) -> None:
    table = make_table(np.unique(WORDS, axis=0), COUNTS, range(4))
    parts = dict(cut_table(table, bucket_rows(table["words"], buckets), buckets))
    again = dict(cut_table(table[::-1], bucket_rows(table["words"][::-1], buckets), buckets))
    assert parts.keys() == again.keys() <= set(range(buckets))
    assert rows_of(np.concatenate(list(parts.values()))) == rows_of(table)
    for bucket, part in parts.items():
        assert rows_of(part) == rows_of(again[bucket])
        assert np.array_equal(unpack_table(pack_table(part), 3, COUNTS), part)


def rows_of(table: Table) -> list[bytes]:
    return sorted(row.tobytes() for row in table)
