"""Tables of topics."""

import gzip
import pathlib

import pytest

from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.translation.find_passages import read_topics

A, B = "https://en.wikinews.org/wiki/A", "https://en.wikinews.org/wiki/B"


def test_other_columns_and_repeated_rows_do_no_harm(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "topics.tsv"
    path.write_text(f"id\ttopic\turl\n1\tSports \t{A}\n2\tsports\t {A} \n3\tcrime\t{B}\n", "utf-8")
    assert read_topics([str(path)]) == {A: "sports", B: "crime"}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (f"url\ttopic\n{A}\tweather\n", "line 2: unknown topic 'weather'; expected one of crime, "),
        (
            f"url\ttopic\n{A}\tcrime\n{A}\tsports\n",
            "line 3: .* has the topic sports, but an earlier line has crime",
        ),
        ("url\tsubject\n", "line 1: missing columns: topic; found url, subject"),
        (b"url\ttopic\n\xff\tcrime\n", "line 2 is not UTF-8"),
        (
            gzip.compress(b"url\ttopic\n", mtime=0)[:-9],
            "byte 0: damaged or truncated: Compressed file ended",
        ),
    ],
)
def test_errors_name_file_and_line(
    tmp_path: pathlib.Path, table: str | bytes, message: str
) -> None:
    path = tmp_path / "topics.tsv"
    path.write_bytes(table if isinstance(table, bytes) else table.encode())
    with pytest.raises(InputError, match=message) as raised:
        read_topics([str(path)])
    assert raised.value.path == str(path)
