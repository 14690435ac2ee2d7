import hashlib
import random
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import apache_beam as beam
import pyarrow.parquet as pq
import pytest

from corpusmill.transforms.files.line_blocks import SCHEMA, block_of, lines_of
from corpusmill.transforms.files.records import LineShard, OutputFile
from corpusmill.transforms.files.tfrecord import encode_example, frame_record
from corpusmill.transforms.news import write_lines
from corpusmill.transforms.news.write_lines import WriteChecksums, WriteLines, write_shard
from tests.tools.golden_tree import tree_of
from tests.tools.run_pipeline import Outcome, run_inputs, run_transform

TRAIN_FOLDER = "training-monolingual.tokenized.shuffled"
HELDOUT_FOLDER = "heldout-monolingual.tokenized.shuffled"

ONE = ["The 富士山 .", "", " passed through\r", "It 's 5 % , he said ."]
TWO = ["Дві .", "a\0b"]
HELD = [["first", "second é"], [], ["third"]]

SHARDS = [
    LineShard("train", 0, 3, block_of([line.encode() for part in HELD for line in part])),
    LineShard("train", 1, 3, block_of([line.encode() for line in ONE])),
    LineShard("train", 2, 3, block_of([line.encode() for line in TWO])),
    *(
        LineShard("heldout", shard, 3, block_of([line.encode() for line in part]))
        for shard, part in enumerate(HELD)
    ),
]

SPLITS = {
    "train": [ONE, TWO],
    "test": HELD,
    "paper_test": HELD[:1],
}


def write(folder: Path, shards: list[LineShard], language: str = "en") -> Outcome:
    def apply(given: beam.PCollection) -> Mapping[str, beam.PCollection]:
        written = given | WriteLines(str(folder), language=language)
        return {**written._asdict(), "checksums": written.md5s | WriteChecksums(str(folder))}

    return run_inputs(apply, given=shards)


def records_of(lines: Iterable[str]) -> bytes:
    return b"".join(frame_record(encode_example({"text": line})) for line in lines)


def test_text_files_hold_the_blocks_under_the_published_names(tmp_path: Path) -> None:
    write(tmp_path, SHARDS)
    names = [
        f"{HELDOUT_FOLDER}/news.en-00000-of-00003",
        f"{TRAIN_FOLDER}/news.en-00001-of-00003",
        f"{TRAIN_FOLDER}/news.en-00002-of-00003",
        *(f"{HELDOUT_FOLDER}/news.en.heldout-0000{shard}-of-00003" for shard in range(3)),
    ]
    for name, shard in zip(names, SHARDS, strict=True):
        assert (tmp_path / name).read_bytes() == shard.block
    texts = [name for name in tree_of(tmp_path) if "/" in name]
    assert sorted(texts) == sorted(names)


def test_parquet_and_tfrecord_hold_the_lines_of_the_split(tmp_path: Path) -> None:
    write(tmp_path, SHARDS)
    for split, shards in SPLITS.items():
        for shard, lines in enumerate(shards):
            place = f"{shard:05d}-of-{len(shards):05d}"
            table = pq.read_table(tmp_path / f"{split}-{place}.parquet")
            assert table.schema == SCHEMA
            assert table["text"].to_pylist() == lines
            frames = tmp_path / f"lm1b-{split}.tfrecord-{place}"
            assert frames.read_bytes() == records_of(lines)
    names = {name for name in tree_of(tmp_path) if "/" not in name}
    assert len(names) == 2 * (2 + 3 + 1) + 1
    assert "md5sums" in names


def test_every_file_is_listed_as_it_is(tmp_path: Path) -> None:
    outcome = write(tmp_path, SHARDS)
    files: list[OutputFile] = [*outcome.elements["files"], *outcome.elements["checksums"]]
    written = tree_of(tmp_path)
    assert sorted(file.name for file in files) == sorted(written)
    for file in files:
        content = written[file.name]
        assert (file.bytes, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    records = {(file.format, file.split): 0 for file in files}
    for file in files:
        records[file.format, file.split] += file.records
    kept = {split: sum(map(len, shards)) for split, shards in SPLITS.items()}
    assert records == {
        ("text", ""): 3,  # the held-out shard
        ("text", "train"): 6,
        ("text", "test"): 3,
        ("checksums", ""): 0,
        **{(kind, split): kept[split] for kind in ("parquet", "tfrecord") for split in SPLITS},
    }
    assert outcome.counters == {
        "write-shards/sentences": 9,
        "write-shards/replaced-characters": 0,
    }


def test_md5sum_accepts_the_checksums(tmp_path: Path) -> None:
    outcome = write(tmp_path, SHARDS)
    lines = (tmp_path / "md5sums").read_text("utf-8").splitlines()
    assert lines == sorted(lines, key=lambda line: line[34:])
    assert [line[34:] for line in lines] == sorted(name for name, _ in outcome.elements["md5s"])
    assert len(lines) == len(SHARDS)
    check = ["md5sum", "--check", "--strict", "md5sums"]
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, timeout=60).returncode == 0
    (tmp_path / HELDOUT_FOLDER / "news.en-00000-of-00003").write_bytes(b"first\n")
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, timeout=60).returncode == 1


def test_the_order_of_the_shards_does_not_matter(tmp_path: Path) -> None:
    for name, shards in (("one", SHARDS), ("two", random.Random(7).sample(SHARDS, len(SHARDS)))):
        (tmp_path / name).mkdir()
        write(tmp_path / name, shards)
    assert tree_of(tmp_path / "one") == tree_of(tmp_path / "two")


def test_a_corpus_without_lines_is_files_without_lines(tmp_path: Path) -> None:
    outcome = write(tmp_path, [shard._replace(block=b"") for shard in SHARDS])
    assert len(outcome.elements["files"]) == len(SHARDS) + 2 * (2 + 3 + 1)
    assert {file.records for file in outcome.elements["files"]} == {0}
    for name, content in tree_of(tmp_path).items():
        if name.endswith(".parquet"):
            assert pq.read_table(tmp_path / name).schema == SCHEMA
        elif name != "md5sums":
            assert content == b""


def test_the_language_is_in_the_names_of_text_files(tmp_path: Path) -> None:
    write(tmp_path, SHARDS[:2], language="de")
    names = sorted(name for name in tree_of(tmp_path) if "/" in name)
    assert names == [
        f"{HELDOUT_FOLDER}/news.de-00000-of-00003",
        f"{TRAIN_FOLDER}/news.de-00001-of-00003",
    ]


def test_characters_that_only_perl_knows_stay_in_text_files(tmp_path: Path) -> None:
    block = b"a \xed\xa0\x80 b\nc\n\xf4\x90\x80\x80\xf4\x90\x80\x80\n"
    shards = [
        LineShard("train", 0, 2, block),
        LineShard("train", 1, 2, b"\xed\xbf\xbf\n"),
        LineShard("heldout", 0, 1, block),
    ]
    outcome = write(tmp_path, shards)
    texts = ["a \ufffd b", "c", "\ufffd\ufffd"]
    assert (tmp_path / HELDOUT_FOLDER / "news.en.heldout-00000-of-00001").read_bytes() == block
    for split in ("test", "paper_test"):
        assert pq.read_table(tmp_path / f"{split}-00000-of-00001.parquet").to_pydict() == {
            "text": texts
        }
        frames = tmp_path / f"lm1b-{split}.tfrecord-00000-of-00001"
        assert frames.read_bytes() == records_of(texts)
    assert sorted(outcome.elements["replaced"]) == [("paper_test", 3), ("test", 3), ("train", 1)]
    assert outcome.counters == {
        "write-shards/sentences": 4,
        "write-shards/replaced-characters": 4,
    }


def test_a_shard_of_many_row_groups_and_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_lines, "GROUP_BYTES", 100)
    monkeypatch.setattr(write_lines, "BATCH", 3)
    lines = [f"sentence {number} é" for number in range(50)]  # of 14 bytes, later 15
    block = block_of([line.encode() for line in lines])
    whole = write_shard(LineShard("train", 1, 2, block), str(tmp_path), "lm1b", "en")
    path = tmp_path / "train-00000-of-00001.parquet"
    metadata = pq.ParquetFile(path).metadata
    rows = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    assert rows == [7, *[6] * 7, 1]
    assert pq.read_table(path)["text"].to_pylist() == lines
    frames = tmp_path / "lm1b-train.tfrecord-00000-of-00001"
    assert frames.read_bytes() == records_of(lines)
    text_file = tmp_path / TRAIN_FOLDER / "news.en-00001-of-00002"
    assert lines_of(text_file.read_bytes()) == lines_of(block)
    assert [file.records for file in whole.files] == [50, 50, 50]


def test_what_is_no_utf8_stops_the_build(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="UTF8"):
        run_transform(WriteLines(str(tmp_path)), [LineShard("train", 1, 2, b"caf\xe9\n")])
