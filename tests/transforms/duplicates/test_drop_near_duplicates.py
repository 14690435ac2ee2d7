import random
from collections.abc import Sequence
from pathlib import Path

import numpy
import pyarrow.parquet as pq
import pytest

from corpusmill.transforms.duplicates import near_duplicate_lines
from corpusmill.transforms.duplicates.minhash import jaccard
from corpusmill.transforms.duplicates.near_duplicate_lines import (
    SCHEMA,
    DropNearDuplicates,
    LinePairs,
    list_removed,
    near_pairs,
)
from corpusmill.transforms.files.records import LineRange
from tests.makers.line_ranges import cut, lines_in, ranges_of
from tests.tools.run_pipeline import Outcome, run_transform

FILE = "rejected/near-duplicates-00000-of-00001.parquet"
WORDS = [b"w%d" % number for number in range(4000)]


def sentence(start: int, words: int = 40) -> list[bytes]:
    return WORDS[start : start + words]


def chain(start: int) -> list[bytes]:
    """Lines of 40 words, each three words further on: neighbours have 35 of 41 3-grams in common."""
    return [b" ".join(sentence(start + 3 * step)) for step in range(4)]


CHAIN = chain(1000)
CHANGED_END = [b" ".join([*sentence(2000)[:39], last]) for last in (b"A", b"B", b"C")]
CHANGED_MIDDLE = [b" ".join([*sentence(3000)[:20], b"X", *sentence(3000)[21:]])]
UNLIKE = [b" ".join(sentence(50 * number)) for number in range(10)]
LINES = [
    *UNLIKE[:4],
    b" ".join(sentence(3000)),
    *CHAIN,
    b"",
    *CHANGED_END,
    *UNLIKE[4:],
    *CHANGED_MIDDLE,
    b"one two",
    b"one  two",
    b"one two three",
    " ".join(["Київ"] * 5).encode(),
    b"\xed\xa0\x80 \xff",
    b" ",
]
PAIRS = [  # removed, kept
    *[(removed, CHAIN[0]) for removed in CHAIN[1:]],
    *[(removed, CHANGED_END[0]) for removed in CHANGED_END[1:]],
    (CHANGED_MIDDLE[0], b" ".join(sentence(3000))),
    (b"one  two", b"one two"),
    (b" ", b""),
]
REMOVED = {removed for removed, _ in PAIRS}
KEPT = [line for line in LINES if line not in REMOVED]


def drop(
    folder: Path, ranges: Sequence[LineRange], threshold: float = 0.8, workers: int = 0
) -> Outcome:
    return run_transform(DropNearDuplicates(str(folder), threshold), ranges, workers)


def rows_in(folder: Path) -> list[tuple[str, str, float]]:
    return [tuple(row.values()) for row in pq.read_table(folder / "rejected").to_pylist()]


def tree_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*.parquet")}


def test_the_first_of_alike_lines_stays(tmp_path: Path) -> None:
    outcome = drop(tmp_path, cut(LINES, 7))
    assert lines_in(outcome.elements["kept"]) == KEPT
    assert outcome.elements["counts"] == [len(PAIRS)] == [len(LINES) - len(KEPT)]
    assert outcome.counters == {"drop-near-duplicates/near-duplicate": len(PAIRS)}
    (file,) = outcome.elements["removed"]
    assert (file.name, file.records) == (FILE, len(PAIRS))
    assert rows_in(tmp_path) == sorted(
        (kept.decode(), removed.decode(), jaccard(kept, removed, 3)) for removed, kept in PAIRS
    )


def test_a_line_at_the_end_of_a_chain_may_be_less_alike(tmp_path: Path) -> None:
    drop(tmp_path, ranges_of([CHAIN]))
    assert [similarity for _, _, similarity in rows_in(tmp_path)] == [35 / 41, 32 / 44, 29 / 47]


@pytest.fixture(scope="module")
def expected_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("expected")
    drop(folder, cut(LINES, 7))
    return tree_of(folder)


@pytest.mark.parametrize(
    ("size", "at_once", "workers"),
    [(1, 1, 0), (2, 100, 0), (13, 2, 0), (100, 7, 0), (100, 1, 0), (3, 2, 1), (3, 2, 2)],
)
def test_nothing_depends_on_the_cut_or_on_the_order_of_ranges_or_on_workers(
    tmp_path: Path,
    expected_files: dict[str, bytes],
    size: int,
    at_once: int,
    workers: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nor on how many lines are signed, or pairs fetched, at once."""
    for name in ("LINES_AT_ONCE", "PAIRS_AT_ONCE"):
        monkeypatch.setattr(near_duplicate_lines, name, at_once)
    ranges = cut(LINES, size)
    shuffled = random.Random(size).sample(ranges, len(ranges))
    kept = sorted(drop(tmp_path, shuffled, workers=workers).elements["kept"])
    assert lines_in(kept) == KEPT
    assert [one.index for one in kept] == [one.index for one in ranges]
    for before, after in zip(ranges, kept, strict=True):
        assert lines_in([after]) == [line for line in lines_in([before]) if line not in REMOVED]
    assert tree_of(tmp_path) == expected_files


def test_with_nothing_removed_there_is_an_empty_file(tmp_path: Path) -> None:
    (file,) = drop(tmp_path, cut(UNLIKE, 3)).elements["removed"]
    assert (file.name, file.records) == (FILE, 0)
    assert pq.read_table(tmp_path / file.name) == SCHEMA.empty_table()


def test_removed_lines_are_readable() -> None:
    removed, kept = [b"a  b", b"a b c d", b"\xed\xa0\x80 x"], [b"a b", b"b c d", b"\xff"]
    pairs = LinePairs(numpy.zeros((3, 2), numpy.int64), removed, kept)
    assert list(list_removed(pairs)) == [
        ("a b", "a  b", 1.0),
        ("b c d", "a b c d", 1 / 2),
        (r"\xff", r"\xed\xa0\x80 x", 0.0),
    ]


def test_boilerplate_that_varies_a_little_is_left_once(tmp_path: Path) -> None:
    lines = [b" ".join([*sentence(0, 60), b"%05d" % number]) for number in range(300)]
    outcome = drop(tmp_path, cut(lines, 90))
    kept = sorted(outcome.elements["kept"])
    assert lines_in(kept) == lines[:1]
    assert [one.lines for one in kept] == [1, 0, 0, 0]
    assert outcome.elements["counts"] == [299]


@pytest.mark.parametrize(
    ("threshold", "removed"),
    [(0.5, REMOVED), (0.9, {*CHANGED_END[1:], b"one  two", b" "}), (0.96, {b"one  two", b" "})],
)
def test_the_threshold_decides(tmp_path: Path, threshold: float, removed: set[bytes]) -> None:
    outcome = drop(tmp_path, cut(LINES, 7), threshold)
    assert lines_in(outcome.elements["kept"]) == [line for line in LINES if line not in removed]


def test_near_pairs_reach_the_threshold() -> None:
    firsts = [b"a b c d e f", b"a b c d e f", b"a b c"]
    seconds = [b"a b c d e f g", b"a b c d e f g h", b" a b  c"]  # similarities 4/5, 4/6 and 1
    pairs = LinePairs(numpy.array([[1, 2], [1, 3], [1, 4]]), firsts, seconds)
    (near,) = near_pairs(pairs, 0.8)
    assert near.tolist() == [[1, 2], [1, 4]]
    assert list(near_pairs(LinePairs(pairs.ids[1:2], firsts[1:2], seconds[1:2]), 0.7)) == []


@pytest.mark.parametrize("ranges", [[], ranges_of([[]]), ranges_of([[b"one"], [b"two"]])])
def test_nothing_to_remove(tmp_path: Path, ranges: list[LineRange]) -> None:
    outcome = drop(tmp_path, ranges)
    assert sorted(outcome.elements["kept"]) == ranges
    assert outcome.elements["counts"] == [0]
    assert [file.records for file in outcome.elements["removed"]] == [0]
    assert outcome.counters == {}
    assert rows_in(tmp_path) == []


@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        (-0.1, "threshold must be at least 0 and below 1, not -0.1"),
        (1.0, "threshold must be at least 0 and below 1, not 1.0"),
        (float("nan"), "threshold must be at least 0 and below 1, not nan"),
        (0.9999, "is too high for"),
    ],
)
def test_thresholds_that_make_no_sense(threshold: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DropNearDuplicates("", threshold)
