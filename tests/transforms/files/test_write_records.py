from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.tools.run_pipeline import run_transform
from transforms.files.write_records import WriteRecords


class Row(NamedTuple):
    number: int
    title: str


SCHEMA = pa.schema([("number", pa.int64()), ("title", pa.string())])
ROWS = [Row(10, "a\tb\n c"), Row(9, '"дві"'), Row(100, "")]


def identity(row: Row) -> str:
    return str(row.number)


def order(row: tuple[int, str]) -> int:
    return row[0]


def write(folder: Path, suffix: str, per_file: int = 10) -> WriteRecords:
    return WriteRecords(str(folder), "books", SCHEMA, identity, order, suffix, per_file)


def test_tables_keep_every_character(tmp_path: Path) -> None:
    (file,) = run_transform(write(tmp_path, "parquet"), ROWS).elements["main"]
    assert (file.name, file.format, file.records) == (
        "books-00000-of-00001.parquet",
        "parquet",
        3,
    )
    table = pq.read_table(tmp_path / file.name)
    assert table.schema.equals(SCHEMA)
    assert [tuple(row.values()) for row in table.to_pylist()] == sorted(ROWS)


def test_in_lines_white_space_is_one_blank(tmp_path: Path) -> None:
    (file,) = run_transform(write(tmp_path, "tsv"), ROWS).elements["main"]
    assert (file.name, file.format, file.split, file.records) == (
        "books-00000-of-00001.tsv",
        "text",
        "",
        4,
    )
    text = (tmp_path / file.name).read_text("utf-8")
    assert text == 'number\ttitle\n9\t"дві"\n10\ta b c\n100\t\n'


@pytest.mark.parametrize("suffix", ["parquet", "tsv"])
def test_many_records_go_to_several_files_and_none_to_one(tmp_path: Path, suffix: str) -> None:
    files = run_transform(write(tmp_path, suffix, 1), ROWS).elements["main"]
    assert len(files) == 3
    assert sum(file.records - (suffix == "tsv") for file in files) == 3
    (empty,) = run_transform(write(tmp_path, suffix), []).elements["main"]
    assert empty.records == (suffix == "tsv")


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="suffix is one of"):
        write(tmp_path, "csv")
