"""Partitions the hashed n-grams of books by their hashes, and serialises them.

A partition lists, for each of its n-grams, all books that contain it (the owners). So each partition shows
which books share an n-gram. The n-grams of all books are never in one place, because they would be as large
as the corpus.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy
import numpy.typing

from corpusmill.transforms.duplicates.hashed_ngrams import Uint64s

Int64s = numpy.typing.NDArray[numpy.int64]
Uint32s = numpy.typing.NDArray[numpy.uint32]
Bools = numpy.typing.NDArray[numpy.bool_]

_HASHES = 1 << 64
_SIZE_BYTES = 8


class HashedBook(NamedTuple):
    """A book with the hashes of its n-grams."""

    book_id: int
    tokens: int
    hashes: Uint64s  # hashes of its n-grams, ascending, without repetitions


class NgramBlock(NamedTuple):
    """The n-gram hashes of several books, as far as they belong to one partition.

    The hashes of each book are consecutive and ascending.
    """

    books: Int64s  # rows (id, tokens, number of hashes)
    hashes: Uint64s


class SharedNgrams(NamedTuple):
    """The n-grams of a partition that occur in several books.

    Each n-gram is stored with its owners, the books in which it occurs, the largest first.
    """

    books: Int64s  # ids, the largest book first
    owners: Uint32s  # indexes in `books`
    begins: Bools  # True for the first owner of each n-gram


def sample_hashes(hashes: Uint64s, sample: int) -> Uint64s:
    """Returns a sample of hashes: those in the lowest 1/`sample` of the 64-bit range, and the lowest hash.

    `hashes` must be ascending. A share among the sampled hashes estimates the same share among all hashes,
    since the same n-grams are left out of every book. (Broder, "On the resemblance and containment of
    documents", 1997, section 3, uses hashes that are 0 modulo m for the same purpose.)
    """
    count = int(numpy.searchsorted(hashes, numpy.uint64((_HASHES - 1) // sample), side="right"))
    return hashes[: max(count, 1)]


def cut_hashes(hashes: Uint64s, sample: int, partitions: int) -> Int64s:
    """Returns the index in `hashes` at which each partition begins, and the index at which the last one ends.

    `hashes` must be ascending and come from `sample_hashes`. The lowest 1/`sample` of the 64-bit range is
    divided equally among the partitions. If no hash of a book is in this part of the range, `sample_hashes`
    returns one hash above it, the lowest. This hash is in the last partition.
    """
    limits = [_HASHES // sample * number // partitions for number in range(1, partitions)]
    inner = numpy.searchsorted(hashes, numpy.array(limits, numpy.uint64))
    return numpy.concatenate(([0], inner, [len(hashes)])).astype(numpy.int64)


def deal_hashes(
    books: Sequence[HashedBook], sample: int, partitions: int
) -> Iterator[tuple[int, NgramBlock]]:
    """Distributes the hashes of books to partitions. Yields (number of a partition, block with its hashes).

    A block contains only books that have a hash in the partition. The hashes of each book must be those that
    `sample_hashes` returns for this `sample`.
    """
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
    """Serialises a block or shared n-grams. `block_from_bytes` and `shared_from_bytes` restore them."""
    sizes = (array.size.to_bytes(_SIZE_BYTES, "little") for array in arrays)
    pieces = zip(sizes, (array.tobytes() for array in arrays), strict=True)
    return b"".join(itertools.chain.from_iterable(pieces))


def block_from_bytes(piece: bytes) -> NgramBlock:
    """Restores a block from bytes. Its arrays are read-only."""
    books, hashes = _read_arrays(piece, numpy.int64, numpy.uint64)
    return NgramBlock(books.reshape(-1, 3), hashes)


def shared_from_bytes(piece: bytes) -> SharedNgrams:
    """Restores shared n-grams from bytes. Their arrays are read-only."""
    return SharedNgrams(*_read_arrays(piece, numpy.int64, numpy.uint32, numpy.bool_))


def _read_arrays(piece: bytes, *kinds: type) -> Iterator[Any]:
    at = 0
    for kind in kinds:
        size = int.from_bytes(piece[at : at + _SIZE_BYTES], "little")
        array: Any = numpy.frombuffer(piece, kind, size, at + _SIZE_BYTES)
        at += _SIZE_BYTES + array.nbytes
        yield array
