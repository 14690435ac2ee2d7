import hashlib
import itertools
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpusmill.transforms.files.scratch import Scratch
from corpusmill.transforms.wikipedia import entity_table, make_entity_table
from corpusmill.transforms.wikipedia.wikidata import Entity
from tests.tools.golden_tree import tree_of
from tests.tools.run_pipeline import Outcome, run_inputs

WIKIS = ["elwiki", "enwiki"]
STEP = 1 << entity_table.RANGE_BITS
ITEMS = [
    Entity(
        1 + STEP * (number % 5) + number,
        (5,) if number % 3 else (),
        (),
        (("enwiki", f"Item {number}"), *([("elwiki", f"Είδος {number}")] if number % 4 else [])),
    )
    for number in range(40)
]


def batches_of(items: list[Entity], size: int) -> list[list[Entity]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def write(folder: Path, batches: list[list[Entity]], rows_per_file: int = 10) -> Outcome:
    folder.mkdir(exist_ok=True)
    scratch = str(folder.parent)
    pack = make_entity_table.PackItems(scratch, WIKIS)
    write_table = make_entity_table.WriteEntityTable(str(folder), scratch, WIKIS, rows_per_file)
    return run_inputs(lambda batches: batches | pack | write_table, batches=batches)


def test_the_files_hold_each_item_once_by_ascending_id(tmp_path: Path) -> None:
    outcome = write(tmp_path / "a", batches_of(ITEMS, 7))
    paths = sorted((tmp_path / "a").iterdir())
    assert [path.name for path in paths] == [
        f"entities-0000{file}-of-00004.parquet" for file in range(4)
    ]
    tables = [pq.read_table(path) for path in paths]
    assert all(table.schema == entity_table.table_schema(WIKIS) for table in tables)
    assert [table.num_rows for table in tables] == [8, 8, 16, 8]
    rows = pa.concat_tables(tables).to_pylist()
    assert rows == [
        {
            "numeric_id": item.numeric_id,
            "instance_of": [*item.instance_of],
            "elwiki": dict(item.sitelinks).get("elwiki"),
            "enwiki": dict(item.sitelinks)["enwiki"],
        }
        for item in sorted(ITEMS)
    ]
    (counts,) = [entity_table.add_counts(outcome.elements["counts"])]
    assert counts == entity_table.TableCounts(40, 0, 26, (30, 40))
    assert outcome.counters == {"write-entity-table/rows": 40}
    for file in outcome.elements["files"]:
        data = (tmp_path / "a" / file.name).read_bytes()
        assert (file.bytes, file.sha256) == (len(data), hashlib.sha256(data).hexdigest())
        assert (file.split, file.format) == ("", "parquet")
        assert file.records == pq.read_metadata(tmp_path / "a" / file.name).num_rows


@pytest.mark.parametrize(("size", "block_rows"), [(1, 1), (3, 10), (40, 1), (40, 1000)])
def test_bytes_do_not_depend_on_order_batches_or_blocks(
    tmp_path: Path, size: int, block_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a", [ITEMS])
    monkeypatch.setattr(make_entity_table, "BLOCK_ROWS", block_rows)
    shuffled = [*ITEMS]
    random.Random(size).shuffle(shuffled)
    write(tmp_path / "b", batches_of(shuffled, size))
    assert tree_of(tmp_path / "a") == tree_of(tmp_path / "b")


def test_large_blocks_are_not_gathered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_entity_table, "ITEM_BLOCK_BYTES", 1)
    make = make_entity_table.make_blocks(Scratch(str(tmp_path)), WIKIS)
    make.start_bundle()
    assert len(list(itertools.chain(make.process(ITEMS[:2]), make.process(ITEMS[2:])))) == 2
    assert not list(make.finish_bundle())


def test_of_repeated_items_one_stays_and_the_others_are_counted(tmp_path: Path) -> None:
    poorer = [item._replace(sitelinks=item.sitelinks[:1], instance_of=(1,)) for item in ITEMS]
    copies = [
        item for item, poor in zip(ITEMS, poorer, strict=True) if poor.sitelinks != item.sitelinks
    ]
    outcome = write(tmp_path / "a", [poorer, copies], rows_per_file=1000)
    write(tmp_path / "b", [copies, poorer[::-1], copies], rows_per_file=1000)
    assert entity_table.add_counts(outcome.elements["counts"])[:2] == (40, 30)
    assert tree_of(tmp_path / "a") == tree_of(tmp_path / "b")
    table = pq.read_table(tmp_path / "a")
    assert [row["elwiki"] is None for row in table.to_pylist()] == [
        len(item.sitelinks) == 1 for item in sorted(ITEMS)
    ]


@pytest.mark.parametrize("batches", [[], [[]]])
def test_without_items_there_is_an_empty_file(tmp_path: Path, batches: list[list[Entity]]) -> None:
    outcome = write(tmp_path / "a", batches)
    table = pq.read_table(tmp_path / "a" / "entities-00000-of-00001.parquet")
    assert table == entity_table.table_schema(WIKIS).empty_table()
    assert outcome.elements["counts"] == [entity_table.TableCounts(0, 0, 0, (0, 0))]


def test_row_groups_and_what_their_footer_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make_entity_table, "ROWS_PER_GROUP", 16)
    write(tmp_path / "a", [ITEMS], rows_per_file=1000)
    metadata = pq.read_metadata(tmp_path / "a" / "entities-00000-of-00001.parquet")
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    assert [group.num_rows for group in groups] == [16, 16, 8]
    ids = sorted(item.numeric_id for item in ITEMS)
    ranges = [(g.column(0).statistics.min, g.column(0).statistics.max) for g in groups]
    assert ranges == [(ids[0], ids[15]), (ids[16], ids[31]), (ids[32], ids[39])]
    assert {groups[0].column(number).compression for number in range(4)} == {"ZSTD"}
    assert metadata.schema.column(1).path == "instance_of.list.element"
    assert "RLE_DICTIONARY" in groups[1].column(1).encodings
    assert "DELTA_LENGTH_BYTE_ARRAY" in groups[1].column(2).encodings


def test_internal_classes(tmp_path: Path) -> None:
    file = make_entity_table.write_internal_classes(
        {13406463: "list", 64: "internal"}, str(tmp_path)
    )
    assert (file.name, file.records) == ("internal-classes.parquet", 2)
    assert pq.read_table(tmp_path / file.name).to_pydict() == {
        "numeric_id": [64, 13406463],
        "kind": ["internal", "list"],
    }
