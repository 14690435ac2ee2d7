import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.wikipedia import entity_table
from corpusmill.transforms.wikipedia.entity_table import (
    BLOCK_SCHEMA,
    CLASS_SCHEMA,
    RANGE_BITS,
    TableCounts,
    make_block,
    merge_blocks,
    plan_files,
    table_schema,
    widen_block,
)
from corpusmill.transforms.wikipedia.wikidata import Entity
from tests.tools.case_tables import read_cases

WIKIS = ["elwiki", "enwiki", "zhwiki"]
PLACES = {wiki: place for place, wiki in enumerate(WIKIS)}

BERLIN = Entity(64, (515, 1549591), (), (("dewiki", "Berlin"), ("enwiki", "Berlin")))
TOKYO = Entity(1490, (), (515,), (("zhwiki", "东京都"), ("elwiki", "Τόκιο"), ("enwiki", "Tokyo")))
EMPTY = Entity(999_999_999_999_999_999, (), (), ())
NAMELESS = Entity(7, (5,), (), (("enwiki", ""),))


def rows_of(block: pa.Table) -> list[tuple[int, list[int], list[tuple[int, str]]]]:
    return [
        (
            row["numeric_id"],
            row["instance_of"],
            [(link["wiki"], link["title"]) for link in row["links"]],
        )
        for row in block.to_pylist()
    ]


def test_a_block_holds_items_with_their_pages_in_the_wanted_wikis() -> None:
    block = make_block([TOKYO, EMPTY, BERLIN, NAMELESS], PLACES)
    assert block.schema == BLOCK_SCHEMA
    block.validate(full=True)
    assert rows_of(block) == [
        (1490, [], [(0, "Τόκιο"), (1, "Tokyo"), (2, "东京都")]),
        (999_999_999_999_999_999, [], []),
        (64, [515, 1549591], [(1, "Berlin")]),
        (7, [5], [(1, "")]),
    ]
    assert make_block([], PLACES) == BLOCK_SCHEMA.empty_table()


def test_a_wide_block_has_a_column_for_each_wiki() -> None:
    wide = widen_block(make_block([TOKYO, EMPTY, BERLIN, NAMELESS], PLACES), WIKIS)
    assert wide.schema == table_schema(WIKIS)
    wide.validate(full=True)
    assert wide.to_pydict() == {
        "numeric_id": [1490, 999_999_999_999_999_999, 64, 7],
        "instance_of": [[], [], [515, 1549591], [5]],
        "elwiki": ["Τόκιο", None, None, None],
        "enwiki": ["Tokyo", None, "Berlin", ""],
        "zhwiki": ["东京都", None, None, None],
    }
    assert widen_block(BLOCK_SCHEMA.empty_table(), WIKIS).num_rows == 0


def test_the_schema_of_the_table() -> None:
    schema = table_schema(["enwiki"])
    assert [(field.name, str(field.type), field.nullable) for field in schema] == [
        ("numeric_id", "int64", False),
        ("instance_of", "list<item: int64>", False),
        ("enwiki", "string", True),
    ]


IDS = st.integers(1, 9)
SITELINKS = st.dictionaries(
    st.sampled_from([*WIKIS, "dewiki", "commonswiki"]), st.text(max_size=3), max_size=4
)
ENTITIES = st.lists(
    st.builds(
        Entity,
        IDS,
        st.lists(IDS, max_size=2).map(tuple),
        st.just(()),
        SITELINKS.map(lambda links: tuple(links.items())),
    ),
    max_size=20,
)


def wide_row(entity: Entity) -> dict[str, object]:
    titles = dict(entity.sitelinks)
    return {
        "numeric_id": entity.numeric_id,
        "instance_of": [*entity.instance_of],
        **{wiki: titles.get(wiki) for wiki in WIKIS},
    }


@given(ENTITIES, st.integers(0, 20), st.integers(0, 20))
def test_widening_says_what_the_items_say(entities: list[Entity], start: int, length: int) -> None:
    block = make_block(entities, PLACES).slice(start, length)
    expected = [wide_row(entity) for entity in entities[start : start + length]]
    assert widen_block(block, WIKIS).to_pylist() == expected


@given(ENTITIES)
def test_unpacking_is_the_inverse_of_packing(entities: list[Entity]) -> None:
    block = make_block(entities, PLACES)
    packed = entity_table.pack_block(block)
    assert isinstance(packed, bytes)
    assert entity_table.unpack_block(packed) == block


@given(ENTITIES, st.integers(1, 5), st.randoms(use_true_random=False))
def test_the_table_does_not_depend_on_order_or_blocks(
    entities: list[Entity], size: int, chance: random.Random
) -> None:
    whole = entity_table.drop_repeated(merge_blocks([make_block(entities, PLACES)]))
    shuffled = [*entities]
    chance.shuffle(shuffled)
    blocks = [make_block(shuffled[at : at + size], PLACES) for at in range(0, len(shuffled), size)]
    assert entity_table.drop_repeated(merge_blocks(blocks)) == whole
    ids = whole["numeric_id"].to_pylist()
    assert ids == sorted({entity.numeric_id for entity in entities})
    kept = [rows_of(make_block([entity], PLACES))[0] for entity in entities]
    for number, classes, links in rows_of(whole):
        candidates = [row for row in kept if row[0] == number]
        assert (len(links), classes, links) == max((len(c[2]), c[1], c[2]) for c in candidates)


@pytest.mark.parametrize(
    ("rows", "stays"),
    read_cases("wikipedia/entity_table", "of_repeated_rows_the_one_that_tells_most_stays"),
)
def test_of_repeated_rows_the_one_that_tells_most_stays(
    rows: list[tuple[tuple[int, ...], tuple[tuple[str, str], ...]]], stays: int
) -> None:
    entities = [Entity(64, classes, (), links) for classes, links in rows]
    expected = rows_of(make_block([NAMELESS, entities[stays], TOKYO], PLACES))
    for order in (entities, entities[::-1]):
        block = merge_blocks([make_block([TOKYO, *order, NAMELESS], PLACES)])
        assert rows_of(entity_table.drop_repeated(block)) == expected


def test_without_repeated_rows_nothing_is_done() -> None:
    block = merge_blocks([make_block([TOKYO, BERLIN, EMPTY], PLACES)])
    assert entity_table.drop_repeated(block) is block


RANGE = 1 << RANGE_BITS


@pytest.mark.parametrize(
    ("rows_in_range", "rows_per_file", "starts"),
    [
        ({}, 10, [0]),
        ({0: 1}, 10, [0]),
        ({0: 5, 1: 5}, 10, [0]),
        ({0: 5, 1: 6}, 10, [0, RANGE]),
        ({7: 5, 9: 6}, 10, [0, 9 * RANGE]),
        ({1: 6, 0: 5}, 10, [0, RANGE]),
        ({0: 10, 1: 10, 2: 10}, 10, [0, RANGE, 2 * RANGE]),
        # a crowd in one range: no file without rows
        ({0: 50, 1: 1}, 10, [0, RANGE]),
        ({0: 1, 1: 50, 2: 1}, 10, [0, RANGE, 2 * RANGE]),
        # few items, far apart
        ({0: 5, 1 << 40: 6}, 10, [0, (1 << 40) * RANGE]),
    ],
)
def test_files_are_cut_where_the_rows_are(
    rows_in_range: dict[int, int], rows_per_file: int, starts: list[int]
) -> None:
    assert plan_files(rows_in_range, rows_per_file) == starts


@given(st.dictionaries(st.integers(0, 1000), st.integers(1, 30), max_size=60), st.integers(1, 100))
def test_a_plan_leaves_no_file_empty_and_none_large(
    rows_in_range: dict[int, int], rows_per_file: int
) -> None:
    starts = plan_files(rows_in_range, rows_per_file)
    assert starts[0] == 0
    assert starts == sorted(set(starts))
    ends = [*starts[1:], 1001 * RANGE]
    rows = [
        sum(count for number, count in rows_in_range.items() if start <= number * RANGE < end)
        for start, end in zip(starts, ends, strict=True)
    ]
    assert sum(rows) == sum(rows_in_range.values())
    assert max(rows) <= rows_per_file + 30
    assert min(rows) > 0 or not rows_in_range


def test_ids_are_counted_in_ranges() -> None:
    ids = [0, RANGE - 1, RANGE, 999_999_999_999_999_999, RANGE]
    assert entity_table.count_ranges(ids) == {0: 2, 1: 2, 999_999_999_999_999_999 >> RANGE_BITS: 1}


@pytest.mark.parametrize(
    ("starts", "parts"),
    [
        ([0], {0: [3, 64, 64, 1490]}),
        ([0, 64], {0: [3], 1: [64, 64, 1490]}),
        ([0, 65], {0: [3, 64, 64], 1: [1490]}),
        ([0, 1, 2, 10, 2000], {2: [3], 3: [64, 64, 1490]}),
        ([0, 5000, 6000], {0: [3, 64, 64, 1490]}),
    ],
)
def test_a_block_is_cut_at_the_starts_of_files(
    starts: list[int], parts: dict[int, list[int]]
) -> None:
    entities = [TOKYO, BERLIN, BERLIN._replace(numeric_id=3), BERLIN]
    block = merge_blocks([make_block(entities, PLACES)])
    cut = {
        file: part["numeric_id"].to_pylist() for file, part in entity_table.cut_block(block, starts)
    }
    assert cut == parts


def test_an_empty_block_has_no_parts() -> None:
    assert not list(entity_table.cut_block(BLOCK_SCHEMA.empty_table(), [0, 10]))


def test_counts() -> None:
    wide = widen_block(make_block([TOKYO, EMPTY, BERLIN, NAMELESS], PLACES), WIKIS)
    counts = entity_table.count_rows(wide)
    assert counts == TableCounts(rows=4, repeated=0, with_class=2, sitelinks=(1, 3, 1))
    assert entity_table.count_rows(wide.slice(0, 0)) == TableCounts(0, 0, 0, (0, 0, 0))
    other = TableCounts(1, 2, 3, (4, 5, 6))
    assert entity_table.add_counts([counts, other]) == TableCounts(5, 2, 5, (5, 8, 7))


def test_the_table_of_classes_is_sorted() -> None:
    table = entity_table.class_table({13406463: "list", 64: "internal"})
    assert table.schema == CLASS_SCHEMA
    assert table.to_pydict() == {"numeric_id": [64, 13406463], "kind": ["internal", "list"]}
