"""The files of a build as its readers see them: pyarrow, Hugging Face datasets, TensorFlow Datasets.

The libraries are those of the extra "compat"; a reader that is not installed is skipped.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.run.editions import write_cards
from tests.makers.finished_builds import add_card, make_build
from tests.makers.sentence_corpus import HELDOUT_SHARDS, SHARDS, sentences, write_corpus

pytestmark = pytest.mark.compat

SPLITS = ["train", "validation", "test"]
TEXT, NUMBER = "string", "int32"
OF_WIKI40B = dict.fromkeys(["wikidata_id", "text", "version_id"], TEXT)
OF_TFDS = ["book_id", "book_link", "book_text", "book_title", "publication_date"]
OF_PG19 = {
    **{name: NUMBER if name == "book_id" else TEXT for name in OF_TFDS},
    **{"date_source": TEXT, "date_confidence": TEXT, "latest_year": NUMBER},
}
OF_SIMPLEBOOKS = {"book_id": NUMBER, "book_title": TEXT, "text": TEXT, "raw_text": TEXT}
BUILT = {  # below what `corpusmill demo` builds → features, splits
    **dict.fromkeys(["wiki40b/en", "wiki40b/ja", "wiki40b/uk"], (OF_WIKI40B, SPLITS)),
    "pg19/*": (OF_PG19, SPLITS),
    "simplebooks/*": (OF_SIMPLEBOOKS, [*SPLITS, "train_2"]),
}
NEWS = "lm1b"
ODD_LINES = [b"a  b \r", b"\xed\xa0\x80 is none of Unicode .", "\ufeff<дві>\u2028\0".encode()]


class Loadable(NamedTuple):
    """A finished build, and what a reader must find in it."""

    folder: Path
    features: Mapping[str, str]  # name → type
    rows: Mapping[str, list[dict[str, Any]]]  # of each split

    @property
    def manifest(self) -> dict[str, Any]:
        manifest: dict[str, Any] = json.loads((self.folder / "manifest.json").read_text("utf-8"))
        return manifest


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> Loadable:
    """A corpus of sentences, some of which are odd. Its rows are the lines of the text files, in order."""
    folder = tmp_path_factory.mktemp(NEWS) / "1.0.0"
    folder.mkdir()
    write_corpus(folder, sorted([*sentences(500), b"", *ODD_LINES]))
    heldout = [
        f"heldout-*/news.en.heldout-{number:05d}-of-{HELDOUT_SHARDS:05d}"
        for number in range(HELDOUT_SHARDS)
    ]
    names = {
        "train": [f"training-*/news.en-{n:05d}-of-{SHARDS:05d}" for n in range(1, SHARDS)],
        "test": heldout,
        "paper_test": heldout[:1],
        "dev": heldout[1:],
    }
    rows = {split: lines_of(folder, patterns) for split, patterns in names.items()}
    return Loadable(folder, {"text": TEXT}, rows)


def lines_of(folder: Path, patterns: Sequence[str]) -> list[dict[str, Any]]:
    block = b"".join(next(folder.glob(pattern)).read_bytes() for pattern in patterns)
    lines = block.replace(b"\xed\xa0\x80", "\ufffd".encode()).split(b"\n")
    return [{"text": line.decode("utf-8")} for line in lines[:-1]]


@pytest.fixture(params=[*BUILT, NEWS])
def build(request: pytest.FixtureRequest, demo: Path, news: Loadable) -> Loadable:
    if request.param == NEWS:
        return news
    features, splits = BUILT[request.param]
    (mark,) = demo.glob(f"{request.param}/2*/COMPLETED")
    rows = {split: rows_of(mark.parent, split) for split in splits}
    return Loadable(mark.parent, features, rows)


def rows_of(folder: Path, split: str) -> list[dict[str, Any]]:
    paths = sorted(folder.glob(f"{split}-*.parquet"))
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def test_every_split_has_rows_and_the_texts_are_no_repr_of_bytes(build: Loadable) -> None:
    assert min(map(len, build.rows.values())) > 0
    assert len(build.rows["train"]) > 10
    for row in (row for rows in build.rows.values() for row in rows):
        assert row.keys() == build.features.keys()
        for name, kind in build.features.items():
            assert row[name] is None or type(row[name]) is (str if kind == TEXT else int)
        if build.features == OF_WIKI40B:  # as TFDS wiki40b 1.3.0 has them
            assert row["text"].startswith("\n_START_ARTICLE_\n")
            assert row["wikidata_id"][0] == "Q"
            assert row["wikidata_id"][1:].isdigit()
            assert row["version_id"].isdigit()


def test_odd_lines_are_in_the_corpus(news: Loadable) -> None:
    texts = [row["text"] for split in ("train", "test") for row in news.rows[split]]
    assert len(texts) == 504
    assert {"", "a  b \r", "\ufffd is none of Unicode .", "\ufeff<дві>\u2028\0"} <= set(texts)


def test_pyarrow(build: Loadable) -> None:
    types = [pa.string() if kind == TEXT else pa.int32() for kind in build.features.values()]
    for split, rows in build.rows.items():
        files = sorted(map(str, build.folder.glob(f"{split}-*.parquet")))
        dataset = pyarrow.dataset.dataset(files, format="parquet")
        assert (dataset.schema.names, dataset.schema.types) == ([*build.features], types)
        assert dataset.to_table().to_pylist() == rows
        if build.features == OF_WIKI40B:
            assert build.manifest["counts"]["kept"][split] == len(rows)


def test_rejected_pages_can_be_read(demo: Path) -> None:
    (mark,) = demo.glob("wiki40b/en/2*/COMPLETED")
    table = pq.read_table(mark.parent / "rejected")
    assert table.column_names == ["id", "title", "stage", "reason", "detail"]
    manifest = Loadable(mark.parent, {}, {}).manifest
    assert table.num_rows == manifest["counts"]["rejected"]["total"]


def test_datasets_by_file_names(build: Loadable, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    data_files = {split: str(build.folder / f"{split}-*.parquet") for split in build.rows}
    loaded = datasets.load_dataset("parquet", data_files=data_files, cache_dir=str(tmp_path))
    check_dataset(build, loaded)


def test_datasets_by_folder(build: Loadable, tmp_path: Path) -> None:
    """The card tells which files are which split: rejected pages, tables and texts are none."""
    datasets = pytest.importorskip("datasets")
    check_dataset(build, datasets.load_dataset(str(build.folder), cache_dir=str(tmp_path)))


def check_dataset(build: Loadable, loaded: Any) -> None:
    assert list(loaded) == list(build.rows)
    for split, rows in build.rows.items():
        features = loaded[split].features.items()
        assert {name: feature.dtype for name, feature in features} == build.features
        assert list(loaded[split]) == rows


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


def test_tensorflow_datasets(build: Loadable) -> None:
    tfds = pytest.importorskip("tensorflow_datasets")
    builder = tfds.builder_from_directory(str(build.folder))
    manifest = build.manifest
    assert (builder.name, str(builder.version)) == (manifest["corpus"], manifest["version"])
    assert builder.builder_config.name == manifest["edition"]
    features = builder.info.features
    assert set(features) == set(build.features)
    for name, kind in build.features.items():
        if kind == TEXT:
            assert type(features[name]) is tfds.features.Text
        else:
            assert features[name].np_dtype.name == kind
    assert list(builder.info.splits) == list(build.rows)
    in_order = tfds.ReadConfig(interleave_cycle_length=1)  # else 16 of one shard, 16 of the next
    for split, rows in build.rows.items():
        assert builder.info.splits[split].num_examples == len(rows)
        dataset = builder.as_dataset(split=split, shuffle_files=False, read_config=in_order)
        found = [
            {
                name: value.decode("utf-8") if build.features[name] == TEXT else int(value)
                for name, value in row.items()
            }
            for row in tfds.as_numpy(dataset)
        ]
        assert found == [
            {name: 0 if value is None else value for name, value in row.items()} for row in rows
        ]
    if build.features == OF_PG19:
        check_features_of_tfds(tfds.builder("pg19").info.features, features)


def check_features_of_tfds(original: Any, ours: Any) -> None:
    """Code for the PG-19 of TFDS finds all that it knows, in the same types: there some texts are tensors of
    text.
    """
    assert sorted(original) == OF_TFDS
    assert {name: ours[name].get_tensor_info() for name in original} == {
        name: feature.get_tensor_info() for name, feature in original.items()
    }


@pytest.mark.parametrize("build", ["wiki40b/en", NEWS], indirect=True)
def test_tensorflow_datasets_slices_splits(build: Loadable) -> None:
    tfds = pytest.importorskip("tensorflow_datasets")
    builder = tfds.builder_from_directory(str(build.folder))
    halves = [
        sum(1 for _ in tfds.as_numpy(builder.as_dataset(split=part, shuffle_files=False)))
        for part in ("train[:50%]", "train[50%:]")
    ]
    assert sum(halves) == len(build.rows["train"])
    assert min(halves) > 0
