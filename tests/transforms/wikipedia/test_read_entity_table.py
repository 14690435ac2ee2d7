import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.wikipedia.entity_table import class_table
from corpusmill.transforms.wikipedia.read_entity_table import (
    EntityTable,
    FindClasses,
    ReadSitelinks,
    ReadTemplateAliases,
    RowGroup,
    _KeyByRowGroup,
    add_classes,
    number_of,
    titles_and_items,
)
from corpusmill.transforms.wikipedia.screening import PageFacts
from corpusmill.transforms.wikitext.templates.definitions import TemplateFact
from tests.makers.entity_tables import Item, finish, write_entity_table
from tests.tools.run_pipeline import run_pipeline, run_transform

KINDS = {30: "list", 31: "disambiguation", 32: "internal", 33: "list"}
ITEMS = [
    Item(2, [5], {"enwiki": "Kyiv", "ukwiki": "Київ"}),
    Item(4, [30, 5], {"ukwiki": "Список річок"}),
    Item(7, [33, 30], {"enwiki": "Template:Lang", "ukwiki": "Шаблон:Мовою"}),
    Item(9, [], {"enwiki": "Template:Convert"}),
    Item(12, [32, 31], {"ukwiki": "Ключ"}),
    Item(13, [99, 32], {"enwiki": "Template:Val", "ukwiki": "Шаблон:Val"}),
    Item(20, [5, 5], {"enwiki": "Template talk"}),
]

CLASSES = {f"Q{number}": tuple(dict.fromkeys(classes)) for number, classes, _ in ITEMS}


@pytest.fixture
def table(tmp_path: Path) -> EntityTable:
    return write_entity_table(tmp_path / "table", ITEMS, KINDS)


def test_what_an_open_table_tells(table: EntityTable, tmp_path: Path) -> None:
    folder = tmp_path / "table"
    first = str(folder / "entities-00000-of-00002.parquet")
    second = str(folder / "entities-00001-of-00002.parquet")
    assert table == EntityTable(
        folder=str(folder),
        row_groups=(
            RowGroup(first, 0, 2, 4, 2),
            RowGroup(first, 1, 7, 9, 2),
            RowGroup(second, 0, 12, 13, 2),
            RowGroup(second, 1, 20, 20, 1),
        ),
        wikis=("enwiki", "ukwiki"),
        kinds=KINDS,
        date="20260101",
    )
    assert table.manifest_path == str(folder / "manifest.json")
    assert pickle.loads(pickle.dumps(table)) == table
    assert EntityTable.open(f"{folder}/").row_groups == table.row_groups


def test_a_table_without_items(tmp_path: Path) -> None:
    table = write_entity_table(tmp_path / "table", [], {})
    assert (table.row_groups, table.wikis) == ((), ())
    facts = [(1, PageFacts("Q2"))]
    assert run_transform(FindClasses(table), facts).elements["main"] == facts


def open_broken(folder: Path) -> str:
    with pytest.raises(InputError) as error:
        EntityTable.open(str(folder))
    return str(error.value)


def test_what_is_no_finished_table(table: EntityTable, tmp_path: Path) -> None:
    folder = tmp_path / "table"
    (folder / "COMPLETED").rename(folder / "mark")
    assert open_broken(folder) == f"{folder}: no finished build: there is no file COMPLETED"
    assert "no finished build" in open_broken(tmp_path / "none")
    (folder / "mark").rename(folder / "COMPLETED")
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    (folder / "manifest.json").write_text(json.dumps(manifest | {"dump_date": "20250101"}))
    assert open_broken(folder).endswith(
        "does not match manifest.json: one of them was changed or is damaged"
    )
    (folder / "manifest.json").unlink()
    assert open_broken(folder) == f"{folder}: no build: there is no file manifest.json"


def test_a_build_of_something_else(tmp_path: Path) -> None:
    finish(tmp_path, [], corpus="wiki40b")
    assert open_broken(tmp_path) == f"{tmp_path}: a build of wiki40b, not an entity table"


def test_files_that_are_missing_cut_or_others(table: EntityTable, tmp_path: Path) -> None:
    folder = tmp_path / "table"
    second = folder / "entities-00001-of-00002.parquet"
    whole = second.read_bytes()
    second.write_bytes(whole[:-9])
    assert open_broken(folder).startswith(f"{second}: not a valid Parquet file: ")
    second.unlink()
    assert open_broken(folder) == f"{second}: no such file"
    second.write_bytes((folder / "entities-00000-of-00002.parquet").read_bytes())
    assert open_broken(folder) == f"{second}: 4 rows; expected 3, the number in the manifest"
    pq.write_table(pa.table({"numeric_id": [1, 2, 3]}), second)
    expected = f"{second}: not a file of an entity table; its columns: ['numeric_id']"
    assert open_broken(folder) == expected


def test_a_file_that_is_damaged_after_the_table_was_opened(table: EntityTable) -> None:
    group = table.row_groups[3]
    path = Path(group.path)
    data = bytearray(path.read_bytes())
    data[4 : len(data) // 2] = bytes(len(data) // 2 - 4)
    path.write_bytes(data)
    with pytest.raises(InputError, match=f"^{re.escape(group.path)}: not a valid Parquet file: "):
        list(titles_and_items(group, "enwiki"))
    path.unlink()
    with pytest.raises(InputError, match=f"^{re.escape(group.path)}: no such file"):
        list(add_classes((3, [(1, PageFacts("Q20"))]), table.row_groups, table.kinds))


def rewrite(folder: Path, name: str, **writing: object) -> None:
    pq.write_table(pq.read_table(folder / name), folder / name, **writing)


def test_files_without_ranges_of_ids_or_with_wrong_ones(table: EntityTable, tmp_path: Path) -> None:
    folder = tmp_path / "table"
    first, second = (f"entities-0000{at}-of-00002.parquet" for at in (0, 1))
    rewrite(folder, second, write_statistics=False)
    assert open_broken(folder) == f"{folder / second}: row group 0 has no statistics of its ids"
    rewrite(folder, second)
    expected_rows = EntityTable.open(str(folder)).row_groups
    assert [(group.first_id, group.rows) for group in expected_rows] == [(2, 2), (7, 2), (12, 3)]
    outputs = [
        OutputFile(first, "", "parquet", 4, 0, ""),
        OutputFile(second, "", "parquet", 4, 0, ""),
    ]
    (folder / second).write_bytes((folder / first).read_bytes())
    finish(folder, outputs)
    expected = f"{folder / second}: row group 0 begins at Q2, but Q9 comes before it: the ids are not sorted"
    assert open_broken(folder) == expected


def test_a_kind_that_is_none(table: EntityTable, tmp_path: Path) -> None:
    path = tmp_path / "table" / "internal-classes.parquet"
    pq.write_table(class_table({5: "river"}), path)
    assert open_broken(tmp_path / "table").startswith(
        f"{path}: the column `kind` contains 'river'; expected one of"
    )
    pq.write_table(pa.table({"kind": ["list"]}), path)
    missing = f"{path}: missing columns: numeric_id; the file has kind"
    assert open_broken(tmp_path / "table") == missing


def test_titles_that_are_not_utf_8(table: EntityTable) -> None:
    path = Path(table.row_groups[0].path)
    damaged = pq.read_table(path).set_column(
        2, "enwiki", pa.array([b"\xff"] * 4, pa.binary()).view(pa.string())
    )
    pq.write_table(damaged, path)
    with pytest.raises(
        InputError, match=f"^{re.escape(str(path))}: not a valid Parquet file: .*UTF8"
    ):
        list(titles_and_items(table.row_groups[0], "enwiki"))


def test_classes_of_items(table: EntityTable) -> None:
    """Of two classes of a kind the smaller counts, and of two kinds the first."""
    none, kinds = ("", ""), {"Q4": ("list", "Q30"), "Q7": ("list", "Q30")}
    kinds |= {"Q12": ("disambiguation", "Q31"), "Q13": ("internal", "Q32")}
    facts = [(number, PageFacts(qid, exists=True)) for number, qid in enumerate(CLASSES)]
    outcome = run_transform(FindClasses(table), facts)
    assert sorted(outcome.elements["main"]) == [
        (number, PageFacts(qid, True, False, *kinds.get(qid, none), True, classes=CLASSES[qid]))
        for number, qid in enumerate(CLASSES)
    ]
    assert outcome.counters == {"read-entity-table/row_groups": 4}


def test_facts_that_no_row_tells_of_stay_as_they_are(table: EntityTable) -> None:
    facts = [
        (1, PageFacts()),
        (2, PageFacts(is_disambiguation=True)),
        (3, PageFacts("Q1")),  # before the first
        (4, PageFacts("Q3")),  # between two rows
        (5, PageFacts("Q5")),  # between two row groups
        (6, PageFacts("Q21")),  # after the last
        (7, PageFacts("Q99999999999999999999999")),
        (8, PageFacts("P31")),
    ]
    outcome = run_transform(FindClasses(table), facts)
    assert sorted(outcome.elements["main"]) == facts
    assert outcome.counters == {"read-entity-table/row_groups": 1}


def test_several_pages_of_one_item_and_several_facts_of_one_page(table: EntityTable) -> None:
    facts = [(1, PageFacts("Q4")), (1, PageFacts("Q4")), (2, PageFacts("Q4")), (2, PageFacts())]
    outcome = run_transform(FindClasses(table), facts)
    known = PageFacts(
        "Q4",
        internal_kind="list",
        internal_class="Q30",
        is_class_known=True,
        classes=CLASSES["Q4"],
    )
    assert sorted(outcome.elements["main"]) == [
        (1, known),
        (1, known),
        (2, PageFacts()),
        (2, known),
    ]


items = st.dictionaries(
    st.integers(1, 60), st.lists(st.sampled_from([5, 30, 31, 32, 33]), max_size=3), max_size=30
)


@given(
    classes=items,
    asked=st.lists(st.integers(0, 70), max_size=15),
    rows=st.integers(1, 5),
    files=st.integers(1, 4),
)
def test_each_fact_meets_its_row_whatever_the_row_groups(
    tmp_path_factory: pytest.TempPathFactory,
    classes: dict[int, list[int]],
    asked: list[int],
    rows: int,
    files: int,
) -> None:
    table = write_entity_table(
        tmp_path_factory.mktemp("law") / "table",
        [Item(number, of_item) for number, of_item in classes.items()],
        KINDS,
        rows_per_group=rows,
        groups_per_file=files,
    )
    key_by_row_group = _KeyByRowGroup(table.row_groups)
    found = {}
    for page, number in enumerate(asked):
        at, fact = key_by_row_group((page, PageFacts(f"Q{number}")))
        found.update(add_classes((at, [fact]), table.row_groups, table.kinds))
    assert found.keys() == set(range(len(asked)))
    known = {page: facts for page, facts in found.items() if facts.is_class_known}
    assert known.keys() == {page for page, number in enumerate(asked) if number in classes}
    for page, facts in known.items():
        internal = set(classes[asked[page]]) & KINDS.keys()
        assert (not internal) == (facts.internal_class == "")
        assert not internal or facts.internal_kind == KINDS[int(facts.internal_class[1:])]


def test_sitelinks(table: EntityTable) -> None:
    outcome = run_pipeline(lambda root: {"main": root | ReadSitelinks(table, "ukwiki")})
    assert sorted(outcome.elements["main"]) == [
        ("Київ", "Q2"),
        ("Ключ", "Q12"),
        ("Список річок", "Q4"),
        ("Шаблон:Val", "Q13"),
        ("Шаблон:Мовою", "Q7"),
    ]
    assert list(titles_and_items(table.row_groups[0], "enwiki")) == [("Kyiv", "Q2")]


@pytest.mark.parametrize("reading", [ReadSitelinks, ReadTemplateAliases])
def test_a_wiki_that_the_table_was_not_made_for(
    table: EntityTable, reading: Callable[[EntityTable, str], beam.PTransform]
) -> None:
    with pytest.raises(ValueError, match=r"has no titles of elwiki: .*for enwiki, ukwiki"):
        _ = beam.Pipeline() | reading(table, "elwiki")


def aliases(table: EntityTable, dbname: str) -> list[TemplateFact]:
    return run_pipeline(lambda root: root | ReadTemplateAliases(table, dbname)).elements["main"]


def test_names_of_templates(table: EntityTable) -> None:
    assert aliases(table, "ukwiki") == [TemplateFact("мовою", "alias", "lang")]
    assert aliases(table, "enwiki") == []


@pytest.mark.parametrize(
    ("qid", "number"),
    [("Q64", 64), ("", 0), ("Q", 0), ("P31", 0), ("Q6x", 0), ("ukwiki:8", 0), ("Q٣", 0), ("64", 0)],
)
def test_numbers_of_items(qid: str, number: int) -> None:
    assert number_of(qid) == number
