import json
from pathlib import Path

import pytest

from transforms.books.write_book_manifest import BookCorpus, write_manifest
from transforms.files.open_input import InputError
from transforms.records import InputFile, OutputFile
from transforms.text.books.book_stats import BookStats
from transforms.text.builds.build_manifest import Description, Provenance

CORPUS = BookCorpus(
    Description("Tales", "About.", "@x", "other", ("book_id", "text"), ("book_id",)),
    splits=("train", "test"),
    whole=("train", "test"),
    sections=lambda stats: ["", f"Masked: {stats['masked_words']}."],
)
PROVENANCE = Provenance(
    "pg19", "en", "20261101", "1.0.0", {"1.0.0": "First."}, {"before": 1919}, ("A caveat.",), {}
)
INPUTS = [InputFile("books", "b.zip", 7, "00"), InputFile("catalog", "c.csv", 7, "00")]


def write(folder: Path, stats: dict[str, BookStats], files: int) -> list[OutputFile]:
    outputs = [
        OutputFile(f"{split}.{kind}", split, kind, counts.books, 1, "00")
        for split, counts in stats.items()
        for kind in ("parquet", "tfrecord")
    ]
    rejections = {("screen-books", "poems"): 3, ("screen-books", "plays"): 1}
    return list(
        write_manifest(
            str(folder),
            PROVENANCE,
            CORPUS,
            inputs=INPUTS,
            outputs=outputs,
            files=files,
            rejections=rejections,
            lost=[],
            stats=stats,
            facts={"masked_words": 5},
        )
    )


def test_a_build_says_what_it_is(tmp_path: Path) -> None:
    written = write(tmp_path, {"train": BookStats(2, 20, 200, 210)}, files=6)
    assert [file.name for file in written][-1] == "manifest.json"
    manifest = json.loads((tmp_path / "manifest.json").read_text("utf-8"))
    assert manifest["counts"]["kept"] == {"train": 2, "test": 0, "total": 2}
    assert manifest["counts"]["rejected"]["total"] == 4
    stats = json.loads((tmp_path / "stats.json").read_text("utf-8"))
    assert manifest["stats"] == stats
    assert stats["test"]["books"] == 0
    assert stats["masked_words"] == 5
    features = json.loads((tmp_path / "features.json").read_text("utf-8"))
    assert features["featuresDict"]["features"]["book_id"]["tensor"]["dtype"] == "int32"
    card = (tmp_path / "README.md").read_text("utf-8")
    counts = ("| train | 2 | 20 | 200 | 210 |", "| screen-books/poems | 3 |")
    for line in ("# Tales", *counts, "Masked: 5.", "- A caveat."):
        assert line in card.splitlines()


def test_a_corpus_without_a_book_is_an_error_that_says_why(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"b\.zip: no book is left of 4 files: 3 poems, 1 plays"):
        write(tmp_path, {}, files=4)
    assert not list(tmp_path.iterdir())
