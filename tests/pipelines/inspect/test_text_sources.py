"""Data from which no text can be read is an error, for training data, evaluation sets and data sets alike."""

import bz2
import gzip
import io
import json
import lzma
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from corpusmill.pipelines.cli import main
from corpusmill.pipelines.inspect.text_sources import (
    find_data_sets,
    find_evaluation_sets,
    find_training_files,
)
from corpusmill.transforms.duplicates.find_contamination import read_evaluation_sets
from corpusmill.transforms.duplicates.read_texts import read_texts, shapes
from corpusmill.transforms.files.builds.manifest import COMPLETED
from corpusmill.transforms.files.read_files import InputError
from tests.makers.book_files import tar_file, zip_file
from tests.makers.edition_builds import article, make_edition
from tests.makers.finished_builds import make_build
from tests.makers.spm_models import small_model
from tests.tools.case_tables import read_cases

GOOD = {"id": "1", "text": "The old bridge was closed."}
FINDERS: Sequence[Callable[[Sequence[str]], Any]] = (
    find_training_files,
    find_evaluation_sets,
    find_data_sets,
)


def json_lines(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def parquet(rows: str) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(json.loads(rows)), stream)
    return stream.getvalue()


def arrow(rows: str) -> bytes:
    stream, table = io.BytesIO(), pa.Table.from_pylist(json.loads(rows))
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue()


MAKERS: Mapping[str, Callable[[str], bytes]] = {
    "text": str.encode,
    "latin-1": lambda text: text.encode("latin-1"),
    "utf-16": lambda text: text.encode("utf-16"),
    "parquet": parquet,
    "arrow": arrow,
    "zip": lambda text: zip_file({"a.txt": text.encode()} if text else {}),
    "picture": lambda _: b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 9,
    "noise": lambda _: bytes(range(1, 256)) * 40,
}
PACKERS = {
    "": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
    "tar": lambda content: tar_file({"a.jsonl": content}),
}
WRONG = read_cases("duplicates/wrong_inputs", "input")


def write_wrong(folder: Path, case: Mapping[str, Any], prefix: str = "") -> Path:
    path = folder / (prefix + case["name"].partition("#")[0])
    path.write_bytes(
        PACKERS[case.get("packed", "")](MAKERS[case.get("make", "text")](case["content"]))
    )
    return path


SETS = read_cases("duplicates/evaluation_sets", "case")


def evaluation_files(case: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    """Yields the name and the content of each kind of file with the row of an evaluation set."""
    document = case.get("document", f"[{case.get('row')}]")
    yield "a.json", json.dumps(json.loads(document), indent=1).encode()
    if "row" in case:
        yield "a.jsonl", case["row"].encode()
        yield "a.parquet", parquet(document)
        yield "a.arrow", arrow(document)


@pytest.mark.parametrize("case", SETS, ids=lambda case: case["shape"])
def test_the_parts_of_a_common_evaluation_set_are_known(
    case: dict[str, str], tmp_path: Path
) -> None:
    wanted = [(case["question"], "question", case.get("answer", ""))]
    wanted += [(case["context"], "context", "")] if "context" in case else []
    wanted += [(case["answer"], "answer", "")] if "long" in case else []
    for name, content in evaluation_files(case):
        (tmp_path / name).write_bytes(content)
        (found,) = find_evaluation_sets([str(tmp_path / name)])
        assert found.files[0].shape == case["shape"]
        items = read_evaluation_sets([found], 8).items
        assert [(item.text, item.part, item.answer) for item in items] == wanted
        assert {item.id.rpartition("/")[0] for item in items} == {case["id"]}


@pytest.mark.parametrize(
    "layout",
    [
        "{config}/{split}-00000-of-00001.parquet",
        "{config}/0.0.0/0123456789abcdef0123/{split}.arrow",
        "data/{config}/{split}.jsonl",
    ],
)
def test_the_configurations_of_a_folder_are_splits(layout: str, tmp_path: Path) -> None:
    folder = tmp_path / "mmlu"
    rows = '[{"question": "Which of these is a prime?", "choices": ["4", "7"], "answer": 1}]'
    makers = {".parquet": parquet, ".arrow": arrow, ".jsonl": lambda rows: rows[1:-1].encode()}
    for config in ("algebra", "botany"):
        for split in ("train", "test", "validation"):
            path = folder / layout.format(config=config, split=split)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(makers[path.suffix](rows))
            (path.parent / "dataset_info.json").write_text("{}")
    (found,) = find_evaluation_sets([str(folder)])
    items = read_evaluation_sets([found], 8).items
    splits = ["algebra test", "algebra validation", "botany test", "botany validation"]
    assert [(item.set, item.split, item.answer) for item in items] == [
        ("mmlu", split, "7") for split in splits
    ]
    with pytest.raises(InputError, match=r"no finished build .*mmlu/\*.parquet"):
        find_training_files([str(folder)])


def test_columns_may_be_inside_others(tmp_path: Path) -> None:
    row = {"answers": {"text": ["The old", "bridge"]}, "a.b": "dot"}
    contents = {"a.parquet": parquet(json.dumps([row])), "a.jsonl": json_lines(row)}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        (file,) = find_training_files([f"{tmp_path}/{name}#answers.text,a.b"])
        (batch,) = read_texts(file)
        assert batch.texts == ["The old\nbridge", "dot"]
        assert batch.ids == ["0/answers.text", "0/a.b"]


@pytest.mark.parametrize(
    "case", read_cases("duplicates/wrong_inputs", "read"), ids=lambda case: case["name"]
)
def test_files_of_other_kinds_are_read(case: Mapping[str, Any], tmp_path: Path) -> None:
    (file,) = find_training_files([str(write_wrong(tmp_path, case))])
    batches = list(read_texts(file))
    assert [text for batch in batches for text in batch.texts] == case["texts"]
    assert [key for batch in batches for key in batch.ids] == case["ids"]


def test_lines_of_records_are_read_if_it_is_said(tmp_path: Path) -> None:
    (case,) = (case for case in WRONG if case["name"] == "table.txt")
    path = write_wrong(tmp_path, case)
    (file,) = find_training_files([f"{path}#lines"])
    (batch,) = read_texts(file)
    assert batch.texts == case["content"].splitlines()


@pytest.mark.parametrize("find", FINDERS)
def test_an_unknown_column_of_ids_is_an_error(find: Any, tmp_path: Path) -> None:
    (tmp_path / "good.jsonl").write_bytes(json_lines(GOOD))
    for argument in (tmp_path / "good.jsonl", f"{tmp_path}/good.jsonl#text"):
        with pytest.raises(ValueError, match="no column nope with ids; the file has id"):
            find([str(argument)], "nope")


def test_each_known_evaluation_set_is_tested() -> None:
    assert {case["shape"] for case in SETS} == {*shapes()}
    assert len(shapes()) >= 30


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case["name"])
def test_a_file_without_text_is_an_error(case: Mapping[str, Any], tmp_path: Path) -> None:
    path = write_wrong(tmp_path, case)
    (tmp_path / "good").write_bytes(json_lines(GOOD))
    for find in FINDERS:
        with pytest.raises((InputError, ValueError), match=case["error"]) as error:
            find([str(tmp_path / "good"), f"{tmp_path}/{case['name']}"])
        assert str(path) in str(error.value)


def test_deep_json_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "deep.jsonl").write_bytes(b'{"text":' + b"[" * 100_000)
    with pytest.raises(InputError, match="line at byte 0: maximum recursion"):
        find_training_files([str(tmp_path / "deep.jsonl")])


COMMANDS = {
    "contamination --train": "contamination --train {wrong} --eval {good} --output {out}",
    "contamination --eval": "contamination --train {good} --eval {wrong} --output {out}",
    "overlap": "overlap {wrong} --with {good} --output {out}",
    "overlap --with": "overlap {good} --with {wrong} --output {out}",
    "subwords": "subwords --corpora en={path} --size 100 --output {out}",
    "score bpc": "score bpc --corpus {build} --log-likelihood {path}",
    "score mixture": "score mixture --corpus {build} --models {split} {split}",
    "score spbleu": "score spbleu --reference {text} --hypothesis {path} --model {model}",
    "tokenize": "tokenize {path} --output {out}",
    "ngrams": "ngrams --corpus {path} --output {out}",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_reads_a_wrong_file(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "good.jsonl").write_bytes(json_lines(GOOD))
    (tmp_path / "text").write_text("The old bridge was closed.\n" * 3)
    (tmp_path / "model").write_bytes(small_model())
    ids = {split: [[f"Q{number}" for number in range(3)]] for split in ("validation", "test")}
    counts = {"articles": 3, "words": 200, "characters": 1000, "pieces": 250}
    build = make_build(
        tmp_path,
        "uk",
        ids,
        stats={"validation": counts, "test": counts},
        signature="wiki40b|lang:uk|dump:20260101|lists:none|v:1.0.0",
    )
    for case in (case for case in WRONG if command not in case.get("read_by", ())):
        path = write_wrong(tmp_path, case)
        write_wrong(tmp_path, case, "test-")
        write_wrong(tmp_path, case, "validation-")
        words = COMMANDS[command].split()
        given = [
            word.format(
                wrong=f"{tmp_path}/{case['name']}",
                path=path,
                good=tmp_path / "good.jsonl",
                text=tmp_path / "text",
                model=tmp_path / "model",
                build=build,
                split=f"{tmp_path}/{{split}}-{path.name}",
                out=tmp_path / "out",
            )
            for word in words
        ]
        status = main(given)
        said = capsys.readouterr()
        assert status in (1, 2), (case["name"], said)
        assert path.name in said.err, case["name"]
        assert said.err.startswith("corpusmill: error: "), said.err
        assert not said.out
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("find", FINDERS)
def test_a_build_without_documents_is_an_error(
    find: Callable[[Sequence[str]], Any], tmp_path: Path
) -> None:
    build = make_edition(tmp_path, {"train": [[]], "validation": [[]], "test": [[]]})
    with pytest.raises(InputError, match=f"{build}: no text in the column text"):
        find([str(build)])


def test_unfinished_builds_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("whole", "part"):
        splits = {"train": [[article("Q1", "Text.")]], "validation": [[]], "test": [[]]}
        build = make_edition(tmp_path / name, splits)
    (Path(build) / COMPLETED).unlink()
    assert len(find_training_files([str(tmp_path)])) == 1
    assert f"skipped a build that is not finished: {build}" in caplog.text


def test_a_shard_without_documents_is_read(tmp_path: Path) -> None:
    build = make_edition(
        tmp_path, {"train": [[], [article("Q1", "Text.")]], "validation": [[]], "test": [[]]}
    )
    assert len(find_training_files([str(build)])) == 2


def test_texts_are_read_beside_some_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(json_lines({"text": None}, {"id": "2"}, GOOD))
    (tmp_path / "lines").write_bytes("à\nPiù in là\nb\n".encode("latin-1") + b"\n")
    with pytest.raises(InputError, match="most of its rows cannot be read: 2 of 3"):
        find_training_files([str(tmp_path / "lines")])
    (tmp_path / "lines").write_bytes("à\nb\nc\n".encode("latin-1"))
    (tmp_path / "empty").touch()
    (tmp_path / "essay").write_text("One text.\n")
    assert len(find_training_files([str(tmp_path / "rows"), str(tmp_path / "lines")])) == 2
    assert len(find_training_files([str(tmp_path / "e*")], whole_files=True)) == 2


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
