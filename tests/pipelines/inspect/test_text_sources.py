"""Data from which no text can be read is an error, for training data, evaluation sets and data sets alike."""

import bz2
import gzip
import io
import json
import lzma
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from corpusmill.pipelines.inspect.text_sources import (
    find_data_sets,
    find_evaluation_sets,
    find_training_files,
)
from corpusmill.transforms.files.read_files import InputError
from tests.makers.book_files import zip_file
from tests.makers.edition_builds import article, make_edition
from tests.makers.wiki_builds import Command

GOOD = {"id": "1", "text": "The old bridge was closed."}
BINARY = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 9
FINDERS: Sequence[Callable[[Sequence[str]], Any]] = (
    find_training_files,
    find_evaluation_sets,
    find_data_sets,
)


def json_lines(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def parquet(values: list[Any], kind: pa.DataType) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table({"id": range(len(values)), "text": pa.array(values, kind)}), stream)
    return stream.getvalue()


def arrow() -> bytes:
    stream = io.BytesIO()
    table = pa.table({"text": ["some text"]})
    with pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue()


NO_TEXTS = {
    "slip.jsonl#txt": (json_lines(GOOD), "no text in the column txt .*; the file has id, text"),
    "slips.jsonl#text,txt": (json_lines(GOOD), "no text in the column txt"),
    "slip.parquet#txt": (parquet(["a"], pa.string()), "missing columns: txt; the file has id, text"),
    "slip.csv#txt": (b"id,text\n1,some text\n", "a text file, which has no columns"),
    "null.jsonl": (json_lines({"text": None}, {"text": ""}), r"\(rejected: 2 no-text\)"),
    "list.jsonl": (json_lines({"text": []}), r"\(rejected: 1 no-text\)"),
    "number.jsonl": (json_lines({"text": 7}), "line at byte 0: Expected"),
    "numbers.jsonl": (json_lines({"text": [7]}), "line at byte 0: Expected"),
    "marks.jsonl": (json_lines({"text": "?"}), r"\(rejected: 1 no-words\)"),
    "null.parquet": (parquet([None, " "], pa.string()), r"\(rejected: 2 no-text\)"),
    "number.parquet": (parquet([7], pa.int64()), "has the type int64, but must contain text"),
    "numbers.parquet": (parquet([[7]], pa.list_(pa.int64())), "must contain text"),
    "untyped.parquet": (parquet([None], pa.null()), "has the type null, but must contain text"),
    "no_rows.parquet": (parquet([], pa.string()), r"the column text \(it is empty\)"),
    "zero.parquet": (b"", r"no text \(it is empty\)"),
    "zero.parquet#text": (b"", r"no text \(it is empty\)"),
    "zero.jsonl": (b"", r"no text \(it is empty\)"),
    "zero.txt": (b"", r"no text \(it is empty\)"),
    "blank.txt": (b"\n \n", r"\(rejected: 2 no-text\)"),
    "marks.txt": (b"--- !!!\n", r"\(rejected: 1 no-words\)"),
    "empty.txt.gz": (gzip.compress(b""), r"no text \(it is empty\)"),
    "empty.txt.bz2": (bz2.compress(b""), r"no text \(it is empty\)"),
    "empty.txt.xz": (lzma.compress(b""), r"no text \(it is empty\)"),
    "empty.txt.zst": (zstandard.compress(b""), r"no text \(it is empty\)"),
    "image.png": (BINARY, "not Parquet, JSON lines or UTF-8 text"),
    "image.gz": (gzip.compress(BINARY), "not Parquet, JSON lines or UTF-8 text"),
    "text.zip": (zip_file({"a.txt": b"some text\n"}), "not Parquet, JSON lines or UTF-8 text"),
    "empty.zip": (zip_file({}), "not Parquet, JSON lines or UTF-8 text"),
    "table.arrow": (arrow(), "not Parquet, JSON lines or UTF-8 text"),
    "utf-16.txt": ("some text\n".encode("utf-16"), "not Parquet, JSON lines or UTF-8 text"),
    "cyrillic.txt": ("Стара бруківка\nx\n".encode("cp1251") * 2 + b"\xff\n", "most of its lines"),
    "deep.jsonl": (b'{"text":' + b"[" * 100_000 + b"\n", "line 1: not a JSON object"),
}  # fmt: skip


@pytest.mark.parametrize("find", FINDERS)
@pytest.mark.parametrize("name", NO_TEXTS)
def test_a_file_without_text_is_an_error(
    name: str, find: Callable[[Sequence[str]], Any], tmp_path: Path
) -> None:
    content, message = NO_TEXTS[name]
    path = tmp_path / name.partition("#")[0]
    path.write_bytes(content)
    (tmp_path / "good").write_bytes(json_lines(GOOD))
    with pytest.raises((InputError, ValueError), match=message) as error:
        find([str(tmp_path / "good"), str(tmp_path / name)])
    assert str(path) in str(error.value)


@pytest.mark.parametrize("find", FINDERS)
def test_a_build_without_documents_is_an_error(
    find: Callable[[Sequence[str]], Any], tmp_path: Path
) -> None:
    build = make_edition(tmp_path, {"train": [[]], "validation": [[]], "test": [[]]})
    with pytest.raises(InputError, match=f"{build}: no text in the column text"):
        find([str(build)])


def test_a_shard_without_documents_is_read(tmp_path: Path) -> None:
    build = make_edition(
        tmp_path, {"train": [[], [article("Q1", "Text.")]], "validation": [[]], "test": [[]]}
    )
    assert len(find_training_files([str(build)])) == 2


def test_texts_are_read_beside_some_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(json_lines({"text": None}, {"id": "2"}, GOOD))
    (tmp_path / "lines").write_bytes("à\nPiù in là\nb\n".encode("latin-1") + b"\n")
    with pytest.raises(InputError, match="most of its lines are not UTF-8 text: 2 of 3"):
        find_training_files([str(tmp_path / "lines")])
    (tmp_path / "lines").write_bytes("à\nb\nc\n".encode("latin-1"))
    (tmp_path / "empty").touch()
    (tmp_path / "essay").write_text("One text.\n")
    assert len(find_training_files([str(tmp_path / "rows"), str(tmp_path / "lines")])) == 2
    assert len(find_training_files([str(tmp_path / "e*")], whole_files=True)) == 2


@pytest.mark.parametrize("command", ["contamination", "overlap"])
def test_commands_find_nothing_clean_that_was_not_read(
    command: str, tmp_path: Path, run: Command
) -> None:
    (tmp_path / "good.jsonl").write_bytes(json_lines(GOOD))
    good, slip = tmp_path / "good.jsonl", f"{tmp_path}/good.jsonl#txt"
    for sides in ((good, slip), (slip, good)):
        first, second = {"contamination": ("--train", "--eval"), "overlap": ("--with",) * 2}[
            command
        ]
        given = [*([first] if command == "contamination" else []), sides[0], second, sides[1]]
        ran = run(command, *given, "--output", tmp_path / "found", "--workers", "1", status=1)
        assert "good.jsonl: no text in the column txt (rejected: 1 no-text)" in ran.err
        assert not ran.out
        assert not (tmp_path / "found").exists()


_MEASURE = """
import resource, sys
from corpusmill.pipelines.inspect.text_sources import find_training_files
from corpusmill.transforms.files.read_files import InputError
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    find_training_files(sys.argv[1:2], whole_files=bool(sys.argv[2]))
except (InputError, ValueError) as error:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, error)
"""


@pytest.mark.parametrize(
    ("beginning", "whole_files", "message"),
    [
        (b'{"text": "', "", "no line has at most 67,108,864 bytes"),
        (b'{"text": "x"}\n{"text": "', "1", ""),
        (b"", "", "no text (rejected: 1 line-too-long)"),
        (b"", "1", "more than 67,108,864 bytes, too many for a single document"),
    ],
)
def test_a_line_of_any_size_is_read_in_limited_memory(
    beginning: bytes, whole_files: str, message: str, tmp_path: Path
) -> None:
    content_mb = 600
    path = tmp_path / "bomb.zst"
    with zstandard.open(path, "wb") as stream:
        stream.write(beginning)
        for _ in range(content_mb):
            stream.write(b"a" * (1 << 20))
        stream.write(b'"}\n' if beginning else b"\n")
    command = [sys.executable, "-c", _MEASURE, str(path), whole_files]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert message in out
    assert not out or int(out.split()[0]) < content_mb * 1024 // 2
