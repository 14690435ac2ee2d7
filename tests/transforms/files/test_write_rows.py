import hashlib
import json
import pickle
import random
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpusmill.transforms.books import book_rows
from corpusmill.transforms.books.book_accounts import BookStats, identity_of
from corpusmill.transforms.files.formats import file_name
from corpusmill.transforms.files.records import (
    Article,
    BookRow,
    CorpusStats,
    OutputFile,
    PackedArticle,
)
from corpusmill.transforms.files.scratch import Scratch, pack_text
from corpusmill.transforms.files.text import (
    SPLITS,
    Shard,
    fingerprint,
    split_of,
)
from corpusmill.transforms.files.tfrecord import encode_example, frame_record
from corpusmill.transforms.files.write_rows import (
    PlanShards,
    RowKind,
    WriteRecords,
    WriteRows,
    pack_rows,
    row_files,
    write_shard,
)
from corpusmill.transforms.wikipedia.article_rows import (
    ARTICLES,
    ShareOut,
    order,
    pack_article,
    to_bytes,
)
from tests.tools.golden_tree import tree_of
from tests.tools.run_pipeline import Outcome, run_inputs, run_transform

CORPUS = "corpus"
BOOK_SCHEMA = pa.schema(
    [
        pa.field("book_id", pa.int32(), nullable=False),
        pa.field("title", pa.string(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
    ]
)


class Made(NamedTuple):
    """A row, and what is expected of it."""

    row: Any
    split: str
    place: tuple[Any, ...]
    features: dict[str, str | int]


def article(page: int, identity: str = "", put_text: Callable[[str], bytes] = pack_text) -> Made:
    identity = identity or f"Q{page}"
    text = f"\n_START_ARTICLE_\nСтаття {page}\n_START_PARAGRAPH_\nтекст\x7f 富士山"
    packed = pack_article(Article(page, f"Стаття {page}", str(page * 10), text), put_text)
    return Made(
        packed._replace(wikidata_id=identity, split=split_of(identity)),
        split_of(identity),
        (fingerprint(identity), identity, page),
        {"wikidata_id": identity, "text": text, "version_id": str(page * 10)},
    )


def articles(folder: Path) -> list[Made]:
    stored = Scratch(str(folder)).put_text
    others = article(500, "Q7", stored), article(501, "ukwiki:501", stored)
    return [*map(article, range(1, 120)), *others]


def books(folder: Path) -> list[Made]:
    scratch = Scratch(str(folder))
    made = []
    for number in range(90_001, 90_061):
        text = f"Book {number}.\n\n" + "дві " * (number % 7 * 50)
        values = (number, f"Title {number}", scratch.put_text(text))
        split = "test" if number % 10 == 0 else "train"
        features = dict(zip(BOOK_SCHEMA.names, (*values[:2], text), strict=True))
        place = (fingerprint(identity_of(number)),)
        made.append(Made(BookRow(split, number, values), split, place, features))
    return made


class Family(NamedTuple):
    make: Callable[[Path], list[Made]]
    kind: RowKind
    counter: str
    small_batch: int


FAMILIES = {
    "articles": Family(articles, ARTICLES, "write-corpus/articles", 10),
    "books": Family(books, book_rows.book_rows(BOOK_SCHEMA), "write-books/books", 500),
}
SHARDS = {"train": 3, "validation": 1, "test": 2}


def write(folder: Path, made: list[Made], kind: RowKind, shards: Mapping[str, int]) -> Outcome:
    return run_inputs(
        lambda rows, plan: rows | WriteRows(str(folder), CORPUS, kind, plan),
        rows=[one.row for one in made],
        plan=[shards],
    )


@pytest.mark.parametrize("name", FAMILIES)
def test_both_formats_hold_the_rows_of_the_split_in_order(tmp_path: Path, name: str) -> None:
    family = FAMILIES[name]
    out = tmp_path / "out"
    out.mkdir()
    made = family.make(tmp_path)
    outcome = write(out, made, family.kind, SHARDS)
    assert outcome.counters == {family.counter: len(made)}
    tree = tree_of(out)
    for split, count in SHARDS.items():
        of_split = sorted((one for one in made if one.split == split), key=lambda one: one.place)
        places = [(split, shard, count) for shard in range(count)]
        tables = [
            pq.read_table(out / file_name("parquet", CORPUS, Shard(*place))) for place in places
        ]
        assert all(table.schema == family.kind.schema for table in tables)
        rows = [row for table in tables for row in table.to_pylist()]
        assert rows == [one.features for one in of_split]
        frames = b"".join(tree[file_name("tfrecord", CORPUS, Shard(*place))] for place in places)
        assert frames == b"".join(frame_record(encode_example(row)) for row in rows)
    files: list[OutputFile] = outcome.elements["main"]
    found = {file.name: (file.bytes, file.sha256) for file in files}
    assert found == {
        name: (len(data), hashlib.sha256(data).hexdigest()) for name, data in tree.items()
    }
    records: Counter[tuple[str, str]] = Counter()
    for file in files:
        records[file.format, file.split] += file.records
    kept = Counter(one.split for one in made)
    formats = ("parquet", "tfrecord")
    assert records == {(kind, split): kept[split] for kind in formats for split in SPLITS}
    again = tmp_path / "again"
    again.mkdir()
    write(again, random.Random(7).sample(made, len(made)), family.kind, SHARDS)
    assert tree_of(again) == tree


def test_a_shard_without_rows_is_a_file_too(tmp_path: Path) -> None:
    outcome = write(tmp_path, [article(1)], ARTICLES, {"train": 2, "validation": 1, "test": 1})
    assert len(outcome.elements["main"]) == 8
    assert sum(file.records for file in outcome.elements["main"]) == 2
    empty = pq.ParquetFile(tmp_path / "validation-00000-of-00001.parquet")
    assert (empty.schema_arrow, empty.num_row_groups) == (ARTICLES.schema, 0)
    assert (tmp_path / "corpus-test.tfrecord-00000-of-00001").read_bytes() == b""


@pytest.mark.parametrize("name", FAMILIES)
def test_the_batch_changes_the_row_groups_only(tmp_path: Path, name: str) -> None:
    family = FAMILIES[name]
    made = [one for one in family.make(tmp_path) if one.split == "train"]
    kinds = family.kind, family.kind._replace(batch=family.small_batch)
    for folder, kind in zip(("one", "many"), kinds, strict=True):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, made, kind, {"train": 1})
    place = ("train", 0, 1)
    one, many = (
        pq.ParquetFile(tmp_path / name / file_name("parquet", CORPUS, Shard(*place)))
        for name in ("one", "many")
    )
    assert one.num_row_groups == 1
    if name == "articles":
        assert many.num_row_groups == -(-len(made) // 10)
    assert many.num_row_groups > 5
    assert one.read().equals(many.read())
    frames = file_name("tfrecord", CORPUS, Shard(*place))
    assert (tmp_path / "one" / frames).read_bytes() == (tmp_path / "many" / frames).read_bytes()


def test_articles_of_one_entity_stand_together_by_page() -> None:
    made = [
        PackedArticle(page, "A", "1", b"", CorpusStats(), identity)
        for page, identity in ((500, "Q7"), (1, "Q8"), (7, "Q7"))
    ]
    pages = [one.page_id for one in sorted(made, key=order)]
    assert pages in ([1, 7, 500], [7, 500, 1])


@pytest.mark.parametrize("value", [b"bytes", None, 7])
@pytest.mark.parametrize("feature", ["wikidata_id", "version_id"])
def test_a_value_that_is_no_text_is_refused(tmp_path: Path, feature: str, value: object) -> None:
    broken = to_bytes(article(1).row._replace(**{feature: value}))
    grouped = next(pack_rows([(("train", 0, 1), pickle.dumps(broken))]))
    with pytest.raises((AttributeError, TypeError, pa.ArrowInvalid)):
        list(write_shard((grouped[0], [grouped[1]]), str(tmp_path), ARTICLES, name_files))
    assert not tree_of(tmp_path)


def name_files(shard: Shard) -> list[Any]:
    return row_files(("parquet", "tfrecord"), CORPUS, shard)


@pytest.mark.parametrize(
    ("texts", "shard_bytes", "expected"),
    [
        (["х" * 20, "山" * 20], 1, (90, 5, 5)),  # 40 + 60 bytes
        (["х" * 20, "山" * 20], 10, (9, 1, 1)),
        (["х" * 20, "山" * 20], 11, (9, 1, 1)),
        (["х" * 20, "山" * 20], 1000, (1, 1, 1)),
        ([], 100, (1, 1, 1)),
    ],
)
def test_articles_are_planned_by_the_bytes_of_all_text(
    texts: list[str], shard_bytes: int, expected: tuple[int, ...]
) -> None:
    packed = [pack_article(Article(1, "A", "1", text)) for text in texts]
    outcome = run_transform(PlanShards(SPLITS, shard_bytes, ShareOut()), packed)
    assert outcome.elements == {"main": [dict(zip(SPLITS, expected, strict=True))]}


def test_books_are_planned_by_the_bytes_of_their_split(tmp_path: Path) -> None:
    made = books(tmp_path)
    rows = [one.row for one in made]
    sizes: Counter[str] = Counter()
    for one in made:
        sizes[one.split] += len(str(one.features["text"]).encode())
    measured = run_transform(book_rows.measure_rows(2), rows).elements
    stats = dict(measured["stats"])
    assert sum(books for _, books in measured["lengths"]) == 60
    assert {split: (one.books, one.text_bytes) for split, one in stats.items()} == {
        "train": (54, sizes["train"]),
        "test": (6, sizes["test"]),
    }
    pairs = [book_rows.text_bytes("train", BookStats(text_bytes=4001)), ("test", 4000)]
    outcome = run_transform(PlanShards(SPLITS, 2000), pairs)
    assert outcome.elements == {"main": [{"train": 3, "validation": 1, "test": 2}]}


class Row(NamedTuple):
    number: int
    title: str


SCHEMA = pa.schema([("number", pa.int64()), ("title", pa.string())])
ROWS = [Row(10, "a\tb\n c"), Row(9, '"дві"'), Row(100, "")]


def identity(row: Row) -> str:
    return str(row.number)


def by_number(row: tuple[int, str]) -> int:
    return row[0]


def records(folder: Path, suffix: str, per_file: int = 10) -> beam.PTransform:
    return WriteRecords(str(folder), "in/rows", SCHEMA, identity, by_number, suffix, per_file)


def test_tables_of_records_keep_every_character(tmp_path: Path) -> None:
    (file,) = run_transform(records(tmp_path, "parquet"), ROWS).elements["main"]
    assert file[:4] == ("in/rows-00000-of-00001.parquet", "", "parquet", 3)
    table = pq.read_table(tmp_path / file.name)
    assert table.schema.equals(SCHEMA)
    assert [tuple(row.values()) for row in table.to_pylist()] == sorted(ROWS)


def test_in_lines_white_space_is_one_space(tmp_path: Path) -> None:
    (file,) = run_transform(records(tmp_path, "tsv"), ROWS).elements["main"]
    assert file[:4] == ("in/rows-00000-of-00001.tsv", "", "text", 4)
    text = (tmp_path / file.name).read_text("utf-8")
    assert text == 'number\ttitle\n9\t"дві"\n10\ta b c\n100\t\n'


def test_the_same_records_as_parquet_and_json_lines(tmp_path: Path) -> None:
    files = run_transform(records(tmp_path, "parquet jsonl"), ROWS).elements["main"]
    parquet, lines = sorted(files, key=lambda file: str(file.format), reverse=True)
    assert lines[:4] == ("in/rows-00000-of-00001.jsonl", "", "jsonl", 3)
    found = [json.loads(line) for line in (tmp_path / lines.name).read_text("utf-8").splitlines()]
    assert found == pq.read_table(tmp_path / parquet.name).to_pylist()


@pytest.mark.parametrize("suffix", ["parquet", "tsv"])
def test_many_records_go_to_several_files_and_none_to_one(tmp_path: Path, suffix: str) -> None:
    files = run_transform(records(tmp_path, suffix, 1), ROWS).elements["main"]
    assert len(files) == 3
    assert sum(file.records - (suffix == "tsv") for file in files) == 3
    (empty,) = run_transform(records(tmp_path, suffix), []).elements["main"]
    assert empty.records == (suffix == "tsv")
    if suffix == "parquet":
        found = pq.ParquetFile(tmp_path / empty.name)
        assert (found.num_row_groups, found.schema_arrow) == (1, SCHEMA)
