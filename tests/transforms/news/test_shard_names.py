import pytest

from corpusmill.transforms.files.text import Shard
from corpusmill.transforms.news.artefacts import HELDOUT, TRAIN, split_of, tables_of, text_name

TEST = [Shard("test", 0, 50), Shard("paper_test", 0, 1)]


@pytest.mark.parametrize(
    ("series", "shard", "folder", "name", "tables"),
    [
        (TRAIN, 1, "training", "news.en-00001-of-00100", [Shard("train", 0, 99)]),
        (TRAIN, 99, "training", "news.en-00099-of-00100", [Shard("train", 98, 99)]),
        (TRAIN, 0, "heldout", "news.en-00000-of-00100", []),
        (HELDOUT, 0, "heldout", "news.en.heldout-00000-of-00050", TEST),
        (HELDOUT, 49, "heldout", "news.en.heldout-00049-of-00050", [Shard("test", 49, 50)]),
    ],
)
def test_a_shard_and_its_files(
    series: str, shard: int, folder: str, name: str, tables: list[Shard]
) -> None:
    shards = int(name[-5:])
    path = f"{folder}-monolingual.tokenized.shuffled/{name}"
    assert text_name(series, shard, shards, "en") == path
    assert split_of(series, shard) == (tables[0].split if tables else "")
    assert list(tables_of(series, shard, shards)) == tables


def test_the_language_is_in_the_names() -> None:
    assert text_name(TRAIN, 2, 3, "cs").endswith("/news.cs-00002-of-00003")
    assert text_name(HELDOUT, 2, 3, "cs").endswith("/news.cs.heldout-00002-of-00003")


@pytest.mark.parametrize(("shards", "heldout_shards"), [(100, 50), (2, 1), (5, 7)])
def test_each_split_has_each_of_its_numbers_once(shards: int, heldout_shards: int) -> None:
    tables = [
        table
        for series, count in ((TRAIN, shards), (HELDOUT, heldout_shards))
        for shard in range(count)
        for table in tables_of(series, shard, count)
    ]
    assert sorted(tables) == sorted(
        Shard(split, shard, count)
        for split, count in (("train", shards - 1), ("test", heldout_shards), ("paper_test", 1))
        for shard in range(count)
    )
