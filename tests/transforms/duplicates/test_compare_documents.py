from fractions import Fraction
from pathlib import Path

import apache_beam as beam
import numpy
import pytest

from tests.tools.run_pipeline import run_inputs
from transforms.duplicates.compare_documents import CompareDocuments, Sketch, split_pairs
from transforms.files.scratch import Scratch
from transforms.text.duplicates.components import Pairs

DATA = {-5: b"abcd", 2: b"abxx", 3: b"abcx", 9: b"zzzz"}


def share_of_equal_bytes(first: bytes, second: bytes) -> Fraction:
    return Fraction(sum(map(int.__eq__, first, second)), len(first))


def pairs_of(rows: list[list[int]]) -> Pairs:
    return numpy.array(rows, numpy.int64).reshape(-1, 2)


def compare(folder: Path, parts: list[list[list[int]]]) -> list[tuple[int, int, Fraction]]:
    scratch = Scratch(str(folder))
    sketches = [
        (number, Sketch(number, str(number), 10 * number, scratch.put(data)))
        for number, data in DATA.items()
    ]
    outcome = run_inputs(
        lambda rows, of: rows | beam.Map(pairs_of) | CompareDocuments(of, share_of_equal_bytes),
        **{"rows": parts, "of": sketches},
    )
    found = []
    for pair in outcome.elements["main"]:
        for one in (pair.first, pair.second):
            assert one == Sketch(one.number, str(one.number), 10 * one.number, b"")
        found.append((pair.first.number, pair.second.number, pair.similarity))
    return sorted(found)


@pytest.mark.parametrize(
    "parts", [[[[-5, 2], [-5, 3], [9, 3]]], [[[9, 3], [-5, 3]], [], [[-5, 2]]]]
)
def test_each_pair_is_compared(tmp_path: Path, parts: list[list[list[int]]]) -> None:
    assert compare(tmp_path, parts) == [
        (-5, 2, Fraction(2, 4)),
        (-5, 3, Fraction(3, 4)),
        (9, 3, Fraction(0)),
    ]


def test_none_is_compared_with_itself(tmp_path: Path) -> None:
    assert compare(tmp_path, [[[2, 2]], []]) == []


def test_pairs_are_split_by_the_first() -> None:
    split = split_pairs(pairs_of([[4, 1], [2, 9], [4, 0], [2, 3]]))
    assert [(first, seconds.tolist()) for first, seconds in split] == [
        (2, [3, 9]),
        (4, [0, 1]),
    ]
