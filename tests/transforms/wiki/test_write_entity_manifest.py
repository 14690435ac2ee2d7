import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest

from tests.tools.run_pipeline import run_pipeline
from transforms.files.open_input import LostBytes
from transforms.records import InputFile, OutputFile, Rejected
from transforms.text.builds.build_manifest import Provenance
from transforms.text.wikimedia.entity_table import TableCounts
from transforms.wiki.write_entity_manifest import TableOutcome, WriteEntityManifest

PROVENANCE = Provenance(
    "entities", "wikidata", "20260101", "1.0.0", {"1.0.0": "First."}, {}, (), {}
)
WIKIS = ["elwiki", "enwiki"]
LOST = LostBytes("a.json.bz2", 10, 20, "bz2: x", -1, "")
FILES = [
    OutputFile("entities-00000-of-00002.parquet", "", "parquet", 3, 5, "ab"),
    OutputFile("entities-00001-of-00002.parquet", "", "parquet", 1, 5, "ab"),
    OutputFile("internal-classes.parquet", "", "parquet", 2, 5, "ab"),
    OutputFile("rejected/rejected-00000-of-00001.parquet", "", "parquet", 3, 5, "ab"),
]


def write(folder: Path, **changed: list[Any]) -> list[OutputFile]:
    collections: dict[str, Any] = {
        "inputs": [InputFile("entities", "a.json.bz2", 7, "cd")],
        "outputs": FILES,
        "entities": [4, 1],
        "skipped": [2, 0, 5],
        "rejected": [
            Rejected("a.json.bz2:7", "", "read-entities", "not-json"),
            Rejected("a.json.bz2:9", "", "read-entities", "bad-id"),
            Rejected("a.json.bz2:8", "", "read-entities", "not-json"),
        ],
        "lost": [LOST],
        "counts": [TableCounts(3, 1, 2, (1, 3)), TableCounts(1, 0, 0, (0, 1))],
        "kinds": [{13406463: "list", 7: "list", 17442446: "internal"}],
    } | changed

    def build(root: beam.Pipeline) -> Mapping[str, beam.PCollection]:
        created = {name: root | name >> beam.Create(values) for name, values in collections.items()}
        manifest = WriteEntityManifest(str(folder), PROVENANCE, WIKIS)
        return {"files": TableOutcome(**created) | manifest}

    return run_pipeline(build).elements["files"]


def test_what_a_build_says_of_itself(tmp_path: Path) -> None:
    files = write(tmp_path)
    assert sorted(file.name for file in files) == ["README.md", "manifest.json", "stats.json"]
    for file in files:
        content = (tmp_path / file.name).read_bytes()
        assert (file.bytes, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    manifest = json.loads((tmp_path / "manifest.json").read_text("utf-8"))
    assert manifest["counts"] == {
        "lines_read": 15,
        "rows": 4,
        "repeated": 1,
        "without_item": 7,
        "rejected": {"read-entities/bad-id": 1, "read-entities/not-json": 2, "total": 3},
    }
    assert manifest["lost"] == [LOST._asdict()]
    assert [file["name"] for file in manifest["outputs"]] == [file.name for file in FILES]
    assert json.loads((tmp_path / "stats.json").read_text("utf-8")) == {
        "total": {
            "items": 4,
            "items_with_class": 2,
            "sitelinks": {"elwiki": 1, "enwiki": 4},
            "internal_classes": {
                "disambiguation": 0,
                "category": 0,
                "list": 2,
                "template": 0,
                "internal": 1,
            },
        }
    }
    assert "| lines read | 15 |" in (tmp_path / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"entities": [4]}, "4 rows \\+ 1 repeated are not the 4 items that were read"),
        ({"entities": []}, "4 rows \\+ 1 repeated are not the 0 items that were read"),
        ({"outputs": FILES[1:]}, "the files hold 1 of 4 rows"),
        ({"counts": [TableCounts(3, 1, 2, (1, 3))]}, "3 rows \\+ 1 repeated are not the 5 items"),
    ],
)
def test_a_build_whose_numbers_do_not_agree_writes_no_manifest(
    tmp_path: Path, changed: dict[str, list[Any]], message: str
) -> None:
    with pytest.raises(Exception, match=message):
        write(tmp_path, **changed)
    assert not (tmp_path / "manifest.json").exists()


def test_a_dump_without_items(tmp_path: Path) -> None:
    none = TableCounts(0, 0, 0, (0, 0))
    nothing: dict[str, Any] = {"entities": [], "rejected": [], "lost": [], "outputs": []}
    with pytest.raises(
        Exception, match=r"no item in it: 0 lines were rejected, 3 hold something else"
    ):
        write(tmp_path, **nothing, skipped=[2, 1], counts=[none])
    assert not (tmp_path / "manifest.json").exists()
