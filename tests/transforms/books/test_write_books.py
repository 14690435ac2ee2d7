import random
from collections.abc import Mapping
from pathlib import Path

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.tools.run_pipeline import run_pipeline
from transforms.books import write_books
from transforms.books.write_books import MeasureRows, PlanBookShards, WriteBooks, order
from transforms.files.scratch import Scratch
from transforms.records import BookRow, OutputFile
from transforms.text.books.book_stats import BookStats
from transforms.text.files.tf_example import encode_example, frame_record

SCHEMA = pa.schema(
    [
        pa.field("book_id", pa.int32(), nullable=False),
        pa.field("title", pa.string(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
    ]
)
SPLITS = ("train", "validation", "test")
TEXTS = {
    number: f"Book {number}.\n\n" + "дві " * (number % 7 * 50) for number in range(90_001, 90_031)
}


def rows(folder: Path) -> list[BookRow]:
    scratch = Scratch(str(folder))
    found = [
        BookRow(
            "test" if number % 10 == 0 else "train",
            number,
            (number, f"Title {number}", scratch.put_text(text)),
        )
        for number, text in TEXTS.items()
    ]
    return random.Random(3).sample(found, len(found))


def write(folder: Path, shard_bytes: int) -> tuple[dict[str, BookStats], list[OutputFile]]:
    folder.mkdir(exist_ok=True)

    def build(root: beam.Pipeline) -> Mapping[str, beam.PCollection]:
        books = root | beam.Create(rows(folder), reshuffle=False)
        stats = books | MeasureRows(2)
        shards = stats | PlanBookShards(SPLITS, shard_bytes)
        return {"stats": stats, "files": books | WriteBooks(str(folder), "pg19", SCHEMA, shards)}

    outcome = run_pipeline(build)
    assert outcome.counters["write-books/books"] == len(TEXTS)
    return dict(outcome.elements["stats"]), sorted(outcome.elements["files"])


def test_books_are_in_both_formats_in_the_order_of_their_fingerprints(tmp_path: Path) -> None:
    stats, files = write(tmp_path, 2_000)
    assert stats["train"].books == 27
    assert stats["test"].text_bytes == sum(len(TEXTS[n].encode()) for n in (90010, 90020, 90030))
    in_order = sorted(TEXTS, key=lambda number: order(BookRow("", number, ())))
    for split in SPLITS:
        of_split = [n for n in in_order if (n % 10 == 0) == (split == "test")]
        expected = [] if split == "validation" else of_split
        tables = [file for file in files if (file.format, file.split) == ("parquet", split)]
        frames = [file for file in files if (file.format, file.split) == ("tfrecord", split)]
        assert [file.records for file in tables] == [file.records for file in frames]
        assert f"-of-{len(tables):05d}.parquet" in tables[0].name
        found = [row for file in tables for row in pq.read_table(tmp_path / file.name).to_pylist()]
        assert found == [{"book_id": n, "title": f"Title {n}", "text": TEXTS[n]} for n in expected]
        data = b"".join((tmp_path / file.name).read_bytes() for file in frames)
        assert data == b"".join(frame_record(encode_example(row)) for row in found)
    assert sum(file.split == "train" for file in files) > 2


def test_the_batch_changes_the_row_groups_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "one", 1 << 30)
    monkeypatch.setattr(write_books, "BATCH_CHARACTERS", 500)
    write(tmp_path / "many", 1 << 30)
    name = "train-00000-of-00001.parquet"
    one, many = (pq.ParquetFile(tmp_path / folder / name) for folder in ("one", "many"))
    assert one.num_row_groups == 1
    assert many.num_row_groups > 5
    assert one.read().equals(many.read())
    frames = "pg19-train.tfrecord-00000-of-00001"
    assert (tmp_path / "one" / frames).read_bytes() == (tmp_path / "many" / frames).read_bytes()


def test_a_shard_has_a_size() -> None:
    with pytest.raises(ValueError, match="shard_bytes is 0"):
        PlanBookShards(SPLITS, 0)
