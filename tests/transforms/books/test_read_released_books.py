import bz2
import gzip
import re
from pathlib import Path

import pytest

from corpusmill.transforms.books.read_catalog import (
    ReadReleasedBooks,
    read_released_books,
    read_split_table,
)
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import ReleasedBook
from tests.tools.run_pipeline import Outcome, run_pipeline

BOOKS = [
    ReleasedBook(number, f"Title {number}", 1800 + number, f"x/{number}") for number in (7, 84)
]
LINES = "".join(f"{','.join(map(str, book))}\n" for book in BOOKS).encode()


def read(paths: list[Path]) -> Outcome:
    transform = ReadReleasedBooks([str(path) for path in paths])
    return run_pipeline(lambda root: {"books": root | transform})


def test_books_of_files(tmp_path: Path) -> None:
    first, second = tmp_path / "metadata.csv", tmp_path / "more.gz"
    first.write_bytes(LINES[: LINES.index(b"\n") + 1])
    second.write_bytes(gzip.compress(LINES[LINES.index(b"\n") + 1 :]))
    outcome = read([first, second])
    assert sorted(outcome.elements["books"]) == BOOKS
    assert outcome.counters == {"read-released-books/books": 2}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", LINES + b"9,T\n", "line 3: expected id,title,year,link"),
        ("a.csv", LINES[:-2], "line 2: expected id,title,year,link"),
        ("a.csv.gz", gzip.compress(LINES, mtime=0)[:-4], "damaged or truncated: "),
        ("a.csv.bz2", bz2.compress(LINES)[:-4], "damaged or truncated: "),
    ],
)
def test_errors_name_the_file_and_the_line(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(f"{path}: {message}")):
        list(read_released_books(str(path)))


def test_tables_of_splits(tmp_path: Path) -> None:
    path = tmp_path / "splits.tsv.gz"
    table = gzip.compress(b"book_id\tsplit\n84\ttest\n")
    path.write_bytes(table)
    assert read_split_table(str(path)) == {84: "test"}
    path.write_bytes(table[:-4])
    with pytest.raises(InputError, match=re.escape(f"{path}: damaged or truncated: ")):
        read_split_table(str(path))
    path.write_bytes(b"book_id,split\n84,held-out\n")
    with pytest.raises(InputError, match=re.escape(f"{path}: line 2: split is 'held-out'")):
        read_split_table(str(path))
