"""The files of a corpus of sentences as its readers see them: pyarrow, Hugging Face datasets, TFDS.

The libraries are those of the extra "compat"; a reader that is not installed is skipped.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pytest

from tests.makers.sentence_corpus import HELDOUT_SHARDS, PROVENANCE, SHARDS, sentences, write_corpus

pytestmark = pytest.mark.compat

SPLITS = ["train", "test", "paper_test"]
ODD_LINES = [b"a  b \r", b"\xed\xa0\x80 is none of Unicode .", "\ufeff<дві>\u2028\0".encode()]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lm1b") / "1.0.0"
    folder.mkdir()
    write_corpus(folder, sorted([*sentences(500), b"", *ODD_LINES]))
    return folder


def texts_of(build: Path, split: str) -> list[str]:
    """The lines of the text files, in their order."""
    names = {
        "train": [f"training-*/news.en-{n:05d}-of-{SHARDS:05d}" for n in range(1, SHARDS)],
        "test": [
            f"heldout-*/news.en.heldout-{n:05d}-of-{HELDOUT_SHARDS:05d}"
            for n in range(HELDOUT_SHARDS)
        ],
        "paper_test": [f"heldout-*/news.en.heldout-00000-of-{HELDOUT_SHARDS:05d}"],
    }
    blocks = [next(build.glob(name)).read_bytes() for name in names[split]]
    lines = b"".join(blocks).replace(b"\xed\xa0\x80", "\ufffd".encode()).split(b"\n")
    return [line.decode("utf-8") for line in lines[:-1]]


def test_odd_lines_are_in_the_corpus(build: Path) -> None:
    texts = texts_of(build, "train") + texts_of(build, "test")
    assert len(texts) == 504
    assert {"", "a  b \r", "\ufffd is none of Unicode .", "\ufeff<дві>\u2028\0"} <= set(texts)
    assert texts_of(build, "test")[: len(texts_of(build, "paper_test"))] == texts_of(
        build, "paper_test"
    )


def test_pyarrow(build: Path) -> None:
    for split in SPLITS:
        files = sorted(map(str, build.glob(f"{split}-*.parquet")))
        dataset = pyarrow.dataset.dataset(files, format="parquet")
        assert (dataset.schema.names, dataset.schema.types) == (["text"], [pa.string()])
        assert dataset.to_table()["text"].to_pylist() == texts_of(build, split)


def test_datasets_by_file_names(build: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    data_files = {split: str(build / f"{split}-*.parquet") for split in SPLITS}
    loaded = datasets.load_dataset("parquet", data_files=data_files, cache_dir=str(tmp_path))
    check_dataset(build, loaded)


def test_datasets_by_folder(build: Path, tmp_path: Path) -> None:
    """The card tells which files are which split: the text files are none."""
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_dataset(str(build), cache_dir=str(tmp_path))
    check_dataset(build, loaded)


def check_dataset(build: Path, loaded: Any) -> None:
    assert list(loaded) == SPLITS
    for split in SPLITS:
        features = loaded[split].features.items()
        assert {name: feature.dtype for name, feature in features} == {"text": "string"}
        assert list(loaded[split]["text"]) == texts_of(build, split)


def test_tensorflow_datasets(build: Path) -> None:
    tfds = pytest.importorskip("tensorflow_datasets")
    builder = tfds.builder_from_directory(str(build))
    assert (builder.name, str(builder.version)) == ("lm1b", PROVENANCE.version)
    assert builder.builder_config.name == "en"
    assert list(builder.info.features) == ["text"]
    assert type(builder.info.features["text"]) is tfds.features.Text
    assert list(builder.info.splits) == SPLITS
    in_order = tfds.ReadConfig(interleave_cycle_length=1)  # else 16 of one shard, 16 of the next
    for split in SPLITS:
        expected = texts_of(build, split)
        assert builder.info.splits[split].num_examples == len(expected)
        dataset = builder.as_dataset(split=split, shuffle_files=False, read_config=in_order)
        assert [one["text"].decode("utf-8") for one in tfds.as_numpy(dataset)] == expected


def test_tensorflow_datasets_slices_splits(build: Path) -> None:
    tfds = pytest.importorskip("tensorflow_datasets")
    builder = tfds.builder_from_directory(str(build))
    halves = [
        sum(1 for _ in tfds.as_numpy(builder.as_dataset(split=part, shuffle_files=False)))
        for part in ("train[:50%]", "train[50%:]")
    ]
    assert sum(halves) == len(texts_of(build, "train"))
    assert min(halves) > 0
