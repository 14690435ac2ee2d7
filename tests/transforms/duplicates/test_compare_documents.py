from fractions import Fraction
from pathlib import Path

import apache_beam as beam
import numpy
import pytest

from corpusmill.transforms.duplicates.similar_documents import (
    CompareDocuments,
    DocumentFacts,
    Sketch,
)
from corpusmill.transforms.files.scratch import Scratch
from tests.makers.number_pairs import pairs_of
from tests.tools.run_pipeline import run_inputs

HASHES = {-5: [1, 2, 3, 4], 2: [1, 2, 8, 9], 3: [1, 2, 3, 9], 9: [1 << 63]}


def facts_of(number: int) -> DocumentFacts:
    return DocumentFacts(number, f"Title {number}", 10 * number)


def compare(folder: Path, parts: list[list[list[int]]]) -> list[tuple[int, int, Fraction]]:
    scratch = Scratch(str(folder))
    sketches = [
        (
            number,
            Sketch(number, facts_of(number), scratch.put(numpy.array(hashes, "<u8").tobytes())),
        )
        for number, hashes in HASHES.items()
    ]
    outcome = run_inputs(
        lambda rows, of: rows | beam.Map(pairs_of) | CompareDocuments(of),
        **{"rows": parts, "of": sketches},
    )
    found = []
    for pair in outcome.elements["main"]:
        for one in (pair.first, pair.second):
            assert one == Sketch(one.number, facts_of(one.number), b"")
        found.append((pair.first.number, pair.second.number, pair.similarity))
    return sorted(found)


@pytest.mark.parametrize(
    "parts", [[[[-5, 2], [-5, 3], [9, 3]]], [[[9, 3], [-5, 3]], [], [[-5, 2]]]]
)
def test_each_pair_is_compared(tmp_path: Path, parts: list[list[list[int]]]) -> None:
    assert compare(tmp_path, parts) == [
        (-5, 2, Fraction(2, 6)),
        (-5, 3, Fraction(3, 5)),
        (9, 3, Fraction(0)),
    ]


def test_none_is_compared_with_itself(tmp_path: Path) -> None:
    assert compare(tmp_path, [[[2, 2]], []]) == []
