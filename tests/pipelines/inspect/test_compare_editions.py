from pathlib import Path

import pyarrow as pa
import pytest

from corpusmill.pipelines.inspect.compare import (
    columns_to_compare,
    count_documents,
    document_files,
    join_columns,
    make_rows,
)
from corpusmill.pipelines.run.corpora import shapes
from corpusmill.transforms.files.builds.finished_builds import CorpusFile, CorpusRows, open_build
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.text import fingerprint
from corpusmill.transforms.wikipedia.entity_table import table_schema
from tests.makers.edition_builds import article, make_edition

SHAPES = shapes()
WIKI, NEWS, ITEMS = SHAPES["wiki40b"], SHAPES["lm1b"], SHAPES["entities"]


def rows_of(table: pa.Table, split: str = "test") -> CorpusRows:
    return CorpusRows(CorpusFile(f"/uk/{split}.parquet", split, "uk", "uk/1", ""), table)


def test_rows_of_articles() -> None:
    text = article("Q1")["text"]
    other = "no layout"
    table = pa.table({"wikidata_id": ["Q1", "Q2"], "text": [text, other]})
    rows = make_rows(rows_of(table), WIKI, ["text"], True)
    assert rows.column_names == ["id", "title", "split", "digest", "bytes", "is_new"]
    assert [tuple(row.values()) for row in rows.to_pylist()] == [
        ("Q1", "q1", 2, fingerprint(text), len(text), True),
        ("Q2", "", 2, fingerprint(other), len(other), True),
    ]


def test_a_sentence_is_its_own_identity() -> None:
    table = pa.table({"text": ["Привіт ."]})
    (row,) = make_rows(rows_of(table, "train"), NEWS, ["text"], False).to_pylist()
    assert row["id"] == f"{fingerprint('Привіт .'):016x}"
    assert (row["title"], row["split"], row["bytes"], row["is_new"]) == ("", 0, 14, False)


def test_items_are_compared_by_all_their_columns() -> None:
    schema = table_schema(["elwiki", "ukwiki"])
    values = [
        ([5], "A", "B"),
        ([5, 6], "A", "B"),
        ([5], "A", ""),
        ([5], None, "AB"),
        ([], "A", "B"),
    ]
    items = [
        {"numeric_id": number, "instance_of": classes, "elwiki": el, "ukwiki": uk}
        for number, (classes, el, uk) in enumerate(values)
    ]
    table = pa.Table.from_pylist(items, schema=schema)
    columns = ["instance_of", "elwiki", "ukwiki"]
    assert len(set(join_columns(table, columns))) == len(values)
    rows = make_rows(rows_of(table, ""), ITEMS, columns, False)
    assert rows["id"].to_pylist() == ["0", "1", "2", "3", "4"]
    assert len(set(rows["digest"].to_pylist())) == len(values)
    assert rows["bytes"].to_pylist() == [3, 5, 2, 3, 2]


@pytest.mark.parametrize("identity", [None, "", "Q1\tQ2"])
def test_a_row_without_an_id_ends_the_comparison(identity: str | None) -> None:
    table = pa.table({"wikidata_id": pa.array(["Q1", identity], pa.string()), "text": ["a", "b"]})
    with pytest.raises(InputError, match="a row has no wikidata_id"):
        make_rows(rows_of(table), WIKI, ["text"], False)


def test_the_documents_of_a_build_are_in_its_splits(tmp_path: Path) -> None:
    splits = {"train": [[article("Q1")], [article("Q2")]], "train_2": [[article("Q1")]]}
    folder = make_edition(tmp_path, splits)
    build = open_build(str(folder))
    assert [Path(file.file.path).name for file in document_files(build, WIKI)] == [
        "train-00000-of-00002.parquet",
        "train-00001-of-00002.parquet",
    ]
    assert count_documents(build, WIKI) == 2


def test_tables_are_compared_by_the_columns_that_both_have(tmp_path: Path) -> None:
    named = {"corpus": "entities", "language": "wikidata"}
    old, new = (
        make_edition(tmp_path, {"": [[]]}, **named, date=wikis[0], schema=table_schema(wikis))
        for wikis in (["elwiki", "ukwiki"], ["ukwiki", "viwiki"])
    )
    old, new = (open_build(str(folder)) for folder in (old, new))
    assert columns_to_compare(old, new, ITEMS) == ["instance_of", "ukwiki"]
    empty = open_build(str(make_edition(tmp_path, {}, corpus="entities", language="other")))
    with pytest.raises(InputError, match="the build has no documents"):
        columns_to_compare(old, empty, ITEMS)


def test_texts_are_compared_with_the_facts_that_both_builds_have(tmp_path: Path) -> None:
    before = dict.fromkeys(["book_text", "book_title", "publication_date"], "")
    old, new = (
        open_build(str(make_edition(tmp_path, {"test": [[row]]}, corpus="pg19", date=date)))
        for date, row in (("20250101", before), ("20260101", before | {"latest_year": 1898}))
    )
    assert columns_to_compare(old, new, SHAPES["pg19"]) == [*before]
    assert columns_to_compare(new, new, SHAPES["pg19"]) == [*before, "latest_year"]
