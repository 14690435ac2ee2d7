import hashlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.files.write_files import (
    HashedFile,
    RowFile,
    write_parquet,
    write_text,
)

SCHEMA = pa.schema([pa.field("a", pa.string(), nullable=False)])


def table_of(rows: int) -> pa.Table:
    return pa.table({"a": [f"київ {row}" for row in range(rows)]}, schema=SCHEMA)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_text(tmp_path: Path) -> None:
    content = "Київ 富士山\n".encode()
    file = write_text(str(tmp_path), "README.md", content.decode())
    assert (tmp_path / "README.md").read_bytes() == content
    assert file == OutputFile(
        "README.md", "", "text", 0, len(content), digest(tmp_path / "README.md")
    )


def test_a_name_that_looks_compressed_does_not_compress(tmp_path: Path) -> None:
    write_text(str(tmp_path), "a.gz", "plain")
    assert (tmp_path / "a.gz").read_bytes() == b"plain"


@pytest.mark.parametrize("rows", [0, 1, 2500])
def test_a_table(tmp_path: Path, rows: int) -> None:
    table = table_of(rows)
    file = write_parquet(str(tmp_path), "sub/a.parquet", "train", table)
    path = tmp_path / "sub" / "a.parquet"
    assert file == OutputFile(
        "sub/a.parquet", "train", "parquet", rows, path.stat().st_size, digest(path)
    )
    assert pq.read_table(path) == table


def test_a_table_in_parts_is_written_a_row_group_a_part(tmp_path: Path) -> None:
    with RowFile(str(tmp_path), "a.parquet", SCHEMA) as file:
        for start in (0, 7):
            file.write(table_of(10).slice(start, 7))
    path = tmp_path / "a.parquet"
    assert file.output_file("a.parquet", "", "parquet", 10).sha256 == digest(path)
    assert pq.read_table(path) == table_of(10)
    meta = pq.ParquetFile(path).metadata
    assert [meta.row_group(group).num_rows for group in range(meta.num_row_groups)] == [7, 3]
    assert meta.row_group(0).column(0).compression == "ZSTD"


def test_the_same_table_gives_the_same_bytes(tmp_path: Path) -> None:
    table = table_of(1500)
    chunked = pa.concat_tables([table.slice(0, 7), table.slice(7)])
    one, two = (
        write_parquet(str(tmp_path), name, "", t) for name, t in (("1", table), ("2", chunked))
    )
    assert one.sha256 == two.sha256


def test_a_hashed_file_counts_what_was_written(tmp_path: Path) -> None:
    with HashedFile(str(tmp_path / "a")) as file:
        assert file.write(b"abc") == 3
        assert file.write(memoryview(b"de")) == 2
        assert file.tell() == 5
        assert file.writable()
        written = file.output_file("a", "", "text", 1)
    assert (tmp_path / "a").read_bytes() == b"abcde"
    assert (written.bytes, written.sha256) == (5, hashlib.sha256(b"abcde").hexdigest())
