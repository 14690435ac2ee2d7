"""Croissant metadata, as its own library reads it."""

import json
import shutil
from pathlib import Path

import mlcroissant
import pytest

from corpusmill.pipelines.cli import main
from corpusmill.pipelines.inspect.share_builds import write_croissants
from corpusmill.transforms.files.read_files import InputError
from tests.makers.finished_builds import add_card, make_build, manifest_of, seal
from tests.tools.golden_tree import GOLDEN


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The builds of all corpora, with their metadata."""
    folder = tmp_path_factory.mktemp("croissant") / "golden"
    shutil.copytree(GOLDEN, folder)
    assert main(["croissant", str(folder), "--url", "https://example.org/golden"]) == 0
    return folder


@pytest.mark.parametrize(
    "edition",
    ["wiki40b/uk", "lm1b/*", "pg19/*", "simplebooks/*", "flores101/*"],
)
def test_the_library_finds_nothing_wrong_and_reads_all_rows(golden: Path, edition: str) -> None:
    (path,) = golden.glob(f"{edition}/croissant.json")
    data = mlcroissant.Dataset(jsonld=path)
    issues = data.metadata.issues
    undated = 'Property "https://schema.org/datePublished" is recommended, but does not exist.'
    assert not issues.errors
    assert [one for one in issues.warnings if not one.endswith(undated)] == []
    (build,) = path.parent.glob("*/manifest.json")
    kept = json.loads(build.read_text("utf-8"))["counts"]["kept"]
    for split in data.metadata.record_sets:
        assert sum(1 for _ in data.records(split.id)) == kept[split.id]


def test_a_record_is_a_row(golden: Path) -> None:
    data = mlcroissant.Dataset(jsonld=golden / "wiki40b" / "uk" / "croissant.json")
    (record,) = data.records("test")
    assert {name: value.decode("utf-8")[:17] for name, value in record.items()} == {
        "test/wikidata_id": "Q167",
        "test/text": "\n_START_ARTICLE_\n",
        "test/version_id": "45197975",
    }


def test_builds_without_documents_have_none(golden: Path) -> None:
    assert not list(golden.glob("entities/**/croissant.json"))
    with pytest.raises(
        InputError, match="no finished build with documents in this folder or below"
    ):
        list(write_croissants([str(golden / "entities")]))


def test_the_same_build_gives_the_same_bytes_and_a_newer_one_others(tmp_path: Path) -> None:
    found = []
    for date in ("20260101", "", "20260201"):
        if date:
            build = make_build(tmp_path, "uk", {"train": [["Q1"], ["Q2"]]}, date=date)
            add_card(build)
        (path,) = write_croissants([str(tmp_path)])
        found.append(Path(path).read_bytes())
    assert found[0] == found[1]
    metadata = json.loads(found[2])
    assert metadata["datePublished"] == "2026-02-01"
    files = [one for one in metadata["distribution"] if one["@type"] == "cr:FileObject"]
    assert [one["contentUrl"] for one in files] == [
        f"20260201-1.0.0/{split}-{number:05d}-of-{count:05d}.parquet"
        for split, count in (("test", 1), ("train", 2), ("validation", 1))
        for number in range(count)
    ]
    sums = {file["name"]: file["sha256"] for file in manifest_of(build)["outputs"]}
    assert all(one["sha256"] == sums[one["name"]] for one in files)


def test_the_current_build_comes_before_the_newest(tmp_path: Path) -> None:
    for date in ("20260101", "20260201"):
        add_card(make_build(tmp_path, "uk", {}, date=date))
    (tmp_path / "wiki40b" / "uk" / "CURRENT").write_text("20260101-1.0.0\n")
    (path,) = write_croissants([str(tmp_path)])
    assert json.loads(Path(path).read_bytes())["datePublished"] == "2026-01-01"


def test_a_build_of_another_maker_is_described_by_its_own_splits(tmp_path: Path) -> None:
    build = make_build(tmp_path, "uk", {}, corpus="strange")
    add_card(build)
    manifest = manifest_of(build)
    manifest["outputs"] = [one for one in manifest["outputs"] if one["split"] == "test"]
    seal(build, manifest)
    (path,) = write_croissants([str(tmp_path)])
    assert [one["@id"] for one in json.loads(Path(path).read_bytes())["recordSet"]] == ["test"]
