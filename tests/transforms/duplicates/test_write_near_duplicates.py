import hashlib
import random
from collections.abc import Mapping
from pathlib import Path

import apache_beam as beam
import numpy
import pyarrow.parquet as pq
import pytest

from tests.tools.run_pipeline import run_pipeline
from transforms.duplicates.fetch_line_pairs import LinePairs
from transforms.duplicates.write_near_duplicates import SCHEMA, WriteNearDuplicates, count_files
from transforms.records import OutputFile
from transforms.text.fingerprint import shard_of

PAIRS = [  # removed, kept
    (b"b a c", b"a b c"),
    (b"b b", b"a b c"),
    ("Київ столиця".encode(), "Київ — столиця".encode()),
    (b"\xed\xa0\x80 x", b"\xff"),
    (b"b a c", b"a b c"),
]

SORTED = [r"\xed\xa0\x80 x", "b a c", "b a c", "b b", "Київ столиця"]  # by the one that stays


def write(folder: Path, blocks: list[list[tuple[bytes, bytes]]], per_file: int) -> list[OutputFile]:
    folder.mkdir(exist_ok=True)
    elements = [
        LinePairs(
            numpy.zeros((len(block), 2), numpy.int64),
            [removed for removed, _ in block],
            [kept for _, kept in block],
        )
        for block in blocks
    ]

    def build(root: beam.Pipeline) -> Mapping[str, beam.PCollection]:
        removed = root | "Removed" >> beam.Create([sum(map(len, blocks))])
        pairs = root | "Pairs" >> beam.Create(elements, reshuffle=False)
        return {"main": pairs | WriteNearDuplicates(str(folder), removed, 1, per_file)}

    return sorted(run_pipeline(build).elements["main"])


def test_each_removed_line_stands_with_the_one_that_stays(tmp_path: Path) -> None:
    (file,) = write(tmp_path, [PAIRS[:2], PAIRS[2:]], 100)
    name = "rejected/near-duplicates-00000-of-00001.parquet"
    data = (tmp_path / name).read_bytes()
    assert file == OutputFile(name, "", "parquet", 5, len(data), hashlib.sha256(data).hexdigest())
    table = pq.read_table(tmp_path / name)
    assert table.schema == SCHEMA
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        (r"\xff", r"\xed\xa0\x80 x", 0.0),
        ("a b c", "b a c", 1.0),
        ("a b c", "b a c", 1.0),
        ("a b c", "b b", 1 / 3),
        ("Київ — столиця", "Київ столиця", 2 / 3),
    ]


def test_bytes_do_not_depend_on_order_or_blocks(tmp_path: Path) -> None:
    files = write(tmp_path / "a", [PAIRS], 2)
    assert [file.name for file in files] == [
        f"rejected/near-duplicates-0000{file}-of-00003.parquet" for file in range(3)
    ]
    shuffled = random.Random(3).sample(PAIRS, len(PAIRS))
    assert write(tmp_path / "b", [[pair] for pair in shuffled], 2) == files
    for number, file in enumerate(files):
        assert pq.read_table(tmp_path / "b" / file.name)["removed"].to_pylist() == [
            text for text in SORTED if shard_of(text, 3) == number
        ]


@pytest.mark.parametrize("blocks", [[], [[]]])
def test_with_nothing_removed_there_is_an_empty_file(
    tmp_path: Path, blocks: list[list[tuple[bytes, bytes]]]
) -> None:
    (file,) = write(tmp_path, blocks, 100)
    assert file.records == 0
    assert pq.read_table(tmp_path / file.name) == SCHEMA.empty_table()


@pytest.mark.parametrize(("removed", "files"), [(0, 1), (1, 1), (10, 1), (11, 2), (20, 2)])
def test_count_files(removed: int, files: int) -> None:
    assert count_files(removed, 10) == files
