import numpy

from transforms.books.combine_rows import CombineRows

ROWS = [[3, 1, 5], [1, 2, 1], [3, 1, 2], [3, 0, 9], [1, 2, -1]]


def test_rows_of_several_workers_are_summed() -> None:
    combine = CombineRows(columns=3, keys=2)
    accumulators = [
        combine.add_input(combine.create_accumulator(), numpy.array(part))
        for part in (ROWS[:2], ROWS[2:3], ROWS[3:])
    ]
    accumulators.append(combine.create_accumulator())
    merged = combine.compact(combine.merge_accumulators(accumulators))
    assert combine.extract_output(merged).tolist() == [[1, 2, 0], [3, 0, 9], [3, 1, 7]]


def test_no_rows_are_an_array_with_the_columns() -> None:
    combine = CombineRows(columns=4, keys=2)
    assert combine.extract_output(combine.create_accumulator()).shape == (0, 4)
