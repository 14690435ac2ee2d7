import itertools

import numpy
import pytest

from corpusmill.transforms.duplicates import near_duplicate_lines
from corpusmill.transforms.duplicates.near_duplicate_lines import (
    BucketBlock,
    FindSimilarLines,
    pair_partition,
)
from corpusmill.transforms.files.records import LineRange
from tests.makers.line_ranges import cut, ranges_of
from tests.tools.run_pipeline import run_transform

NUMBERS = [b"%d" % number for number in range(100)]
LINES = sorted(
    [b" ".join(NUMBERS[start : start + 40]) for start in range(0, 60, 20)]
    + [b" ".join([*NUMBERS[20:59], last]) for last in (b"x", b"y")]
    + [b"short", b"", b" "]
)


def numbers_of(lines: list[bytes], size: int) -> list[tuple[int, int]]:
    """The pairs that are found, as places in `lines`; each stands with the range of its first."""
    outcome = run_transform(FindSimilarLines(0.8), cut(lines, size))
    found = []
    for index, pairs in outcome.elements["main"]:
        for first, second in pairs.tolist():
            assert first >> 32 == index
            places = [(one >> 32) * size + one % (1 << 32) for one in (first, second)]
            found.append((places[0], places[1]))
    return sorted(found)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_alike_lines_are_found_once_however_the_ranges_are_cut(size: int) -> None:
    blank = (LINES.index(b""), LINES.index(b" "))
    alike = [place for place, line in enumerate(LINES) if line.startswith(b"20 ")]
    assert len(alike) == 3
    assert numbers_of(LINES, size) == sorted([blank, *itertools.combinations(alike, 2)])


@pytest.mark.parametrize("lines_at_once", [1, 2, 7])
def test_lines_are_signed_some_at_a_time(
    lines_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = numbers_of(LINES, 5)
    monkeypatch.setattr(near_duplicate_lines, "LINES_AT_ONCE", lines_at_once)
    assert numbers_of(LINES, 5) == expected


@pytest.mark.parametrize("ranges", [[], ranges_of([[]]), ranges_of([[b"one"]])])
def test_without_pairs_there_is_nothing(ranges: list[LineRange]) -> None:
    assert run_transform(FindSimilarLines(0.8), ranges).elements["main"] == []


def test_lines_of_equal_buckets_are_paired() -> None:
    places, buckets = (numpy.array(one, numpy.uint32) for one in ([0, 1, 2], [8, 9, 8]))
    ((index, pairs),) = pair_partition((0xABC, [BucketBlock(4, places, buckets)]))
    assert (index, pairs.tolist()) == (4, [[4 << 32, (4 << 32) + 2]])
