import collections
import random
from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.pipelines.inspect.edition_changes import (
    ADDED,
    CHANGED,
    MOVED,
    REMOVED,
    REPEATED,
    SCHEMA,
    UNCHANGED,
    Change,
    Row,
    SplitChanges,
    add_tallies,
    compare_rows,
    describe,
    moves,
    order,
    pair_rows,
    parse_line,
    split_changes,
    to_line,
)

SPLITS = ("train", "validation", "test")

Document = tuple[str, str, int, bool]  # id, split, digest, whether it is of the newer edition


def table_of(documents: Sequence[Document]) -> pa.Table:
    rows = [
        (identity, f"Title {identity}", SPLITS.index(split), digest, digest + 100, is_new)
        for identity, split, digest, is_new in documents
    ]
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


def test_every_fate() -> None:
    documents = [
        ("Q10", "train", 1, False),
        ("Q10", "train", 1, True),
        ("Q9", "train", 2, False),
        ("Q9", "train", 3, True),
        ("Q8", "test", 4, False),
        ("Q7", "validation", 5, True),
        ("Q6", "train", 6, False),
        ("Q6", "test", 6, True),
        ("Q5", "train", 7, False),
        ("Q5", "test", 8, True),
    ]
    tally, changes = compare_rows(table_of(documents), SPLITS)
    assert tally == {
        (UNCHANGED, "train", "train"): 1,
        (CHANGED, "train", "train"): 1,
        (REMOVED, "test", ""): 1,
        (ADDED, "", "validation"): 1,
        (MOVED, "train", "test"): 2,
    }
    assert changes == [
        Change("Q5", "Title Q5", MOVED, "train", "test", 107, 108),
        Change("Q6", "Title Q6", MOVED, "train", "test", 106, 106),
        Change("Q7", "Title Q7", ADDED, "", "validation", None, 105),
        Change("Q8", "Title Q8", REMOVED, "test", "", 104, None),
        Change("Q9", "Title Q9", CHANGED, "train", "train", 102, 103),
    ]
    assert split_changes(tally, SPLITS) == {
        "train": SplitChanges(old=4, new=2, changed=1, unchanged=1, moved_out=2),
        "validation": SplitChanges(new=1, added=1),
        "test": SplitChanges(old=1, new=2, removed=1, moved_in=2),
    }
    assert moves(tally) == {("train", "test"): 2}


A, B, C = (Row("train", digest, 10, "") for digest in (1, 2, 3))
MOVED_A = A._replace(split="test")


@pytest.mark.parametrize(
    ("old", "new", "fates"),
    [
        ([A], [A, A], [UNCHANGED, ADDED]),
        ([A, A], [A], [UNCHANGED, REMOVED]),
        ([A, B], [B, C], [UNCHANGED, CHANGED]),
        ([A, B], [B, MOVED_A], [UNCHANGED, MOVED]),
        ([A], [B, MOVED_A], [MOVED, ADDED]),  # the same text elsewhere before another text here
        ([A], [B._replace(split="test")], [MOVED]),
        ([A, MOVED_A], [MOVED_A, A], [UNCHANGED, UNCHANGED]),
        ([], [A], [ADDED]),
    ],
)
def test_rows_of_one_id_meet_those_that_they_are_most_like(
    old: list[Row], new: list[Row], fates: list[str]
) -> None:
    assert [describe("Q1", *pair).fate for pair in pair_rows(old, new)] == fates


def test_ids_in_several_rows_of_an_edition_are_counted() -> None:
    documents = [
        ("Q1", "train", 1, False),
        ("Q1", "train", 1, False),
        ("Q1", "train", 1, True),
        ("Q2", "train", 1, True),
        ("Q2", "test", 2, True),
        ("Q3", "train", 1, False),
        ("Q3", "train", 1, True),
    ]
    tally, _ = compare_rows(table_of(documents), SPLITS)
    assert tally[REPEATED, "", ""] == 2


documents_drawn = st.lists(
    st.tuples(
        st.sampled_from(["Q1", "Q2", "Q30", "ukwiki:4"]),
        st.sampled_from(SPLITS),
        st.integers(0, 3),
        st.booleans(),
    ),
    max_size=30,
)


@given(documents_drawn, st.randoms(use_true_random=False))
def test_no_document_is_lost_and_the_order_says_nothing(
    documents: list[Document], chance: random.Random
) -> None:
    tally, changes = compare_rows(table_of(documents), SPLITS)
    counts = split_changes(tally, SPLITS)
    for split, of_split in counts.items():
        in_old, in_new = (
            sum(one[1] == split and one[3] == is_new for one in documents)
            for is_new in (False, True)
        )
        assert (of_split.old, of_split.new) == (in_old, in_new)
        kept = of_split.changed + of_split.unchanged
        assert of_split.old == of_split.removed + kept + of_split.moved_out
        assert of_split.new == of_split.added + kept + of_split.moved_in
    listed = collections.Counter((one.fate, one.old_split, one.new_split) for one in changes)
    told = {what: count for what, count in tally.items() if what[0] not in (UNCHANGED, REPEATED)}
    assert listed == told
    chance.shuffle(documents)
    assert compare_rows(table_of(documents), SPLITS) == (tally, changes)


@given(documents_drawn)
def test_the_other_way_round_what_came_has_gone(documents: list[Document]) -> None:
    tally, _ = compare_rows(table_of(documents), SPLITS)
    back, _ = compare_rows(table_of([(*one[:3], not one[3]) for one in documents]), SPLITS)
    mirrored = {ADDED: REMOVED, REMOVED: ADDED}
    assert back == {
        (mirrored.get(fate, fate), new, old): count for (fate, old, new), count in tally.items()
    }


@given(documents_drawn, st.lists(documents_drawn, max_size=3))
def test_ids_can_be_compared_in_several_parts(
    documents: list[Document], others: list[list[Document]]
) -> None:
    parts = [
        [(f"{number}{one[0]}", *one[1:]) for one in part]
        for number, part in enumerate([documents, *others])
    ]
    whole, changes = compare_rows(table_of([one for part in parts for one in part]), SPLITS)
    found = [compare_rows(table_of(part), SPLITS) for part in parts]
    assert add_tallies(tally for tally, _ in found) == whole
    assert sorted((one for _, some in found for one in some), key=order) == changes


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            Change("Q1", "Київ", CHANGED, "train", "train", 0, 12),
            "Q1\tКиїв\tchanged\ttrain\ttrain\t0\t12\n",
        ),
        (Change("Q1", "", ADDED, "", "test", None, 12), "Q1\t\tadded\t\ttest\t\t12\n"),
        (Change("Q1", "", REMOVED, "test", "", 12, None), "Q1\t\tremoved\ttest\t\t12\t\n"),
    ],
)
def test_a_change_is_a_line(change: Change, line: str) -> None:
    assert to_line(change) == line
    assert parse_line(line) == change


def test_a_title_is_no_formula_and_is_read_again() -> None:
    change = Change("Q1", "=HYPERLINK(1)", ADDED, "", "test", None, 12)
    assert to_line(change) == "Q1\t'=HYPERLINK(1)\tadded\t\ttest\t\t12\n"
    assert parse_line(to_line(change)) == change


def test_white_space_in_a_title_breaks_no_line() -> None:
    change = Change("Q1", " Two\tlines\u2028or\x85three\n", ADDED, "", "test", None, 12)
    assert to_line(change) == "Q1\tTwo lines or three\tadded\t\ttest\t\t12\n"
