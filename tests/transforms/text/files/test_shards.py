import pytest

from transforms.text.files.shards import count_shards, missing_shards, parquet_name, tfrecord_name


@pytest.mark.parametrize(
    ("text_bytes", "expected"),
    [(0, (1, 1, 1)), (100, (1, 1, 1)), (1000, (9, 1, 1)), (10_000, (90, 5, 5))],
)
def test_count_shards(text_bytes: int, expected: tuple[int, int, int]) -> None:
    counts = count_shards(text_bytes, shard_bytes=100)
    assert (counts["train"], counts["validation"], counts["test"]) == expected


def test_missing_shards() -> None:
    names = {"train-00001-of-00002.parquet", "test-00000-of-00001.parquet"}
    assert list(missing_shards({"train": 2, "validation": 1, "test": 1}, names)) == [
        ("train", 0, 2),
        ("validation", 0, 1),
    ]


def test_names() -> None:
    assert parquet_name("train", 3, 16) == "train-00003-of-00016.parquet"
    assert tfrecord_name("wiki40b", "test", 0, 2) == "wiki40b-test.tfrecord-00000-of-00002"
