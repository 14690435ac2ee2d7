import functools
import random

import numpy
import pytest

from corpusmill.transforms.books.book_overlap import sum_rows
from corpusmill.transforms.duplicates import similar_documents
from corpusmill.transforms.duplicates.similar_documents import CombinePairs, different_pairs
from tests.makers.number_pairs import pairs_of


@pytest.mark.parametrize("reduce_rows", [0, 7, 1 << 18])
def test_gathered_in_parts(reduce_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similar_documents, "REDUCE_ROWS", reduce_rows)
    chance = random.Random(reduce_rows)
    pairs = [(chance.randrange(20), chance.randrange(20)) for _ in range(500)]
    combine = CombinePairs(different_pairs)
    accumulators = []
    for start in range(0, 500, 100):
        gathered = combine.create_accumulator()
        for place in range(start, start + 100, 4):
            gathered = combine.add_input(gathered, pairs_of(pairs[place : place + 4]))
        accumulators.append(gathered)
    merged = combine.merge_accumulators([*accumulators, combine.create_accumulator()])
    expected = [list(pair) for pair in sorted(set(pairs))]
    assert combine.extract_output(merged).tolist() == expected


def test_rows_are_reduced_as_they_come() -> None:
    combine = CombinePairs(different_pairs)
    gathered = combine.create_accumulator()
    many = numpy.zeros((similar_documents.REDUCE_ROWS // 4 + 1, 2), numpy.int64)
    for _ in range(4):
        gathered = combine.add_input(gathered, many)
    assert [array.tolist() for array in gathered.arrays] == [[[0, 0]]]


def test_rows_of_several_columns_are_summed() -> None:
    combine = CombinePairs(functools.partial(sum_rows, keys=2), columns=3)
    rows = [[3, 1, 5], [1, 2, 1], [3, 1, 2], [3, 0, 9], [1, 2, -1]]
    accumulators = [
        combine.add_input(combine.create_accumulator(), numpy.array(part))
        for part in (rows[:2], rows[2:3], rows[3:])
    ]
    accumulators.append(combine.create_accumulator())
    merged = combine.compact(combine.merge_accumulators(accumulators))
    assert combine.extract_output(merged).tolist() == [[1, 2, 0], [3, 0, 9], [3, 1, 7]]
    assert combine.extract_output(combine.create_accumulator()).shape == (0, 3)
