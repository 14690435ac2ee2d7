import hashlib
import json
import random
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import apache_beam as beam
import pyarrow.parquet as pq
import pytest
from apache_beam.pvalue import AsList, AsSingleton

from corpusmill.transforms.files import line_blocks
from corpusmill.transforms.files.distribution import MapOnce
from corpusmill.transforms.files.records import LineRange, LineShard, OutputFile, Rejected
from corpusmill.transforms.files.text import Shard
from corpusmill.transforms.files.tfrecord import encode_example, frame_record
from corpusmill.transforms.news import write_lines
from corpusmill.transforms.news.sentence_accounts import (
    HELDOUT,
    TRAIN,
    split_of,
    tables_of,
    text_name,
)
from corpusmill.transforms.news.write_lines import (
    WriteLines,
    write_checksums,
    write_range,
    write_shard,
)
from tests.makers.sentence_corpus import HELDOUT_SHARDS, SHARDS, Lost, sentences, write_corpus
from tests.tools.golden_tree import tree_of
from tests.tools.run_pipeline import Outcome, run_inputs, run_transform

TRAIN_FOLDER = "training-monolingual.tokenized.shuffled"
HELDOUT_FOLDER = "heldout-monolingual.tokenized.shuffled"

ONE = ["The 富士山 .", "", " passed through\r", "It 's 5 % , he said ."]
TWO = ["Дві .", "a\0b"]
HELD = [["first", "second é"], [], ["third"]]

SERIES = {"train": [[*HELD[0], *HELD[1], *HELD[2]], ONE, TWO], "heldout": HELD}
WRITTEN = [
    LineShard(series, shard, 3, line_blocks.block_of([line.encode() for line in part]))
    for series, parts in SERIES.items()
    for shard, part in enumerate(parts)
]

SPLITS = {
    "train": [ONE, TWO],
    "test": HELD,
    "paper_test": HELD[:1],
    "dev": HELD[1:],
}


def write(folder: Path, shards: list[LineShard], language: str = "en") -> Outcome:
    def apply(given: beam.PCollection) -> Mapping[str, beam.PCollection]:
        written = given | WriteLines(str(folder), language=language)
        checksums = MapOnce(write_checksums, str(folder), AsList(written.md5s))
        return {**written._asdict(), "checksums": written.md5s.pipeline | checksums}

    return run_inputs(apply, given=shards)


Written = tuple[Path, Outcome]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The folder of the files of WRITTEN, and the outcome."""
    folder = tmp_path_factory.mktemp("written")
    return folder, write(folder, WRITTEN)


def records_of(lines: Iterable[str]) -> bytes:
    return b"".join(frame_record(encode_example({"text": line})) for line in lines)


def test_text_files_hold_the_blocks_under_the_published_names(written: Written) -> None:
    folder, _ = written
    names = [
        f"{HELDOUT_FOLDER}/news.en-00000-of-00003",
        f"{TRAIN_FOLDER}/news.en-00001-of-00003",
        f"{TRAIN_FOLDER}/news.en-00002-of-00003",
        *(f"{HELDOUT_FOLDER}/news.en.heldout-0000{shard}-of-00003" for shard in range(3)),
    ]
    for name, shard in zip(names, WRITTEN, strict=True):
        assert (folder / name).read_bytes() == shard.block
    texts = [name for name in tree_of(folder) if "/" in name]
    assert sorted(texts) == sorted(names)


def test_parquet_and_tfrecord_hold_the_lines_of_the_split(written: Written) -> None:
    folder, _ = written
    for split, shards in SPLITS.items():
        for shard, lines in enumerate(shards):
            place = f"{shard:05d}-of-{len(shards):05d}"
            table = pq.read_table(folder / f"{split}-{place}.parquet")
            assert table.schema == line_blocks.SCHEMA
            assert table["text"].to_pylist() == lines
            frames = folder / f"lm1b-{split}.tfrecord-{place}"
            assert frames.read_bytes() == records_of(lines)
    names = {name for name in tree_of(folder) if "/" not in name}
    assert len(names) == 2 * (2 + 3 + 1 + 2) + 1
    assert "md5sums" in names


def test_every_file_is_listed_as_it_is(written: Written) -> None:
    folder, outcome = written
    files: list[OutputFile] = [*outcome.elements["files"], *outcome.elements["checksums"]]
    tree = tree_of(folder)
    assert sorted(file.name for file in files) == sorted(tree)
    for file in files:
        content = tree[file.name]
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
    outcome = write(tmp_path, WRITTEN)
    lines = (tmp_path / "md5sums").read_text("utf-8").splitlines()
    assert lines == sorted(lines, key=lambda line: line[34:])
    assert [line[34:] for line in lines] == sorted(name for name, _ in outcome.elements["md5s"])
    assert len(lines) == len(WRITTEN)
    check = ["md5sum", "--check", "--strict", "md5sums"]
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, timeout=60).returncode == 0
    (tmp_path / HELDOUT_FOLDER / "news.en-00000-of-00003").write_bytes(b"first\n")
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, timeout=60).returncode == 1


def test_the_order_of_the_shards_does_not_matter(written: Written, tmp_path: Path) -> None:
    write(tmp_path, random.Random(7).sample(WRITTEN, len(WRITTEN)))
    assert tree_of(tmp_path) == tree_of(written[0])


def test_a_corpus_without_lines_is_files_without_lines(tmp_path: Path) -> None:
    outcome = write(tmp_path, [shard._replace(block=b"") for shard in WRITTEN])
    assert len(outcome.elements["files"]) == len(WRITTEN) + 2 * (2 + 3 + 1 + 2)
    assert {file.records for file in outcome.elements["files"]} == {0}
    for name, content in tree_of(tmp_path).items():
        if name.endswith(".parquet"):
            assert pq.read_table(tmp_path / name).schema == line_blocks.SCHEMA
        elif name != "md5sums":
            assert content == b""


def test_the_language_is_in_the_names_of_text_files(tmp_path: Path) -> None:
    write(tmp_path, [WRITTEN[0], WRITTEN[1], WRITTEN[5]], language="de")
    names = sorted(name for name in tree_of(tmp_path) if "/" in name)
    assert names == [
        f"{HELDOUT_FOLDER}/news.de-00000-of-00003",
        f"{HELDOUT_FOLDER}/news.de.heldout-00002-of-00003",
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
    block = line_blocks.block_of([line.encode() for line in lines])
    whole = write_shard(LineShard("train", 1, 2, block), str(tmp_path), "lm1b", "en")
    path = tmp_path / "train-00000-of-00001.parquet"
    metadata = pq.ParquetFile(path).metadata
    rows = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    assert rows == [7, *[6] * 7, 1]
    assert pq.read_table(path)["text"].to_pylist() == lines
    frames = tmp_path / "lm1b-train.tfrecord-00000-of-00001"
    assert frames.read_bytes() == records_of(lines)
    text_file = tmp_path / TRAIN_FOLDER / "news.en-00001-of-00002"
    assert line_blocks.lines_of(text_file.read_bytes()) == line_blocks.lines_of(block)
    assert [file.records for file in whole.files] == [50, 50, 50]


def test_what_is_no_utf8_stops_the_build(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="UTF8"):
        run_transform(WriteLines(str(tmp_path)), [LineShard("train", 1, 2, b"caf\xe9\n")])


BLOCKS = [b"\xff\na\nb\n", b"c\n\n", b"d\n"]


def test_the_ranges_one_after_the_other_are_the_corpus(tmp_path: Path) -> None:
    ranges = [
        LineRange(index, line_blocks.count_lines(block), line_blocks.pack_block(block))
        for index, block in enumerate(BLOCKS)
    ]
    outcome = run_inputs(
        lambda ranges, splitters: (
            ranges | beam.Map(write_range, str(tmp_path), "news.sorted", AsSingleton(splitters))
        ),
        **{"ranges": ranges[::-1], "splitters": [[b"c", b"d"]]},
    )
    files: list[OutputFile] = sorted(outcome.elements["main"])
    names = [f"training-monolingual.tokenized/news.sorted-0000{i}-of-00003" for i in range(3)]
    assert [file.name for file in files] == names
    assert [(tmp_path / name).read_bytes() for name in names] == BLOCKS
    assert [(file.records, file.split) for file in files] == [(3, ""), (2, ""), (1, "")]
    assert [file.sha256 for file in files] == [hashlib.sha256(b).hexdigest() for b in BLOCKS]


TEST = [Shard("test", 0, 50), Shard("paper_test", 0, 1)]
LAST = [Shard("test", 49, 50), Shard("dev", 48, 49)]


@pytest.mark.parametrize(
    ("series", "shard", "folder", "name", "tables"),
    [
        (TRAIN, 1, "training", "news.en-00001-of-00100", [Shard("train", 0, 99)]),
        (TRAIN, 99, "training", "news.en-00099-of-00100", [Shard("train", 98, 99)]),
        (TRAIN, 0, "heldout", "news.en-00000-of-00100", []),
        (HELDOUT, 0, "heldout", "news.en.heldout-00000-of-00050", TEST),
        (HELDOUT, 49, "heldout", "news.en.heldout-00049-of-00050", LAST),
    ],
)
def test_a_shard_and_its_files(
    series: str, shard: int, folder: str, name: str, tables: list[Shard]
) -> None:
    shards = int(name[-5:])
    path = f"{folder}-monolingual.tokenized.shuffled/{name}"
    assert text_name(series, shard, shards, "en") == path
    assert split_of(series, shard) == (tables[0].split if tables else "")
    assert list(tables_of(series, shard, shards)) == tables


@pytest.mark.parametrize(("shards", "heldout_shards"), [(100, 50), (2, 1), (5, 7)])
def test_each_split_has_each_of_its_numbers_once(shards: int, heldout_shards: int) -> None:
    tables = [
        table
        for series, count in ((TRAIN, shards), (HELDOUT, heldout_shards))
        for shard in range(count)
        for table in tables_of(series, shard, count)
    ]
    assert sorted(tables) == sorted(
        Shard(split, shard, count)
        for split, count in (
            ("train", shards - 1),
            ("test", heldout_shards),
            ("paper_test", 1),
            ("dev", heldout_shards - 1),
        )
        for shard in range(count)
    )


LINES = sentences(200)
REJECTED = [
    Rejected(f"news.2007.en.shuffled.gz:{place}", "", "read-lines", "malformed-utf-8")
    for place in (3, 9)
]
ALL: dict[str, Any] = {
    "repeated": [LINES[0], LINES[1], LINES[0]],
    "rejected": REJECTED,
    "lost": [Lost("b", 2), Lost("a", 9)],
    "unterminated": ["news.2008.en.shuffled", "news.2007.en.shuffled.gz"],
}


def read_json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return content


def test_the_statistics_are_those_of_the_text_files(tmp_path: Path) -> None:
    write_corpus(tmp_path, LINES, **ALL)
    stats = read_json(tmp_path / "stats.json")
    texts = {
        "train": sorted(tmp_path.glob("training-*/news.en-*")),
        "test": sorted(tmp_path.glob("heldout-*/news.en.heldout-*")),
        "paper_test": sorted(tmp_path.glob("heldout-*/news.en.heldout-00000-*")),
        "dev": sorted(tmp_path.glob("heldout-*/news.en.heldout-0000[1-9]-*")),
    }
    assert [len(paths) for paths in texts.values()] == [
        SHARDS - 1,
        HELDOUT_SHARDS,
        1,
        HELDOUT_SHARDS - 1,
    ]
    for split, paths in texts.items():
        measured = line_blocks.measure_lines(b"".join(path.read_bytes() for path in paths))
        assert stats[split]["sentences"] == measured.lines
        assert stats[split]["words"] == measured.words
        assert stats[split]["text_bytes"] == sum(path.stat().st_size for path in paths)
        assert stats[split]["sentences_by_words"] == measured.histogram()
    assert stats["before_deduplication"]["sentences"] == 203
    assert stats["training_sentences"] == stats["train"]["sentences"] == 150
    assert stats["training_words"] == stats["train"]["words"]
    assert len(stats["heldout_shards"]) == HELDOUT_SHARDS
    assert stats["heldout_shards"][0] == stats["heldout_shard_0"]
    assert stats["heldout_shard_0"]["sentences"] == 17


def test_metadata_for_tensorflow_datasets(tmp_path: Path) -> None:
    write_corpus(tmp_path, LINES)
    features = read_json(tmp_path / "features.json")
    assert list(features["featuresDict"]["features"]) == ["text"]
    info = read_json(tmp_path / "dataset_info.json")
    assert (info["name"], info["configName"], info["version"]) == ("lm1b", "en", "1.0.0")
    assert [(split["name"], split["shardLengths"]) for split in info["splits"]] == [
        ("train", ["50"] * 3),
        ("test", ["17", "17", "16"]),
        ("paper_test", ["17"]),
        ("dev", ["17", "16"]),
    ]


def test_fewer_sentences_than_shards(tmp_path: Path) -> None:
    write_corpus(tmp_path, LINES[:2])
    stats = read_json(tmp_path / "stats.json")
    assert [stats[split]["sentences"] for split in ("train", "test", "paper_test")] == [1, 1, 1]


def test_characters_that_only_perl_knows_are_told(tmp_path: Path) -> None:
    write_corpus(tmp_path, sorted([*LINES, b"x \xed\xa0\x80 \xf4\x90\x80\x80"]))
    manifest = read_json(tmp_path / "manifest.json")
    assert sum(manifest["counts"]["replaced_characters"][split] for split in ("train", "test")) == 2
    assert manifest["caveats"][-1].startswith("2 characters are not valid in Unicode.")
