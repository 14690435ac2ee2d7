import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest

from tests.tools.run_pipeline import run_pipeline
from transforms.files.open_input import LostBytes
from transforms.records import CorpusStats, InputFile, OutputFile, Rejected
from transforms.text.builds.build_manifest import Description, Provenance
from transforms.text.vocabularies.subwords import SubwordStats, TrainedSubwords
from transforms.wiki.write_manifest import BuildOutcome, WriteManifest

PROVENANCE = Provenance(
    "wiki40b",
    "uk",
    "20260101",
    "1.0.0",
    {"1.0.0": "First."},
    {"language": "uk"},
    (),
    {"corpusmill": "1"},
)
DESCRIPTION = Description(
    "Wiki-40B", "About.", "@x", "cc-by-sa-4.0", ["wikidata_id", "text", "version_id"]
)
LOST = LostBytes("a.xml.bz2", 10, 20, "bz2: x", 3, "9 I")


def outputs(train: int) -> list[OutputFile]:
    return [
        OutputFile(f"{split}.{kind}", split, kind, train if split == "train" else 0, 5, "ab")
        for kind in ("parquet", "tfrecord")
        for split in ("train", "validation", "test")
    ]


def write(folder: Path, **changed: list[Any]) -> list[OutputFile]:
    collections: dict[str, Any] = {
        "inputs": [InputFile("dump", "a.xml.bz2", 7, "cd")],
        "outputs": outputs(2),
        "pages": [3, 1],
        "rejected": [
            Rejected("1", "A", "screen-pages", "redirect"),
            Rejected("2", "B", "screen-pages", "redirect"),
            Rejected("5", "C", "read-dump", "malformed-xml"),
        ],
        "lost": [LOST],
        "stats": [("train", CorpusStats(2, 1, 3, 10, 20, 30))],
        "class_unknown": ["Q1"],
        "pinned": [True, False, False],
        "subwords": [TrainedSubwords(b"model", 300, 2, "ab")],
        "subword_stats": [("train", SubwordStats(5, 20, 0, 1))],
    } | changed

    def build(root: beam.Pipeline) -> Mapping[str, beam.PCollection]:
        created = {name: root | name >> beam.Create(values) for name, values in collections.items()}
        return {
            "files": BuildOutcome(**created) | WriteManifest(str(folder), PROVENANCE, DESCRIPTION)
        }

    return run_pipeline(build).elements["files"]


def test_what_a_build_says_of_itself(tmp_path: Path) -> None:
    files = write(tmp_path)
    assert sorted(file.name for file in files) == [
        "README.md",
        "dataset_info.json",
        "features.json",
        "manifest.json",
        "stats.json",
    ]
    for file in files:
        content = (tmp_path / file.name).read_bytes()
        assert (file.bytes, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    manifest = json.loads((tmp_path / "manifest.json").read_text("utf-8"))
    assert manifest["counts"] == {
        "pages_read": 5,  # the malformed page was read, too
        "kept": {"train": 2, "validation": 0, "test": 0, "total": 2},
        "rejected": {"read-dump/malformed-xml": 1, "screen-pages/redirect": 2, "total": 3},
        "class_unknown": 1,
        "pinned": 3,
        "pinned_elsewhere": 1,
    }
    assert manifest["sentencepiece"]["sample_sha256"] == "ab"
    assert manifest["lost"] == [LOST._asdict()]
    assert manifest["signature"] == "wiki40b|lang:uk|dump:20260101|v:1.0.0"
    stats = json.loads((tmp_path / "stats.json").read_text("utf-8"))
    in_pieces = {"pieces": 5, "unknown_characters": 0, "byte_characters": 1}
    assert stats["train"] == CorpusStats(2, 1, 3, 10, 20, 30)._asdict() | in_pieces
    assert stats["total"] == stats["train"]
    assert manifest["stats"] == stats
    info = json.loads((tmp_path / "dataset_info.json").read_text("utf-8"))
    assert [(split["name"], split["shardLengths"]) for split in info["splits"]] == [
        ("train", ["2"]),
        ("validation", ["0"]),
        ("test", ["0"]),
    ]
    features = json.loads((tmp_path / "features.json").read_text("utf-8"))
    assert list(features["featuresDict"]["features"]) == ["text", "version_id", "wikidata_id"]
    assert (tmp_path / "README.md").read_text("utf-8").startswith("---\nlicense: cc-by-sa-4.0\n")


def test_a_build_of_nothing(tmp_path: Path) -> None:
    written = ("pages", "rejected", "lost", "stats", "class_unknown", "pinned")
    nothing: dict[str, list[Any]] = {name: [] for name in (*written, "subwords", "subword_stats")}
    write(tmp_path, outputs=outputs(0), **nothing)
    manifest = json.loads((tmp_path / "manifest.json").read_text("utf-8"))
    assert manifest["counts"]["pages_read"] == 0
    assert manifest["counts"]["rejected"] == {"total": 0}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"pages": [5]}, "2 kept \\+ 3 rejected are not the 6 pages that were read"),
        ({"rejected": []}, "2 kept \\+ 0 rejected are not the 4 pages that were read"),
        ({"subword_stats": []}, "0 of 20 characters of train are counted in pieces"),
        (
            {"outputs": outputs(3)},
            "parquet of train holds 3 of 2 articles",
        ),
    ],
)
def test_a_build_whose_numbers_do_not_agree_writes_no_manifest(
    tmp_path: Path, changed: dict[str, list[Any]], message: str
) -> None:
    with pytest.raises(Exception, match=message):
        write(tmp_path, **changed)
    assert not (tmp_path / "manifest.json").exists()
