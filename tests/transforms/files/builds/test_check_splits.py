import collections
import random
from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.files.builds import check_builds
from corpusmill.transforms.files.builds.check_builds import (
    SCHEMA,
    CheckSplits,
    Conflict,
    IdCounts,
    SplitFindings,
    check_ids,
    count_buckets,
    deal_out,
    describe_places,
    make_rows,
    pack_conflicts,
    unpack_lines,
    unpack_rows,
)
from corpusmill.transforms.files.builds.finished_builds import CorpusFile, CorpusRows
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.text import SPLITS
from tests.tools.error_of import error_of
from tests.tools.run_pipeline import run_transform


def rows(edition: str, split: str, ids: Sequence[str | None], date: str = "1") -> CorpusRows:
    table = pa.table({"wikidata_id": pa.array(ids, pa.string())})
    path = f"/{edition}/{split}.parquet"
    return CorpusRows(CorpusFile(path, split, edition, f"{edition}/{date}", "wiki40b"), table)


CLEAN = [
    rows("uk", "train", ["Q1", "Q2", "Q2", "ukwiki:7"]),  # two articles may share an id
    rows("uk", "test", ["Q30"]),
    rows("el", "train", ["Q2", "Q1", "elwiki:7"]),
    rows("el", "test", []),
    rows("zh-tw", "test", ["Q30"]),
    rows("uk", "test", ["Q30"], date="2"),  # a later build of the same edition
]


def check(several: Sequence[CorpusRows], buckets: int = 3) -> tuple[IdCounts, list[str]]:
    """The counts, and the lines of all conflicts."""
    found = run_transform(CheckSplits(buckets), several).elements
    assert set(found) == set(SplitFindings._fields)
    blocks = found["conflicts"]
    assert len({block.bucket for block in blocks}) == len(blocks)
    lines = [line for block in blocks for line in unpack_lines(block).splitlines()]
    return found["counts"][0], sorted(lines)


def test_an_entity_is_in_one_split_in_all_languages() -> None:
    assert check(CLEAN) == (IdCounts(ids=10, distinct=5, shared=3, conflicts=0), [])


def test_entities_in_two_splits_are_found() -> None:
    leaking = [
        rows("vi", "validation", ["Q30", "Q5", "elwiki:7"]),
        rows("vi", "train", ["Q5"]),
        rows("uk", "train", ["Q30"], date="2"),
    ]
    counts, lines = check([*CLEAN, *leaking])
    assert counts == IdCounts(ids=15, distinct=6, shared=4, conflicts=3)
    assert lines == [
        "Q30\ttrain: uk/2; validation: vi/1; test: uk/1, uk/2, zh-tw/1",
        "Q5\ttrain: vi/1; validation: vi/1",
        "elwiki:7\ttrain: el/1; validation: vi/1",
    ]


def test_nothing_at_all() -> None:
    assert check([]) == (IdCounts(), [])


@pytest.mark.parametrize("buffer_rows", [1, 3, 1000])
def test_how_many_ids_travel_together_does_not_matter(
    buffer_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = check([*CLEAN, rows("vi", "train", ["Q30"])])
    monkeypatch.setattr(check_builds, "BUFFER_ROWS", buffer_rows)
    assert check([rows("vi", "train", ["Q30"]), *CLEAN[::-1]], buckets=1) == expected


ROWS = st.lists(
    st.builds(
        rows,
        st.sampled_from(["uk", "el", "vi"]),
        st.sampled_from(SPLITS),
        st.lists(st.sampled_from([f"Q{number}" for number in range(12)]), max_size=8),
    ),
    max_size=8,
)


@settings(max_examples=200)
@given(ROWS, st.integers(1, 5), st.randoms())
def test_buckets_together_find_what_a_look_at_everything_finds(
    several: list[CorpusRows], buckets: int, chance: random.Random
) -> None:
    splits: dict[str, set[str]] = collections.defaultdict(set)
    editions: dict[str, set[str]] = collections.defaultdict(set)
    for one in several:
        for identity in one.table["wikidata_id"].to_pylist():
            splits[identity].add(one.file.split)
            editions[identity].add(one.file.edition)
    blocks: dict[int, list[bytes]] = collections.defaultdict(list)
    for one in several:
        for bucket, block in deal_out([make_rows(one)], buckets):
            assert 0 <= bucket < buckets
            blocks[bucket].append(block)
    checked = []
    for of_bucket in blocks.values():
        chance.shuffle(of_bucket)
        checked.append(check_ids(unpack_rows(of_bucket, SCHEMA)))
    assert check_builds.add_counts(counts for counts, _ in checked) == IdCounts(
        ids=sum(one.table.num_rows for one in several),
        distinct=len(splits),
        shared=sum(len(of_id) > 1 for of_id in editions.values()),
        conflicts=sum(len(of_id) > 1 for of_id in splits.values()),
    )
    conflicts = [conflict for _, found in checked for conflict in found]
    assert {one.id: {split for split, _ in one.places} for one in conflicts} == {
        identity: of_id for identity, of_id in splits.items() if len(of_id) > 1
    }


def test_an_element_holds_many_ids() -> None:
    several = [make_rows(rows("uk", "train", [f"Q{number}" for number in range(5000)]))] * 4
    blocks = [block for _, block in deal_out(several, 10)]
    assert len(blocks) == 10
    assert unpack_rows(blocks, SCHEMA).num_rows == 20_000


def test_ids_spread_over_the_buckets() -> None:
    several = [make_rows(rows("uk", "train", [f"Q{number}" for number in range(100_000)]))]
    sizes = [unpack_rows([block], SCHEMA).num_rows for _, block in deal_out(several, 100)]
    assert len(sizes) == 100
    assert max(sizes) < 1200


@pytest.mark.parametrize("bad", [None, "", "Q1\nQ2", "Q1\tQ2"])
def test_a_row_without_an_id_is_an_error(bad: str | None) -> None:
    assert error_of(InputError, make_rows, rows("uk", "train", ["Q1", bad])) == (
        "/uk/train.parquet: a row has no wikidata_id, or its wikidata_id has unprintable characters"
    )


@pytest.mark.parametrize(
    ("articles", "buckets"), [(0, 1024), (67_108_864, 1024), (67_108_865, 1025)]
)
def test_a_bucket_stays_small(articles: int, buckets: int) -> None:
    assert count_buckets(articles) == buckets


def test_conflicts_are_packed_as_lines() -> None:
    conflict = Conflict("Q9", (("train", "el/1"), ("train", "uk/1"), ("test", "uk/2")))
    assert describe_places(conflict) == "train: el/1, uk/1; test: uk/2"
    block = check_builds.ConflictBlock(7, pack_conflicts([conflict, conflict]))
    assert unpack_lines(block) == "Q9\ttrain: el/1, uk/1; test: uk/2\n" * 2


def test_q9_stands_before_q10() -> None:
    ids = ["Q10", "Q9", "Q100", "Q11"]
    table = pa.concat_tables(make_rows(rows("uk", split, ids)) for split in ("train", "validation"))
    assert [one.id for one in check_ids(table)[1]] == ["Q9", "Q10", "Q11", "Q100"]
