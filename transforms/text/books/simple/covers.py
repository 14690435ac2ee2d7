"""The rule of overlap.py, where of all larger books only candidates are compared with a book.

A book that all its candidates together do not cover is kept, whatever becomes of them; the others are
contested. Whether a contested book is kept depends on its contested candidates, and on theirs: on its
connected component.
"""

from collections.abc import Collection, Iterable
from fractions import Fraction
from typing import NamedTuple

import numpy

from transforms.text.books.simple.ngram_blocks import Bools, Int64s
from transforms.text.books.simple.overlap import overlaps
from transforms.text.duplicates.hashed_ngrams import Uint64s

_ID_BITS = 32
_MOST_TOKENS = (1 << 31) - 1


class Cover(NamedTuple):
    """The n-grams of a book that its candidates have."""

    number: int  # of the book
    ngrams: int
    owners: tuple[int, ...]  # numbers of the candidates that have any, ascending
    packed: bytes  # for each owner a bit for each n-gram; see `marks_of`


def number_book(book_id: int, tokens: int) -> int:
    """A number that ascends as books are chosen: the largest first, then the smallest id.

    Raises ValueError where a book has too many tokens, or its id is too large.
    """
    if tokens > _MOST_TOKENS or book_id >> _ID_BITS:
        raise ValueError(f"book {book_id} has {tokens} tokens: one of both is too large")
    return (_MOST_TOKENS - tokens << _ID_BITS) | book_id


def id_of(number: int) -> int:
    """The id of the book."""
    return number & ((1 << _ID_BITS) - 1)


def cover_book(number: int, ngrams: Uint64s, candidates: Iterable[tuple[int, Uint64s]]) -> Cover:
    """Finds the n-grams of a book that larger books have.

    Args:
      ngrams: different hashes, ascending, of the book; those of candidates are, too.
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
    """A row for each owner: which n-grams it has."""
    rows = numpy.frombuffer(cover.packed, numpy.uint8).reshape(len(cover.owners), -1)
    return numpy.unpackbits(rows, axis=1, count=cover.ngrams).astype(numpy.bool_)


def is_contested(cover: Cover, threshold: Fraction) -> bool:
    """Returns True if all owners together cover the book."""
    return overlaps(_count_covered(cover, cover.owners), cover.ngrams, threshold)


def decide_covers(covers: Iterable[Cover], threshold: Fraction) -> list[int]:
    """Numbers of the books of a component that are not kept; owners that are in no cover are kept."""
    dropped: set[int] = set()
    for cover in sorted(covers):
        kept = [owner for owner in cover.owners if owner not in dropped]
        if overlaps(_count_covered(cover, kept), cover.ngrams, threshold):
            dropped.add(cover.number)
    return sorted(dropped)


def attribute_cover(cover: Cover, dropped: Int64s) -> dict[int, int]:
    """Id of a kept owner → n-grams that no larger kept owner has."""
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
