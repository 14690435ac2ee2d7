import pytest

from corpusmill.transforms.files.formats import file_name
from corpusmill.transforms.files.text import Shard, count_shards, every_shard, share_out


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


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("parquet", "train-00003-of-00016.parquet"),
        ("tfrecord", "wiki40b-train.tfrecord-00003-of-00016"),
        ("jsonl.gz", "train-00003-of-00016.jsonl.gz"),
        ("text", "train-00003-of-00016.txt"),
        ("tsv", "train-00003-of-00016.tsv"),
    ],
)
def test_names_of_files(kind: str, name: str) -> None:
    assert file_name(kind, "wiki40b", Shard("train", 3, 16)) == name
