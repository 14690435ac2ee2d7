"""Texts of all kinds of files."""

import bz2
import gzip
import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpusmill.transforms.duplicates import read_texts as read_module
from corpusmill.transforms.duplicates.read_texts import (
    FILES,
    TextFile,
    columns_of_file,
    plan_parts,
    read_part,
    read_texts,
)
from corpusmill.transforms.files import work_units
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.text_kinds import JSON_LINES, LINES, PARQUET, kind_of_file

ROWS = [
    {"id": 7, "q": "One?", "a": ["Yes", "No"]},
    {"id": None, "q": "Two?", "a": None},
    {"id": 9, "q": " ", "a": []},
]
LINE_BYTES = [len(json.dumps(row)) + 1 for row in ROWS]


def texts_of(file: TextFile) -> tuple[dict[str, str], dict[str, int]]:
    """(id → text, reason → count)."""
    texts: dict[str, str] = {}
    rejected: Counter[str] = Counter()
    for batch in read_texts(file):
        texts |= dict(zip(batch.ids, batch.texts, strict=True))
        rejected.update(batch.rejected)
    return texts, dict(rejected)


def write(path: Path, kind: str) -> str:
    """The rows as a file."""
    if kind == PARQUET:
        pq.write_table(pa.Table.from_pylist(ROWS), path, row_group_size=2)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    assert kind_of_file(str(path)) == kind
    assert columns_of_file(str(path), kind) == ["id", "q", "a"]
    return str(path)


@pytest.mark.parametrize("rows_at_once", [1, 100])
@pytest.mark.parametrize(
    ("kind", "columns", "key", "texts", "rejected"),
    [
        (PARQUET, ("q",), "", {"0": "One?", "1": "Two?"}, 1),
        (PARQUET, ("q",), "id", {"7": "One?", "1": "Two?"}, 1),
        (PARQUET, ("q", "a"), "id", {"7/q": "One?", "7/a": "Yes\nNo", "1/q": "Two?"}, 3),
        (JSON_LINES, ("q",), "", {"0": "One?", str(LINE_BYTES[0]): "Two?"}, 1),
        (JSON_LINES, ("a",), "id", {"7": "Yes\nNo"}, 2),
        (JSON_LINES, ("none",), "id", {}, {"no-field": 3}),
        (
            JSON_LINES,
            ("none", "q"),
            "id",
            {"7/q": "One?", "" + str(LINE_BYTES[0]) + "/q": "Two?"},
            {"no-field": 3, "no-text": 1},
        ),
        (JSON_LINES, ("a.x",), "id", {}, {"no-field": 2, "no-text": 1}),
    ],
)
def test_columns(
    kind: str,
    columns: tuple[str, ...],
    key: str,
    texts: dict,
    rejected: int | dict[str, int],
    rows_at_once: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(read_module, "_BATCH_ROWS", rows_at_once)
    file = TextFile(write(tmp_path / "file", kind), kind, columns, key)
    counts = {"no-text": rejected} if isinstance(rejected, int) else rejected
    assert texts_of(file) == (texts, counts)


def test_a_sentence_in_braces_is_no_json(tmp_path: Path) -> None:
    (tmp_path / "psalms.txt").write_text("{1} In the beginning.\nMore.\n")
    assert kind_of_file(str(tmp_path / "psalms.txt")) == LINES


def test_lines_are_the_same_however_a_file_is_packed_and_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_units, "MIN_UNIT_BYTES", 1 << 14)
    lines = [f"Line {number} é" for number in range(20_000)]
    content = "\n".join(lines).encode()
    packed = {"a": content, "a.gz": gzip.compress(content, 1), "a.bz2": bz2.compress(content, 1)}
    found = {}
    for name, data in packed.items():
        (tmp_path / name).write_bytes(data)
        file = TextFile(str(tmp_path / name), kind_of_file(str(tmp_path / name)))
        parts = list(plan_parts(file, 3))
        batches = [batch for part in parts for batch in read_part(part)]
        found[name] = {
            key: text for one in batches for key, text in zip(one.ids, one.texts, strict=True)
        }
        assert sorted(found[name].values()) == sorted(lines)
        assert len(parts) > (name != "a.bz2")
    assert found["a"] == found["a.gz"]


def test_what_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"good\n\xff\xfe\n\n_X_good")
    file = TextFile(str(tmp_path / "text"), LINES, blank=("_X_",))
    assert texts_of(file) == (
        {"0": "good", "9": "\n  good"},
        {"malformed-utf-8": 1, "no-text": 1},
    )


READ = "read"


@pytest.mark.parametrize(
    "line",
    [
        rb'{"id": "bad", "q": "\ud800 half of a pair"}',
        rb'{"id": "bad", "q": ["one", "\udfff"]}',
        b'{"id": "bad", "q": "\xff"}',
        b'{"id": "bad", "q": "\xed\xa0\x80"}',
    ],
)
def test_a_text_that_is_no_unicode_is_rejected_and_counted(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b'{"id": "a", "q": "read"}\n%b\n{"id": "c", "q": "\\ud83d\\ude00"}\n' % line)
    file = TextFile(str(path), JSON_LINES, ("q",), "id")
    assert texts_of(file) == ({"a": READ, "c": "\U0001f600"}, {"malformed-utf-8": 1})
    path.write_bytes(line)
    assert columns_of_file(str(path), JSON_LINES) == ["id", "q"]


@pytest.mark.parametrize(
    "other", [rb'"x": "\ud800"', rb'"\ud800": 1', b'"x": NaN', b'"x": {"y": ["\xff"]}']
)
def test_other_values_of_a_row_do_not_matter(other: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b'\xef\xbb\xbf{%b, "q": "read", "id": "\\udc00"}\n' % other)
    assert texts_of(TextFile(str(path), JSON_LINES, ("q",), "id")) == ({"0": READ}, {})


@pytest.mark.parametrize("is_list", [False, True])
def test_a_value_of_parquet_that_is_no_utf_8_is_rejected_and_counted(
    is_list: bool, tmp_path: Path
) -> None:
    values = pa.array([b"read", b"\xed\xa0\x80", None], pa.binary())
    texts = pa.StringArray.from_buffers(3, *values.buffers()[1:], values.buffers()[0])
    column = pa.ListArray.from_arrays([0, 1, 2, 3], texts) if is_list else texts
    pq.write_table(pa.table({"q": column}), tmp_path / "file")
    file = TextFile(str(tmp_path / "file"), PARQUET, ("q",))
    assert texts_of(file) == ({"0": READ}, {"malformed-utf-8": 1, "no-text": 1})


@pytest.mark.parametrize("name", ["a.csv", "a.json"])
def test_long_texts_and_many_rows_are_read(name: str, tmp_path: Path) -> None:
    texts = ["a" * (1 << 20), *(f"text {number}" for number in range(30_000))]
    lines = (
        ["q", *texts] if name == "a.csv" else [json.dumps({"q": one}, indent=1) for one in texts]
    )
    (tmp_path / name).write_text("\n".join(lines))
    file = TextFile(str(tmp_path / name), kind_of_file(str(tmp_path / name)), ("q",))
    assert list(texts_of(file)[0].values()) == texts


def test_a_whole_file(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("one\ntwo\n")
    assert texts_of(TextFile(str(tmp_path / "text"), FILES)) == ({"": "one\ntwo\n"}, {})


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        (
            JSON_LINES,
            b'{"q": "a"}\n{"q": 7}\n',
            "file: line at byte 11: Expected `str | array | null`",
        ),
        (JSON_LINES, b'{"q": \n', "file: line at byte 0: Expecting value"),
        (PARQUET, b"PAR1....", "file: not a valid Parquet file"),
        (FILES, b"a\xff", "file, byte 1: not UTF-8"),
        (LINES, gzip.compress(b"line\n" * 1000, mtime=0)[:-9], "file"),
    ],
)
def test_damage(kind: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(InputError, match=message):
        texts_of(TextFile(str(tmp_path / "file"), kind, ("q",)))


@pytest.mark.parametrize(
    ("columns", "message"),
    [(("x",), "missing columns: x; the file has id, q, a"), (("id",), "but must contain text")],
)
def test_columns_that_are_no_texts(columns: tuple[str, ...], message: str, tmp_path: Path) -> None:
    file = TextFile(write(tmp_path / "file", PARQUET), PARQUET, columns)
    with pytest.raises(InputError, match=message):
        texts_of(file)


@pytest.mark.parametrize("line", [b"[1]", b'{"a": }', b'{"a":' + b"[" * 100_000])
def test_an_error_names_the_line_that_is_no_object(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_bytes(b"\n \n%b\n" % line)
    with pytest.raises(InputError, match=r"line at byte 3: "):
        columns_of_file(str(path), JSON_LINES)
