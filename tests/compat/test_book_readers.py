"""The files of corpora of books as their readers see them: pyarrow, Hugging Face datasets, TFDS.

The libraries are those of the extra "compat"; a reader that is not installed is skipped.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.pg19 import Pg19
from corpusmill.pipelines.run.corpus_build import CorpusBuild
from corpusmill.pipelines.run.launch import launch
from corpusmill.pipelines.sample_builds import sample_pg19, sample_simplebooks
from corpusmill.pipelines.simplebooks import SimpleBooks

pytestmark = pytest.mark.compat

NUMBERS = ("book_id", "latest_year")
OF_TFDS = ["book_id", "book_link", "book_text", "book_title", "publication_date"]
FEATURES = {
    "pg19": [*OF_TFDS, "date_source", "date_confidence", "latest_year"],
    "simplebooks": ["book_id", "book_title", "text", "raw_text"],
}
SPLITS = {
    "pg19": ["train", "validation", "test"],
    "simplebooks": ["train", "validation", "test", "train_2"],
}


class BuiltBooks(NamedTuple):
    """A finished build of the bundled sample."""

    corpus: str
    folder: Path

    @property
    def splits(self) -> Sequence[str]:
        return SPLITS[self.corpus]

    def rows(self, split: str) -> list[dict[str, Any]]:
        (path,) = self.folder.glob(f"{split}-*.parquet")
        return list(pq.read_table(path).to_pylist())


@pytest.fixture(scope="module", params=FEATURES)
def build(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> BuiltBooks:
    corpus: CorpusBuild = Pg19(sample_pg19())
    if request.param == "simplebooks":
        corpus = SimpleBooks(sample_simplebooks())
    output = tmp_path_factory.mktemp("books")
    launch(corpus, str(output), workers=1)
    return BuiltBooks(request.param, output.joinpath(*corpus.path))


def test_every_split_has_a_book(build: BuiltBooks) -> None:
    counts = {split: len(build.rows(split)) for split in build.splits}
    assert min(counts.values()) > 1
    assert counts["train"] > 10


def test_pyarrow(build: BuiltBooks) -> None:
    for split in build.splits:
        files = sorted(map(str, build.folder.glob(f"{split}-*.parquet")))
        dataset = pyarrow.dataset.dataset(files, format="parquet")
        types = [pa.int32() if one in NUMBERS else pa.string() for one in FEATURES[build.corpus]]
        assert (dataset.schema.names, dataset.schema.types) == (FEATURES[build.corpus], types)
        assert dataset.to_table().to_pylist() == build.rows(split)


def test_datasets_by_folder(build: BuiltBooks, tmp_path: Path) -> None:
    """The card tells which files are which split: tables and texts are none."""
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_dataset(str(build.folder), cache_dir=str(tmp_path))
    assert list(loaded) == build.splits
    for split in build.splits:
        kinds = {name: feature.dtype for name, feature in loaded[split].features.items()}
        assert kinds == {
            name: "int32" if name in NUMBERS else "string" for name in FEATURES[build.corpus]
        }
        assert list(loaded[split]) == build.rows(split)


def test_tensorflow_datasets(build: BuiltBooks) -> None:
    tfds = pytest.importorskip("tensorflow_datasets")
    builder = tfds.builder_from_directory(str(build.folder))
    assert (builder.name, str(builder.version)) == (
        build.corpus,
        json.loads((build.folder / "manifest.json").read_text("utf-8"))["version"],
    )
    assert builder.builder_config.name == build.folder.parts[-2]
    features = builder.info.features
    assert sorted(features) == sorted(FEATURES[build.corpus])
    assert {features[name].np_dtype.name for name in features if name in NUMBERS} == {"int32"}
    texts = [name for name in features if name not in NUMBERS]
    assert {type(features[name]) for name in texts} == {tfds.features.Text}
    assert list(builder.info.splits) == build.splits
    for split in build.splits:
        dataset = builder.as_dataset(split=split, shuffle_files=False)
        found = [
            {
                name: int(value) if name in NUMBERS else value.decode("utf-8")
                for name, value in row.items()
            }
            for row in tfds.as_numpy(dataset)
        ]
        assert found == [
            {name: 0 if value is None else value for name, value in row.items()}
            for row in build.rows(split)
        ]
        assert builder.info.splits[split].num_examples == len(found)


def test_features_are_those_of_the_pg19_of_tfds(build: BuiltBooks) -> None:
    """Code for that one finds all that it knows, in the same types: there some texts are tensors of text."""
    tfds = pytest.importorskip("tensorflow_datasets")
    if build.corpus != "pg19":
        pytest.skip("there is no SimpleBooks in TFDS")
    original = tfds.builder("pg19").info.features
    assert sorted(original) == OF_TFDS
    ours = tfds.builder_from_directory(str(build.folder)).info.features
    assert {name: ours[name].get_tensor_info() for name in original} == {
        name: feature.get_tensor_info() for name, feature in original.items()
    }
