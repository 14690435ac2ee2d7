"""The files of a build as its readers see them: pyarrow, Hugging Face datasets, TensorFlow Datasets.

The libraries are those of the extra "compat"; a reader that is not installed is skipped.
"""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.run.editions import write_cards
from corpusmill.pipelines.wiki40b_settings import VERSION
from tests.makers.finished_builds import add_card, make_build

pytestmark = pytest.mark.compat

SPLITS = ["train", "validation", "test"]
FEATURES = ["wikidata_id", "text", "version_id"]
LANGUAGES = ["en", "ja", "uk"]


@pytest.fixture(params=LANGUAGES)
def build(request: pytest.FixtureRequest, demo: Path) -> Path:
    return demo / "wiki40b" / str(request.param) / f"20260101-{VERSION}"


def manifest_of(build: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((build / "manifest.json").read_text("utf-8"))
    return manifest


def rows_of(build: Path, split: str) -> list[dict[str, str]]:
    """The articles as pyarrow reads them."""
    return [
        row
        for path in sorted(build.glob(f"{split}-*.parquet"))
        for row in pq.read_table(path).to_pylist()
    ]


def check_rows(rows: list[dict[str, Any]]) -> None:
    """Asserts that the features are texts as TFDS wiki40b 1.3.0 has them, and no repr of bytes."""
    for row in rows:
        assert set(row) == set(FEATURES)
        assert all(type(value) is str for value in row.values())
        assert row["text"].startswith("\n_START_ARTICLE_\n")
        assert row["wikidata_id"][0] == "Q"
        assert row["wikidata_id"][1:].isdigit()
        assert row["version_id"].isdigit()


def test_pyarrow(build: Path) -> None:
    kept = manifest_of(build)["counts"]["kept"]
    total = 0
    for split in SPLITS:
        rows = rows_of(build, split)
        check_rows(rows)
        assert len(rows) == kept[split]
        total += len(rows)
    assert total == kept["total"] > 10
    files = pyarrow.dataset.dataset(sorted(map(str, build.glob("*-*.parquet"))), format="parquet")
    assert files.schema.names == FEATURES
    assert set(files.schema.types) == {pa.string()}
    assert files.count_rows() == total


def test_rejected_pages_can_be_read(build: Path) -> None:
    table = pq.read_table(build / "rejected")
    assert table.column_names == ["id", "title", "stage", "reason", "detail"]
    assert table.num_rows == manifest_of(build)["counts"]["rejected"]["total"]


def test_datasets_by_file_names(build: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    data_files = {split: str(build / f"{split}-*.parquet") for split in SPLITS}
    loaded = datasets.load_dataset("parquet", data_files=data_files, cache_dir=str(tmp_path))
    check_dataset(build, loaded)


def test_datasets_by_folder(build: Path, tmp_path: Path) -> None:
    """The card tells which files are which split: `rejected/` is none."""
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_dataset(str(build), cache_dir=str(tmp_path))
    check_dataset(build, loaded)


def test_datasets_by_the_folder_of_norwegian(tmp_path: Path) -> None:
    """Unquoted, its code is no name of a config, but False."""
    datasets = pytest.importorskip("datasets")
    build = make_build(tmp_path / "builds", "no", {split: [[split]] for split in SPLITS})
    add_card(build)
    loaded = datasets.load_dataset(str(build), "no", cache_dir=str(tmp_path / "cache"))
    assert [list(split["wikidata_id"]) for split in loaded.values()] == [[one] for one in SPLITS]


def test_datasets_by_the_folders_above_builds(tmp_path: Path) -> None:
    """A language is loaded by its name, and of its editions the newest or one by its name; none is mixed."""
    datasets = pytest.importorskip("datasets")
    rows = {("no", "20260101"): "Q1", ("uk", "20251101"): "Q2", ("uk", "20260101"): "Q3"}
    for (language, date), row in rows.items():
        ids = {split: [[row, split], [row]] for split in SPLITS}
        build = make_build(tmp_path / "builds", language, ids, date=date)
        add_card(build)
        write_cards([str(build)])
    corpus = tmp_path / "builds" / "wiki40b"

    def ids_of(folder: Path, *name: str) -> list[str]:
        loaded = datasets.load_dataset(str(folder), *name, cache_dir=str(tmp_path / "cache"))
        assert list(loaded) == SPLITS
        return [one for split in loaded.values() for one in split["wikidata_id"]]

    rows_of = {row: [one for split in SPLITS for one in (row, split, row)] for row in rows.values()}
    assert ids_of(corpus, "no") == rows_of["Q1"]
    assert ids_of(corpus, "uk") == ids_of(corpus / "uk") == rows_of["Q3"]
    assert ids_of(corpus / "uk", "20251101-1.0.0") == rows_of["Q2"]
    with pytest.raises(ValueError, match=r"Config name is missing.*\n.*\['no', 'uk'\]"):
        datasets.load_dataset(str(corpus), cache_dir=str(tmp_path / "cache"))


def check_dataset(build: Path, loaded: Any) -> None:
    assert list(loaded) == SPLITS
    for split in SPLITS:
        assert {
            name: feature.dtype for name, feature in loaded[split].features.items()
        } == dict.fromkeys(FEATURES, "string")
        rows = list(loaded[split])
        check_rows(rows)
        assert rows == rows_of(build, split)


def test_tensorflow_datasets(build: Path) -> None:
    tfds = pytest.importorskip("tensorflow_datasets")
    builder = tfds.builder_from_directory(str(build))
    assert (builder.name, str(builder.version)) == ("wiki40b", VERSION)
    assert builder.builder_config.name == manifest_of(build)["edition"]
    assert set(builder.info.features) == set(FEATURES)
    assert all(type(builder.info.features[name]) is tfds.features.Text for name in FEATURES)
    assert list(builder.info.splits) == SPLITS
    kept = manifest_of(build)["counts"]["kept"]
    for split in SPLITS:
        assert builder.info.splits[split].num_examples == kept[split]
        examples = tfds.as_numpy(builder.as_dataset(split=split, shuffle_files=False))
        rows = [{name: value.decode("utf-8") for name, value in one.items()} for one in examples]
        check_rows(rows)
        assert rows == rows_of(build, split)


def test_tensorflow_datasets_slices_splits(build: Path) -> None:
    tfds = pytest.importorskip("tensorflow_datasets")
    builder = tfds.builder_from_directory(str(build))
    halves = [
        sum(1 for _ in tfds.as_numpy(builder.as_dataset(split=part, shuffle_files=False)))
        for part in ("train[:50%]", "train[50%:]")
    ]
    assert sum(halves) == manifest_of(build)["counts"]["kept"]["train"]
    assert min(halves) > 0
