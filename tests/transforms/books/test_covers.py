from fractions import Fraction

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.book_overlap import (
    attribute_cover,
    cover_book,
    decide_covers,
    id_of,
    is_contested,
    marks_of,
    number_book,
)

HALF = Fraction(1, 2)
NGRAMS = st.sets(st.integers(0, 40), min_size=1, max_size=25)


def test_numbers_ascend_as_books_are_chosen() -> None:
    books = [(7, 900), (2, 500), (3, 500), (1, 20)]
    numbers = [number_book(*book) for book in books]
    assert numbers == sorted(numbers)
    assert [id_of(number) for number in numbers] == [7, 2, 3, 1]


@pytest.mark.parametrize("book", [(1, 1 << 31), (1 << 32, 5)])
def test_a_number_has_room(book: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="the id or the number of tokens is too large"):
        number_book(*book)


@given(st.lists(NGRAMS, min_size=1, max_size=6))
def test_with_all_larger_books_as_candidates_the_choice_is_that_of_one_loop(
    books: list[set[int]],
) -> None:
    """Books are given in their order."""
    hashes = [numpy.array(sorted(book), numpy.uint64) for book in books]
    covers = [
        cover
        for number, own in enumerate(hashes)
        if (cover := cover_book(number, own, enumerate(hashes[:number]))).owners
    ]
    dropped: list[int] = []
    for number, book in enumerate(books):
        kept = [books[other] for other in range(number) if other not in dropped]
        if 2 * len(book & set().union(*kept)) >= len(book):
            dropped.append(number)
    contested = [cover for cover in covers if is_contested(cover, HALF)]
    assert decide_covers(contested, HALF) == dropped
    for cover in covers:
        assert marks_of(cover).shape == (len(cover.owners), cover.ngrams)
        covering = attribute_cover(cover, numpy.array(dropped))
        left = books[cover.number]
        for owner in range(cover.number):
            own = left & books[owner] if owner not in dropped else set()
            assert covering.pop(owner, 0) == len(own)
            left = left - own
        assert not covering
