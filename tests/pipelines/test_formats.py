"""Each corpus is built once in all formats, and the files must hold the same rows."""

import dataclasses
import gzip
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from corpusmill.pipelines import sample_builds
from corpusmill.pipelines.cli import main
from corpusmill.pipelines.inspect import cleaned_build
from corpusmill.pipelines.inspect.verify import verify
from corpusmill.pipelines.lm1b_settings import Lm1bConfig
from corpusmill.pipelines.run import corpora
from corpusmill.pipelines.run.launch import launch
from corpusmill.pipelines.run.publish import TargetError, is_built
from corpusmill.pipelines.wiki40b import Wiki40b
from corpusmill.transforms.files import tfrecord
from corpusmill.transforms.files.builds import finished_builds
from corpusmill.transforms.files.builds.check_builds import check_counts, find_fault, list_files
from corpusmill.transforms.files.builds.dataset_card import read_head
from corpusmill.transforms.files.builds.finished_builds import open_build
from corpusmill.transforms.files.builds.ledger import DOUBTS
from corpusmill.transforms.files.formats import (
    CHOICES,
    FORMATS,
    PARQUET,
    formats_of,
    loadable_suffix,
    parse_formats,
)
from corpusmill.transforms.files.markup import escape_field
from corpusmill.transforms.files.read_files import InputError
from tests.makers.finished_builds import manifest_of, seal

ALL = ",".join(CHOICES)


def config_of(corpus: str) -> Any:
    """Returns settings for the samples of a corpus."""
    if corpus == "wiki40b":
        return dataclasses.replace(sample_builds.sample_config("uk"), vocabulary_size=0)
    of_samples: Callable[[], Any] = getattr(
        sample_builds, "sample_news" if corpus == "lm1b" else f"sample_{corpus}"
    )
    return of_samples()


def build(folder: Path, corpus: str, formats: str) -> Path:
    """Builds a corpus from the samples, and returns the folder of the build."""
    made, _ = corpora.rows()[corpus].classes()
    launch(
        made(dataclasses.replace(config_of(corpus), formats=formats)),
        str(folder),
        workers=1,
        accept=DOUBTS,
    )
    (completed,) = folder.glob("*/*/*/COMPLETED")
    return completed.parent


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("pg19", "simplebooks", "flores101")]


@pytest.fixture(scope="module", params=["wiki40b", "lm1b", *SLOW], ids=str)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of a corpus in all formats."""
    return build(tmp_path_factory.mktemp(request.param), request.param, ALL)


@pytest.fixture(scope="module")
def in_lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of Wiki-40B with JSON lines and text, and without Parquet."""
    return build(tmp_path_factory.mktemp("lines"), "wiki40b", "jsonl.zst,text")


def content_of(path: Path) -> str:
    data = path.read_bytes()
    if path.suffix == ".gz":
        assert data[3:8] == bytes(5)  # neither a name nor a time
        data = gzip.decompress(data)
    elif path.suffix == ".zst":
        data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
    return data.decode("utf-8")


def rows_of(folder: Path, split: str, kind: str) -> list[Any]:
    """The rows of a split in a format of lines, in the order of the files."""
    paths = sorted(folder.glob(f"{split}-*-of-*{FORMATS[kind].suffix}"))
    return [line for path in paths for line in content_of(path).split("\n")[:-1]]


def test_every_format_has_the_rows_of_parquet(built: Path) -> None:
    manifest = json.loads((built / "manifest.json").read_text("utf-8"))
    assert manifest["settings"]["formats"] == ALL
    text = "book_text" if manifest["corpus"] == "pg19" else "text"
    splits = {one["split"] for one in manifest["outputs"] if one["format"] == PARQUET} - {""}
    assert splits
    for split in splits:
        paths = sorted(built.glob(f"{split}-*.parquet"))
        rows = [row for path in paths for row in pq.read_table(path).to_pylist()]
        for kind in CHOICES[2:]:
            if manifest["corpus"] == "lm1b" and kind == "text":
                assert not list(built.glob("*.txt"))  # the release has the text under other names
                continue
            lines = rows_of(built, split, kind)
            if kind.startswith("text"):
                assert lines == [escape_field(row[text]) for row in rows]
            else:
                assert list(map(json.loads, lines)) == rows
            records = [
                one["records"]
                for one in manifest["outputs"]
                if (one["format"], one["split"]) == (kind, split)
            ]
            assert sum(records) == len(rows)


def test_lines_of_every_format_are_counted(built: Path) -> None:
    opened = open_build(str(built))
    assert not list(check_counts(opened))
    for file in list_files(opened):
        assert not find_fault(file)
        if file.listed.format in CHOICES[2:]:
            more = file.listed._replace(records=file.listed.records + 1)
            assert "lines, but" in find_fault(file._replace(listed=more))


def test_json_lines_are_read_where_there_is_no_parquet(in_lines: Path) -> None:
    verdict = verify([str(in_lines)])
    assert verdict.is_sound
    assert verdict.counts.ids
    head = read_head((in_lines / "README.md").read_text("utf-8"))
    assert head
    assert {one.path for one in head.configs[0].data_files} == {
        f"{split}-*.jsonl.zst" for split in ("train", "validation", "test")
    }
    assert not (in_lines / "dataset_info.json").exists()


def test_other_formats_need_another_folder(in_lines: Path) -> None:
    with pytest.raises(TargetError, match=r"with other settings .*formats.*--replace"):
        is_built(str(in_lines), Wiki40b(config_of("wiki40b")))


def test_text_alone_is_neither_read_nor_loaded(
    in_lines: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(in_lines, tmp_path / in_lines.name))
    manifest = manifest_of(folder)
    manifest["settings"]["formats"] = "text"
    for file in manifest["outputs"]:
        if file["format"] == "jsonl.zst":
            (folder / file["name"]).unlink()
    manifest["outputs"] = [one for one in manifest["outputs"] if one["format"] != "jsonl.zst"]
    seal(folder, manifest)
    of_text = open_build(str(folder))
    with pytest.raises(InputError, match="only as text; this command reads parquet, jsonl"):
        _ = of_text.format
    assert loadable_suffix(of_text.manifest) == ".txt"
    records = [{**one, "format": "tfrecord"} for one in manifest["outputs"]]
    assert not loadable_suffix({"outputs": records})
    assert main(["verify", str(folder)]) == 0
    assert "was not checked whether an entity is in two splits" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("csv", "unknown format 'csv'; the formats are parquet, tfrecord, jsonl"),
        ("", "unknown format ''"),
        ("jsonl,jsonl", "the format jsonl is named twice"),
        ("jsonl,parquet", "write it as parquet,jsonl"),
    ],
)
def test_formats_that_are_unknown_repeated_or_in_another_order_are_rejected(
    text: str, message: str
) -> None:
    with pytest.raises(ValueError, match=f"formats: {message}"):
        Lm1bConfig(["x"], formats=text)


def test_files_with_names_of_a_release_are_no_format() -> None:
    names = {"tfrecord": "lm1b-train.tfrecord-00000-of-00016", "text": "training/news.en-00001"}
    outputs = [{"split": "train", "format": kind, "name": name} for kind, name in names.items()]
    assert formats_of({"outputs": outputs}) == ("tfrecord",)


def test_formats_may_be_in_any_order() -> None:
    assert parse_formats("tfrecord, parquet") == ("parquet", "tfrecord")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b"5\n", "a line is not an object"),
        ("a.jsonl", b'{"text": ' + b"[" * 100_000, "recursion"),
        ("a.jsonl", b'{"n": 1267650600228229401496703205376}\n', "too big|too large"),
        ("a.jsonl.gz", gzip.compress(b'{"text": "a"}\n', mtime=0)[:-9], ""),
    ],
)
def test_damaged_lines_are_an_error_with_the_path(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"(?is)a.jsonl.*{message}"):
        finished_builds.count_rows(str(path))


def test_files_without_rows_have_no_columns_and_the_next_one_has(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"")
    (tmp_path / "b.jsonl").write_bytes(b'{"text": "a"}\n')
    paths = [str(tmp_path / name) for name in ("a.jsonl", "b.jsonl")]
    assert finished_builds.schema_of_files(paths).names == ["text"]
    assert finished_builds.text_bytes_of(paths[0], "text") == 0


def test_plain_text_is_not_decompressed() -> None:
    count = FORMATS["text"].count_lines
    assert count
    assert count(io.BytesIO(b"BZh1 is a word.\n")) == 1


def test_numbers_that_no_row_has_are_zero_in_records() -> None:
    schema = pa.schema([("id", pa.string()), ("latest_year", pa.null())])
    (record,) = tfrecord.encode_rows(schema, [("a", None)])
    assert b"latest_year" in record


def test_rows_without_ids_are_removed_only_from_parquet(tmp_path: Path) -> None:
    """Their hits name the rows by number in Parquet, and by place in lines."""
    lines = open_build(str(build(tmp_path, "lm1b", "jsonl")))
    with pytest.raises(ValueError, match="build the corpus with parquet"):
        cleaned_build.check_removable(lines, passages=False)
