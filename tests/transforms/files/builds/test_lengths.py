"""Classes of lengths."""

import itertools

from corpusmill.transforms.files.builds.ledger import length_class, name_class


def test_each_length_is_in_the_class_that_names_it() -> None:
    for length in range(5_000):
        low, _, high = name_class(length_class(length)).partition("-")
        assert int(low) <= length <= int(high or low)


def test_classes_follow_each_other_without_a_gap() -> None:
    ends = [list(map(int, name_class(number).split("-"))) for number in range(40)]
    assert all(one[-1] + 1 == two[0] for one, two in itertools.pairwise(ends))
