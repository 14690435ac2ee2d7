"""Documents and passages are removed from Parquet files and JSON lines that no build has."""

import bz2
import datetime
import gzip
import json
import lzma
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from corpusmill.pipelines.inspect import remove_documents
from corpusmill.pipelines.inspect.edit_files import cut, format_of
from corpusmill.pipelines.inspect.remove_documents import HitsOf
from corpusmill.pipelines.inspect.verify import verify
from corpusmill.transforms.duplicates.folded_words import places_in
from corpusmill.transforms.files.read_files import InputError
from tests.makers.book_files import tar_file
from tests.makers.wiki_builds import Command
from tests.tools.case_tables import read_cases

LEAK = "seven grey herons waited beside the frozen canal until our ferry finally brought them bread"
CODECS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "": (bytes, bytes),
    ".gz": (gzip.compress, gzip.decompress),
    ".bz2": (bz2.compress, bz2.decompress),
    ".xz": (lzma.compress, lzma.decompress),
    ".zst": (
        zstandard.ZstdCompressor().compress,
        lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
    ),
}
SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), metadata={"unit": "name"}),
        pa.field("text", pa.large_string()),
        pa.field("meta", pa.struct([("url", pa.string()), ("tags", pa.list_(pa.string()))])),
        pa.field("source", pa.dictionary(pa.int32(), pa.string())),
        pa.field("day", pa.timestamp("us")),
    ],
    {"huggingface": '{"info": 1}'},
)


def remove(
    run: Command, folder: Path, *train: object, how: str = "passages", workers: int = 1,
    items: Iterable[str] = (LEAK,),
) -> Path:  # fmt: skip
    """The new folder without the items."""
    (folder / "items.txt").write_text("\n".join(items), "utf-8")
    given = "--train", *train, "--eval", folder / "items.txt", "--output", folder / "found"
    more = "--editions", folder / "new", "--workers", workers
    run("contamination", *given, "--remove", how, *more, status=1)
    (edition,) = (folder / "new").iterdir()
    return edition


def rows(count: int, leaks: dict[int, str]) -> list[dict[str, Any]]:
    return [
        {
            "id": None if row % 4 == 1 else f"doc {row % 3}",  # ids repeat
            "text": leaks.get(row, None if row == 5 else f"page {row} is about number {row * 7}"),
            "meta": {"url": f"u{row}", "tags": [None, "a"] if row % 2 else []} if row % 3 else None,
            "source": ("web", "book", None)[row % 3],
            "day": datetime.datetime(2026, 1, row + 1),
        }
        for row in range(count)
    ]


def write_parquet(path: Path, found: list[dict[str, Any]], **options: Any) -> pq.ParquetFile:
    pq.write_table(pa.Table.from_pylist(found, SCHEMA), path, row_group_size=4, **options)
    return pq.ParquetFile(path)


def chunk_facts(file: pq.ParquetFile) -> list[tuple[Any, ...]]:
    chunks = file.metadata.row_group(0).to_dict()["columns"]
    names = "path_in_schema", "physical_type", "compression", "has_dictionary_page", "is_stats_set"
    return [tuple(one[name] for name in names) for one in chunks]


def removed_rows(edition: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(
        edition / "removed-00000-of-00001.parquet"
    ).to_pylist()
    return found


def test_parquet_files_keep_all_else(tmp_path: Path, run: Command) -> None:
    before = rows(10, {2: f"First. {LEAK}, he said.", 3: LEAK, 8: f"{LEAK}!"})
    foreign = {
        "store_schema": False,
        "compression": "gzip",
        "use_deprecated_int96_timestamps": True,
    }
    for folder in ("de", "en"):
        (tmp_path / folder).mkdir()
    old = write_parquet(tmp_path / "de/a.parquet", before, **foreign, use_dictionary=["source"])
    write_parquet(tmp_path / "en/a.parquet", rows(6, {}))
    edition = remove(run, tmp_path, tmp_path / "*/a.parquet")
    new = pq.ParquetFile(edition / "data/de/a.parquet")
    assert new.schema.equals(old.schema)
    assert new.schema_arrow.equals(old.schema_arrow, check_metadata=True)
    assert chunk_facts(new) == chunk_facts(old)
    assert [new.metadata.row_group(number).num_rows for number in range(3)] == [3, 4, 1]
    expected = old.read().to_pylist()
    expected[2]["text"] = "First. , he said."
    assert new.read().to_pylist() == [
        row for place, row in enumerate(expected) if place not in (3, 8)
    ]
    same = "en/a.parquet"
    assert (edition / "data" / same).read_bytes() == (tmp_path / same).read_bytes()
    listed = [(row["row"], row["id"], row["reason"]) for row in removed_rows(edition)]
    assert sorted(listed) == [
        (2, "doc 2", "in-evaluation-set"), (3, "doc 0", "nothing-left"), (8, "doc 2", "nothing-left")
    ]  # fmt: skip
    counts = json.loads((edition / "manifest.json").read_text("utf-8"))["counts"]
    assert (counts["rows_read"], counts["kept"], counts["changed"]) == (16, 14, 1)
    assert verify([str(tmp_path / "new"), str(tmp_path / "found")], workers=1).is_sound


def set_first_version(path: Path) -> None:
    """Sets the version in the footer of a Parquet file, as other programs do beside newer types."""
    content = bytearray(path.read_bytes())
    at = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    assert content[at : at + 2] == b"\x15\x04"
    content[at + 1] = 2
    path.write_bytes(content)


def test_columns_of_all_types_are_kept(tmp_path: Path, run: Command) -> None:
    offsets = pa.array([b"\xff", b"\xfe"]).buffers()[1:]
    table = pa.table(
        {
            "text": [LEAK, "a page"],
            "nanoseconds": pa.array([1, 1_700_000_000_000_000_001], pa.timestamp("ns")),
            "far": pa.array([2_000_000_000, -2_000_000_000], pa.date32()),
            "malformed": pa.StringArray.from_buffers(2, *offsets),
            "unsigned": pa.array([1, 2**32 - 1], pa.uint32()),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    set_first_version(tmp_path / "a.parquet")
    edition = remove(run, tmp_path, tmp_path / "a.parquet")
    assert pq.read_table(edition / "data/a.parquet").equals(table.slice(1))


def test_other_types_than_before_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_parquet(tmp_path / "a.parquet", rows(4, {}))
    monkeypatch.setattr(pq, "read_schema", lambda _: SCHEMA.remove(0))
    with pytest.raises(InputError, match="cannot be written with the same types"):
        format_of(str(tmp_path / "a.parquet"))


def lines_of(leak: str) -> tuple[str, str]:
    """JSON lines with a text, and without it."""
    cases = read_cases("pipelines/new_editions", "json_lines")
    before, after = (
        [line.replace("%s", leak) for line in lines] for lines in zip(*cases, strict=True)
    )
    return "\n".join(before), "\n".join(line for line in after if line != "removed")


def test_other_bytes_of_json_lines_stay(tmp_path: Path, run: Command) -> None:
    # A text that is in most files is no leak.
    leaks = {codec: " ".join(f"{word}{codec[1:]}" for word in LEAK.split()) for codec in CODECS}
    for codec, (compress, _) in CODECS.items():
        content = lines_of(leaks[codec])[0].encode()
        (tmp_path / f"web.jsonl{codec}").write_bytes(compress(content))
        (tmp_path / f"more.jsonl{codec}").write_bytes(compress(b'{"text": "a third page"}\n'))
    edition = remove(run, tmp_path, tmp_path / "*.jsonl*", items=leaks.values())
    for codec, (_, decompress) in CODECS.items():
        content = (edition / f"data/web.jsonl{codec}").read_bytes()
        assert decompress(content).decode() == lines_of(leaks[codec])[1]
        same = f"more.jsonl{codec}"
        assert (edition / "data" / same).read_bytes() == (tmp_path / same).read_bytes()
    listed = {(row["file"], row["row"], row["text"]) for row in removed_rows(edition)}
    assert listed == {
        (f"data/web.jsonl{codec}", row, leak) for codec, leak in leaks.items() for row in (2, 4, 5)
    }
    (edition / "data").rename(tmp_path / "clean")
    given = "--train", tmp_path / "clean/*", "--eval", tmp_path / "items.txt"
    run("contamination", *given, "--workers", 1, status=0)


@pytest.mark.slow
def test_copies_are_the_same_for_any_workers_and_after_a_failure(
    tmp_path: Path, run: Command, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write_parquet(tmp_path / "a.parquet", rows(10, {2: LEAK, 7: f"so {LEAK}"}))
    lines = [json.dumps({"text": f"{row} {LEAK}" if row == 3 else "page"}) for row in range(9)]
    (tmp_path / "b.jsonl").write_text("\n".join(lines), "utf-8")
    train = tmp_path / "a.parquet", tmp_path / "b.jsonl"
    with monkeypatch.context() as patch:
        patch.setattr(remove_documents, "copy_file", None)
        with pytest.raises(TypeError, match="not callable"):
            remove(run, tmp_path, *train)
    assert not list((tmp_path / "new").iterdir())
    contents = []
    for workers in (1, 2):
        edition = remove(run, tmp_path, *train, how="documents", workers=workers)
        assert [json.loads(line) for line in (edition / "data/b.jsonl").open()] == [
            json.loads(line) for line in (*lines[:3], *lines[4:])
        ]
        files = sorted(path for path in edition.rglob("*") if path.is_file())
        contents.append({path.relative_to(edition): path.read_bytes() for path in files})
        remove(run, tmp_path, *train, how="documents")
        assert f"{edition}: the files are copied already" in caplog.text
        (tmp_path / "new").rename(tmp_path / f"with {workers}")
    assert contents[0] == contents[1]


def test_near_duplicates_are_dropped_from_files(tmp_path: Path, run: Command) -> None:
    texts = {row: f"{LEAK} and {number * LEAK}" for row, number in ((2, 2), (6, 2), (7, 3))}
    write_parquet(tmp_path / "a.parquet", rows(8, {2: texts[2], 6: texts[6]})[2:7:4])
    (tmp_path / "b.jsonl").write_text(json.dumps({"id": 7, "text": texts[6]}), "utf-8")
    given = "--drop-from", "second", "--output", tmp_path / "found", "--editions", tmp_path / "new"
    run(
        "overlap",
        tmp_path / "b.jsonl",
        "--with",
        f"{tmp_path / 'a.parquet'}#text",
        *given,
        status=0,
    )
    (edition,) = (tmp_path / "new").iterdir()
    assert not pq.read_table(edition / "data/a.parquet").num_rows
    assert {row["reason"] for row in removed_rows(edition)} == {"near-duplicate"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    read_cases("pipelines/new_editions", "files_that_cannot_be_copied"),
)
def test_files_that_cannot_be_copied_are_refused_before_the_search(
    name: str, content: str, message: str, tmp_path: Path, run: Command
) -> None:
    data = content.encode()
    if name.endswith((".tar", ".gz")):
        data = CODECS.get(Path(name).suffix, CODECS[""])[0](tar_file({"a.jsonl": data}))
    (tmp_path / name).write_bytes(data)
    given = "--train", tmp_path / name, "--eval", tmp_path / name, "--output", tmp_path / "found"
    how = "--remove", "documents", "--editions", tmp_path / "new"
    assert message in run("contamination", *given, *how, status=2).err
    assert not (tmp_path / "found").exists()


def test_passages_of_lists_are_refused(tmp_path: Path, run: Command) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": ["a page", LEAK]}), "utf-8")
    given = "--train", tmp_path / "a.jsonl", "--eval", tmp_path / "items.txt"
    (tmp_path / "items.txt").write_text(LEAK, "utf-8")
    how = "--output", tmp_path / "found", "--editions", tmp_path / "new", "--remove", "passages"
    assert (
        "only whole documents can be removed"
        in run("contamination", "--workers", 1, *given, *how, status=1).err
    )


@pytest.mark.parametrize(("tier", "removed"), [("copied", 1), ("partly", 2), ("common", 3)])
def test_hits_are_removed_by_tier(tier: str, removed: int) -> None:
    hit = {"file": "a", "document": "1", "set": "s", "split": "", "item": "1", "words": 9}
    hits = [{**hit, "position": "0", "tier": one} for one in ("copied", "partly", "common")]
    wanted = HitsOf("", has_ids=False, by_passage=False, tier=tier)
    assert len([one for row in hits for one in wanted.read(row)]) == removed


@pytest.mark.parametrize(
    ("text", "start", "end", "left"),
    read_cases("pipelines/new_editions", "positions_are_those_of_nfc"),
)
def test_positions_are_those_of_nfc(text: str, start: int, end: int, left: str) -> None:
    assert cut(text, [tuple(places_in(text, [start, end]))]) == left
