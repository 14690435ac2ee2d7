"""Parts of a plan, each once, and by the same keys however often a worker does it anew."""

import apache_beam as beam
from apache_beam.testing.util import assert_that, equal_to
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.distribution import Spread, SpreadAll, _number_parts
from tests.tools.run_pipeline import run_pipeline


def count_up(first: int, count: int) -> list[int]:
    return list(range(first, first + count))


def test_every_part_comes_once() -> None:
    found = run_pipeline(
        lambda root: {"parts": root | beam.Create([0, 5, 2]) | Spread(count_up, 4, of=int)}
    ).elements["parts"]
    assert sorted(found) == sorted(count_up(0, 4) + count_up(5, 4) + count_up(2, 4))


def test_lists_are_taken_apart() -> None:
    with beam.Pipeline() as root:
        assert_that(
            root | beam.Create([["a", "b", "a"], []]) | Spread(iter, of=str),
            equal_to(["a", "b", "a"]),
        )


def test_a_list_is_dealt_out() -> None:
    found = run_pipeline(lambda root: {"parts": root | SpreadAll(["b", "a", "b"], of=str)}).elements
    assert sorted(found["parts"]) == ["a", "b", "b"]


@given(st.text(), st.integers(0, 300))
def test_parts_of_one_element_are_numbered_in_a_row(element: str, count: int) -> None:
    numbers = [number for number, _ in _number_parts(element, lambda _: range(count), ())]
    assert numbers == list(range(numbers[0], numbers[0] + count)) if count else not numbers
    assert numbers == [number for number, _ in _number_parts(element, lambda _: range(count), ())]
