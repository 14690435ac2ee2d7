import pytest

from corpusmill.transforms.files.text import (
    count_shards,
    every_shard,
    parquet_name,
    share_out,
    tfrecord_name,
    tsv_name,
)


@pytest.mark.parametrize(
    ("text_bytes", "expected"),
    [(0, (1, 1, 1)), (100, (1, 1, 1)), (1000, (9, 1, 1)), (10_000, (90, 5, 5))],
)
def test_count_shards(text_bytes: int, expected: tuple[int, int, int]) -> None:
    counts = count_shards(dict(share_out(text_bytes)), 100)
    assert (counts["train"], counts["validation"], counts["test"]) == expected


def test_every_shard() -> None:
    assert list(every_shard({"train": 2, "test": 1})) == [
        ("train", 0, 2),
        ("train", 1, 2),
        ("test", 0, 1),
    ]


def test_names() -> None:
    assert parquet_name("train", 3, 16) == "train-00003-of-00016.parquet"
    assert tsv_name("books", 0, 1) == "books-00000-of-00001.tsv"
    assert tfrecord_name("wiki40b", "test", 0, 2) == "wiki40b-test.tfrecord-00000-of-00002"
