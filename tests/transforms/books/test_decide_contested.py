from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pytest

from corpusmill.transforms.books.book_overlap import ContestedBook, SharedNgrams, to_bytes
from corpusmill.transforms.books.select_books import (
    chain_partition,
    decide_component,
    key_chain,
    key_contested,
)
from corpusmill.transforms.files.scratch import Scratch


@pytest.mark.parametrize(("first", "component"), [(1, 1), (4, 1), (7, 2), (2, 2), (9, 9)])
def test_chains_go_to_their_component(first: int, component: int) -> None:
    links = numpy.array([[4, 1], [7, 2]])
    chain = numpy.array([first, 100]).tobytes()
    assert key_chain((chain, 3), links) == (component, (chain, 3))


def test_contested_books_go_to_their_component() -> None:
    contested = numpy.array([[1, 50, 10, 6], [4, 40, 10, 5], [9, 30, 8, 8]])
    keyed = list(key_contested(contested, numpy.array([[4, 3]]), numpy.array([[4, 1]])))
    assert keyed == [
        (1, ContestedBook(1, 50, 10, 0)),
        (1, ContestedBook(4, 40, 10, 3)),
        (9, ContestedBook(9, 30, 8, 0)),
    ]


def test_a_partition_is_not_read_where_no_book_is_contested() -> None:
    assert list(chain_partition(b"nothing", numpy.empty((0, 4), numpy.int64))) == []


def test_a_partition_gives_chains_and_more_on_the_side(tmp_path: Path) -> None:
    """Books 10 and 30 are contested; the n-grams: 10-30 twice, 20-30."""
    shared = SharedNgrams(
        numpy.array([10, 20, 30]),
        numpy.array([0, 2, 0, 2, 1, 2], numpy.uint32),
        numpy.array([True, False] * 3),
    )
    packed = Scratch(str(tmp_path)).put(to_bytes(shared))
    contested = numpy.array([[10, 9, 9, 9], [30, 8, 8, 8]])
    certain, links, chain = chain_partition(packed, contested)
    assert (certain.tag, certain.value.tolist()) == ("certain", [[30, 1]])
    assert (links.tag, links.value.tolist()) == ("links", [[10, 30]])
    assert chain == (numpy.array([10, 30]).tobytes(), 2)


def test_a_component_is_decided_in_one_place() -> None:
    books = [ContestedBook(4, 40, 10, 3), ContestedBook(1, 50, 10, 0)]
    chains = [(numpy.array([1, 4]).tobytes(), 2)]
    joined: dict[str, list[Any]] = {"books": books, "chains": chains}
    assert decide_component((1, joined), Fraction(1, 2)).tolist() == [[4]]
    assert decide_component((1, joined), Fraction(2, 3)).tolist() == []
