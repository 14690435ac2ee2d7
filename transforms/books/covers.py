"""Decides which books are dropped because they overlap with larger books.

Each book is compared with only some of the larger books, its candidates. As in overlap.py, a book is dropped
if at least a given share (the threshold) of its n-grams is also in its kept candidates, taken together.

If all candidates of a book, kept or not, together have less than this share of its n-grams, the book is
certainly kept. All other books are contested. To decide about a contested book, it must be known which of its
candidates are kept. These may be contested, too, and depend on their own candidates. So all contested books
that are linked in this way, directly or through other contested books, are decided together. They are a
connected component of the graph in which each contested book is linked to its contested candidates.

The cover of a book is the set of its n-grams that its candidates also have. The owners of a cover are the
candidates that have any of these n-grams.
"""

from collections.abc import Collection, Iterable
from fractions import Fraction
from typing import NamedTuple

import numpy

from corpusmill.transforms.books.ngram_blocks import Bools, Int64s
from corpusmill.transforms.books.overlap import overlaps
from corpusmill.transforms.duplicates.hashed_ngrams import Uint64s

_ID_BITS = 32
_MOST_TOKENS = (1 << 31) - 1


class Cover(NamedTuple):
    """The n-grams of a book that larger books, its candidates, also have."""

    number: int  # number of the book, see `number_book`
    ngrams: int  # number of n-grams of the book
    owners: tuple[int, ...]  # numbers of the candidates that have any of the n-grams, ascending
    packed: bytes  # for each owner one bit per n-gram; see `marks_of`


def number_book(book_id: int, tokens: int) -> int:
    """Returns a number that sorts books: the largest book first; of equally large books, the smallest id
    first.

    Raises ValueError if a book has too many tokens, or its id is too large.
    """
    if tokens > _MOST_TOKENS or book_id >> _ID_BITS:
        raise ValueError(
            f"book {book_id} has {tokens} tokens: the id or the number of tokens is too large"
        )
    return (_MOST_TOKENS - tokens << _ID_BITS) | book_id


def id_of(number: int) -> int:
    """Returns the id of the book with this number."""
    return number & ((1 << _ID_BITS) - 1)


def cover_book(number: int, ngrams: Uint64s, candidates: Iterable[tuple[int, Uint64s]]) -> Cover:
    """Finds the n-grams of a book that its candidates also have.

    Args:
      number: number of the book, from `number_book`.
      ngrams: hashes of the book's n-grams, ascending, without repetitions.
      candidates: (number, hashes like `ngrams`) for each larger book to compare.
    """
    marks = {}
    for candidate, hashes in candidates:
        places = numpy.searchsorted(hashes, ngrams)
        found = hashes[numpy.minimum(places, len(hashes) - 1)] == ngrams
        if found.any():
            marks[candidate] = found
    owners = tuple(sorted(marks))
    packed = b"".join(numpy.packbits(marks[owner]).tobytes() for owner in owners)
    return Cover(number, len(ngrams), owners, packed)


def marks_of(cover: Cover) -> Bools:
    """Returns one row for each larger book in `cover.owners`, and one column for each n-gram of the book.

    A value is True if the larger book has the n-gram.
    """
    rows = numpy.frombuffer(cover.packed, numpy.uint8).reshape(len(cover.owners), -1)
    return numpy.unpackbits(rows, axis=1, count=cover.ngrams).astype(numpy.bool_)


def is_contested(cover: Cover, threshold: Fraction) -> bool:
    """Returns True if a book may have to be dropped because of its overlap with larger books.

    This is the case if its candidates, kept or not, together have at least the share `threshold` of its
    n-grams.
    """
    return overlaps(_count_covered(cover, cover.owners), cover.ngrams, threshold)


def decide_covers(covers: Iterable[Cover], threshold: Fraction) -> list[int]:
    """Decides which books of a connected component are dropped, and returns their numbers, ascending.

    `covers` has the Cover of each contested book of the component. All other books are kept.
    """
    dropped: set[int] = set()
    for cover in sorted(covers):
        kept = [owner for owner in cover.owners if owner not in dropped]
        if overlaps(_count_covered(cover, kept), cover.ngrams, threshold):
            dropped.add(cover.number)
    return sorted(dropped)


def attribute_cover(cover: Cover, dropped: Int64s) -> dict[int, int]:
    """Attributes each n-gram of a book to the largest of its kept candidates that also has the n-gram.

    Returns id of the kept candidate → number of n-grams. `dropped` has the numbers of the dropped books, see
    `number_book`.
    """
    seen = numpy.zeros(cover.ngrams, numpy.bool_)
    found = {}
    for owner, marks in zip(cover.owners, marks_of(cover), strict=True):
        if owner not in dropped:
            if own := int(numpy.count_nonzero(marks & ~seen)):
                found[id_of(owner)] = own
            seen |= marks
    return found


def _count_covered(cover: Cover, owners: Collection[int]) -> int:
    chosen = [owner in owners for owner in cover.owners]
    return int(numpy.count_nonzero(marks_of(cover)[chosen].any(axis=0)))
