import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from corpusmill.transforms.files.records import Rejected
from corpusmill.transforms.files.write_rows import SCHEMA, WriteRejected, order
from tests.tools.run_pipeline import run_transform

REJECTED = [
    Rejected("10", "Б", "screen-pages", "redirect"),
    Rejected("9", "А", "screen-pages", "redirect", "by its text"),
    Rejected("9", "А", "join-wikidata", "no-entity"),
    Rejected("100", "В", "screen-pages", "other-namespace", "14"),
    Rejected("wikidata.json.gz:4711", "", "read-entities", "not-json", "…"),
    Rejected("9", "А", "screen-pages", "redirect", "by its text"),
]


def rows_of(folder: Path) -> list[list[Rejected]]:
    paths = sorted((folder / "rejected").iterdir())
    return [[Rejected(**row) for row in pq.read_table(path).to_pylist()] for path in paths]


def test_records_are_sorted_by_stage_reason_and_number(tmp_path: Path) -> None:
    (file,) = run_transform(WriteRejected(str(tmp_path)), REJECTED).elements["main"]
    assert file.name == "rejected/rejected-00000-of-00001.parquet"
    assert (file.format, file.split, file.records) == ("parquet", "", 6)
    assert rows_of(tmp_path) == [[REJECTED[index] for index in (2, 4, 3, 1, 5, 0)]]


def test_with_nothing_rejected_there_is_an_empty_file(tmp_path: Path) -> None:
    (file,) = run_transform(WriteRejected(str(tmp_path)), []).elements["main"]
    assert file.records == 0
    table = pq.read_table(tmp_path / file.name)
    assert table.schema == SCHEMA
    assert table.num_rows == 0


@pytest.mark.parametrize(("per_file", "files"), [(6, 1), (5, 2), (2, 3), (1, 6)])
def test_many_records_go_to_several_files_each_sorted(
    tmp_path: Path, per_file: int, files: int
) -> None:
    shuffled = random.Random(3).sample(REJECTED, len(REJECTED))
    outcome = run_transform(WriteRejected(str(tmp_path), per_file), shuffled)
    assert sorted(file.name for file in outcome.elements["main"]) == [
        f"rejected/rejected-{number:05d}-of-{files:05d}.parquet" for number in range(files)
    ]
    found = rows_of(tmp_path)
    assert all(rows == sorted(rows, key=order) for rows in found)
    assert sorted(row for rows in found for row in rows) == sorted(REJECTED)
