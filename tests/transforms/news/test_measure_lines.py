import json
from pathlib import Path
from typing import Any

import pytest

from corpusmill.transforms.files.line_blocks import measure_lines
from corpusmill.transforms.files.records import LineShard, Rejected
from corpusmill.transforms.news.write_lines import measure_shard
from tests.makers.sentence_corpus import (
    HELDOUT_SHARDS,
    SHARDS,
    Lost,
    sentences,
    write_corpus,
)

LINES = sentences(200)
REJECTED = [
    Rejected(f"news.2007.en.shuffled.gz:{place}", "", "read-lines", "malformed-utf-8")
    for place in (3, 9)
]
ALL: dict[str, Any] = {
    "repeated": [LINES[0], LINES[1], LINES[0]],
    "rejected": REJECTED,
    "lost": [Lost("b", 2), Lost("a", 9)],
    "unterminated": ["news.2008.en.shuffled", "news.2007.en.shuffled.gz"],
}


def read_json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return content


def test_the_statistics_are_those_of_the_text_files(tmp_path: Path) -> None:
    write_corpus(tmp_path, LINES, **ALL)
    stats = read_json(tmp_path / "stats.json")
    texts = {
        "train": sorted(tmp_path.glob("training-*/news.en-*")),
        "test": sorted(tmp_path.glob("heldout-*/news.en.heldout-*")),
        "paper_test": sorted(tmp_path.glob("heldout-*/news.en.heldout-00000-*")),
    }
    assert [len(paths) for paths in texts.values()] == [SHARDS - 1, HELDOUT_SHARDS, 1]
    for split, paths in texts.items():
        measured = measure_lines(b"".join(path.read_bytes() for path in paths))
        assert stats[split]["sentences"] == measured.lines
        assert stats[split]["words"] == measured.words
        assert stats[split]["text_bytes"] == sum(path.stat().st_size for path in paths)
        assert stats[split]["sentences_by_words"] == measured.histogram()
    assert stats["before_deduplication"]["sentences"] == 203
    assert stats["training_sentences"] == stats["train"]["sentences"] == 150
    assert stats["training_words"] == stats["train"]["words"]
    assert len(stats["heldout_shards"]) == HELDOUT_SHARDS
    assert stats["heldout_shards"][0] == stats["heldout_shard_0"]
    assert stats["heldout_shard_0"]["sentences"] == 17


def test_metadata_for_tensorflow_datasets(tmp_path: Path) -> None:
    write_corpus(tmp_path, LINES)
    features = read_json(tmp_path / "features.json")
    assert list(features["featuresDict"]["features"]) == ["text"]
    info = read_json(tmp_path / "dataset_info.json")
    assert (info["name"], info["configName"], info["version"]) == ("lm1b", "en", "1.0.0")
    assert [(split["name"], split["shardLengths"]) for split in info["splits"]] == [
        ("train", ["50"] * 3),
        ("test", ["17", "17", "16"]),
        ("paper_test", ["17"]),
    ]


def test_fewer_sentences_than_shards(tmp_path: Path) -> None:
    write_corpus(tmp_path, LINES[:2])
    stats = read_json(tmp_path / "stats.json")
    assert [stats[split]["sentences"] for split in ("train", "test", "paper_test")] == [1, 1, 1]


def test_characters_that_only_perl_knows_are_told(tmp_path: Path) -> None:
    write_corpus(tmp_path, sorted([*LINES, b"x \xed\xa0\x80 \xf4\x90\x80\x80"]))
    manifest = read_json(tmp_path / "manifest.json")
    assert sum(manifest["counts"]["replaced_characters"][split] for split in ("train", "test")) == 2
    assert manifest["caveats"][-1].startswith("2 characters are not valid in Unicode.")


@pytest.mark.parametrize(
    ("series", "shard", "splits"),
    [
        ("train", 0, []),
        ("train", 1, ["train"]),
        ("heldout", 0, ["test", "paper_test"]),
        ("heldout", 1, ["test"]),
    ],
)
def test_a_shard_is_counted_for_its_splits(series: str, shard: int, splits: list[str]) -> None:
    counted = list(measure_shard(LineShard(series, shard, 9, b"a b\nc\n")))
    assert counted == [(split, measure_lines(b"a b\nc\n")) for split in splits]
