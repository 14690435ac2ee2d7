"""The hashed n-grams of books, dealt out to partitions by their hashes, and how they travel.

All owners of an n-gram meet in its partition. There is no other way to find out which books have an n-gram,
but the n-grams of all books would be as large as the corpus itself.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy
import numpy.typing

from transforms.text.duplicates.hashed_ngrams import Uint64s

Int64s = numpy.typing.NDArray[numpy.int64]
Uint32s = numpy.typing.NDArray[numpy.uint32]
Bools = numpy.typing.NDArray[numpy.bool_]

_HASHES = 1 << 64
_SIZE_BYTES = 8


class HashedBook(NamedTuple):
    """A book by its n-grams."""

    book_id: int
    tokens: int
    hashes: Uint64s  # of its n-grams, each once, ascending


class NgramBlock(NamedTuple):
    """The n-grams of some books in a partition: the hashes of each book, ascending, one book after the
    other.
    """

    books: Int64s  # rows (id, tokens, hashes)
    hashes: Uint64s


class SharedNgrams(NamedTuple):
    """The n-grams of a partition that several books have: the owners of each, in the order of books."""

    books: Int64s  # their ids, in the order of books
    owners: Uint32s  # places in `books`
    begins: Bools  # whether it is the first owner of an n-gram


def sample_hashes(hashes: Uint64s, sample: int) -> Uint64s:
    """The hashes, ascending, that are in the lowest of `sample` equal ranges; the lowest hash always.

    A share of these is an estimate of the same share of all: of two books the same n-grams are left out
    (Broder, "On the resemblance and containment of documents", 1997, section 3, takes those that are 0
    modulo m, to the same end).
    """
    count = int(numpy.searchsorted(hashes, numpy.uint64((_HASHES - 1) // sample), side="right"))
    return hashes[: max(count, 1)]


def cut_hashes(hashes: Uint64s, sample: int, partitions: int) -> Int64s:
    """Returns the places in sampled hashes, ascending, at which partitions begin and end: one more than
    partitions.

    Partitions are equal ranges of the hashes that can be there; the last takes also any above these.
    """
    limits = [_HASHES // sample * number // partitions for number in range(1, partitions)]
    inner = numpy.searchsorted(hashes, numpy.array(limits, numpy.uint64))
    return numpy.concatenate(([0], inner, [len(hashes)])).astype(numpy.int64)


def deal_hashes(
    books: Sequence[HashedBook], sample: int, partitions: int
) -> Iterator[tuple[int, NgramBlock]]:
    """(partition, the part of the books' hashes in it); a book is in a block if it has any there."""
    cut = [cut_hashes(book.hashes, sample, partitions) for book in books]
    cuts = numpy.array(cut, numpy.int64).reshape(-1, partitions + 1)
    keys = numpy.array([book[:2] for book in books], numpy.int64).reshape(-1, 2)
    sizes = numpy.diff(cuts, axis=1)
    for partition in range(partitions):
        (present,) = numpy.nonzero(sizes[:, partition])
        if not len(present):
            continue
        pieces = [
            books[place].hashes[cuts[place, partition] : cuts[place, partition + 1]]
            for place in present.tolist()
        ]
        rows = numpy.column_stack((keys[present], sizes[present, partition]))
        yield partition, NgramBlock(rows, numpy.concatenate(pieces))


def to_bytes(arrays: NgramBlock | SharedNgrams) -> bytes:
    """For `block_from_bytes`, or `shared_from_bytes`."""
    sizes = (array.size.to_bytes(_SIZE_BYTES, "little") for array in arrays)
    pieces = zip(sizes, (array.tobytes() for array in arrays), strict=True)
    return b"".join(itertools.chain.from_iterable(pieces))


def block_from_bytes(piece: bytes) -> NgramBlock:
    """The block again, read-only."""
    books, hashes = _read_arrays(piece, numpy.int64, numpy.uint64)
    return NgramBlock(books.reshape(-1, 3), hashes)


def shared_from_bytes(piece: bytes) -> SharedNgrams:
    """The shared n-grams again, read-only."""
    return SharedNgrams(*_read_arrays(piece, numpy.int64, numpy.uint32, numpy.bool_))


def _read_arrays(piece: bytes, *kinds: type) -> Iterator[Any]:
    at = 0
    for kind in kinds:
        size = int.from_bytes(piece[at : at + _SIZE_BYTES], "little")
        array: Any = numpy.frombuffer(piece, kind, size, at + _SIZE_BYTES)
        at += _SIZE_BYTES + array.nbytes
        yield array
