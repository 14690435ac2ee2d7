"""Partitions the hashed n-grams of books by their hashes, and serialises them.

A partition lists, for each of its n-grams, all books that contain it (the owners). So each partition shows
which books share an n-gram. The n-grams of all books are never in one place, because they would be as large
as the corpus.

Chooses books that do not overlap.

Books are examined from the largest to the smallest. A book that overlaps the books kept so far is dropped.

The rule is that of Nguyen, "SimpleBooks", 2019, section 2: a book is dropped if at least a given share (the
threshold) of its different n-grams is also in the kept larger books, taken together. Such n-grams are
covered. Computed directly, this is one long loop over the corpus. Here it is done in steps that give the same
result. "Earlier" books are larger books, which the loop examines earlier:

1. An n-gram that is in no earlier book, kept or not, is not covered. So a book is certainly kept if too few
  of its n-grams are in earlier books: the book is free. All other books are contested.
2. An n-gram of a contested book is covered if a free earlier book has it, since that book is kept. Otherwise
  all earlier books that have the n-gram are contested, too. The n-gram is covered if one of them is kept. All
  books that have such an n-gram form its chain, the largest first. Whether the n-gram is covered for a book
  depends only on the books before that book in the chain.
3. So the decision about a contested book depends on the books in its chains, and these depend on other books:
  all books of a connected component depend on each other. Deciding the books of a component in order gives,
  by induction, the same kept books as the loop.

The n-grams of all books are never in one place. They are partitioned by their hashes, and a partition has all
owners of its n-grams. The results of partitions are added up: counts per book, and chains, which are few,
with their numbers of n-grams. Books and counts are rows of 64-bit integers.
"""

import collections
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy
import numpy.typing

from ..duplicates.minhash import Uint64s
from ..files.line_blocks import group_places
from ..files.records import OverlapVerdict, Reason

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


NGRAM_WORDS = 8

PLAIN, EXACT = OVERLAP_WORDS = ("plain", "exact")
"""Ways to compare words: normalised by `to_plain_words`, or unchanged, with their punctuation."""
OVERLAPS = "overlaps"
THRESHOLD = "0.5"
NAMED_BOOKS = 3
"""Largest number of covering books that are named in the reason for dropping a book."""
NAMED_SHARE = 0.01
"""Smallest share of n-grams for which a covering book is named. The first one is always named."""

COUNT_COLUMNS = 4  # id, tokens, n-grams, n-grams that earlier books have
COVERING_COLUMNS = 3  # id, id of the covering book, number of n-grams

# multiplied by the number of n-grams of a book, it does not overflow 64 bits
_MAX_DENOMINATOR = 10**6


class Chains(NamedTuple):
    """The n-grams of a partition that are in contested books and also in larger books.

    If an n-gram of a contested book is also in a larger book that is certainly kept (a free book), the n-gram
    is counted for the contested book, which is not in the chain of the n-gram. All other contested books that
    have the n-gram form its chain, the largest first. A chain has at least two books.
    """

    certain: Int64s  # rows (id, number of n-grams that a free earlier book has)
    links: Int64s  # rows (id, id) of neighbours in a chain, without repetitions
    ngrams: Mapping[bytes, int]  # chain (see `chain_ids`) → number of its n-grams


class ContestedBook(NamedTuple):
    """A book that may have to be dropped, because too large a share of its n-grams is in larger books."""

    book_id: int
    tokens: int
    ngrams: int
    certain: int  # number of its n-grams in free earlier books


def parse_threshold(share: str | float | Fraction) -> Fraction:
    """Parses a share as an exact fraction: "0.5" and 0.5 are 1/2, 0.1 is 1/10, "1/3" is 1/3.

    Raises ValueError if the share is not a number above 0 and at most 1, or has more than six decimals.
    """
    try:
        exact = Fraction(str(share))
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError(f"threshold must be a number, not {share}") from error
    if not 0 < exact <= 1:
        raise ValueError(f"threshold must be above 0 and at most 1, not {share}")
    if exact.denominator > _MAX_DENOMINATOR:
        raise ValueError(f"threshold must have at most six decimals: {share}")
    return exact


def overlaps(covered: int, ngrams: int, threshold: Fraction) -> bool:
    """Returns True if the share `covered / ngrams` is at least `threshold`.

    Args:
      covered: number of the book's n-grams that larger books have.
      ngrams: number of all n-grams of the book, which must be positive.
      threshold: the share from which a book overlaps.
    """
    return covered * threshold.denominator >= threshold.numerator * ngrams


def sum_rows(rows: Int64s, keys: int) -> Int64s:
    """Adds up rows whose first `keys` columns are equal. The other columns are summed.

    The result is in ascending order, and can be summed again with more rows.
    """
    rows = rows[numpy.lexsort(rows.T[keys - 1 :: -1])]
    is_new = numpy.ones(len(rows), numpy.bool_)
    is_new[1:] = (rows[1:, :keys] != rows[:-1, :keys]).any(axis=1)
    (first,) = numpy.nonzero(is_new)
    if not len(first):
        return rows
    summed = rows[first]
    summed[:, keys:] = numpy.add.reduceat(rows[:, keys:], first, axis=0)
    return summed


def share_ngrams(blocks: Iterable[NgramBlock]) -> tuple[Int64s, SharedNgrams]:
    """Counts how many n-grams of each book are in larger books, here called earlier.

    Returns rows (id of the book, number of tokens, number of n-grams, number of n-grams that earlier books
    have), and the n-grams that several books have.

    Args:
      blocks: all blocks of a partition; each book is in one of them.
    """
    parts = list(blocks)
    books = numpy.concatenate([part.books for part in parts])
    hashes = numpy.concatenate([part.hashes for part in parts])
    order = numpy.lexsort((books[:, 0], -books[:, 1]))  # the largest first, then the smallest id
    places = numpy.empty(len(books), numpy.uint32)
    places[order] = numpy.arange(len(books), dtype=numpy.uint32)
    books, owners = books[order], numpy.repeat(places, books[:, 2])
    by_hash = numpy.argsort(hashes)
    hashes = hashes[by_hash]
    is_repeated = numpy.concatenate(([False], hashes[1:] == hashes[:-1]))[: len(hashes)]
    is_shared = is_repeated.copy()
    is_shared[:-1] |= is_repeated[1:]
    begins = ~is_repeated[is_shared]
    # Sorts the owners of each n-gram.
    groups = numpy.cumsum(begins, dtype=numpy.uint64) << numpy.uint64(32)
    owners = numpy.sort(groups | owners[by_hash[is_shared]]).astype(numpy.uint32)
    earlier = numpy.bincount(owners[~begins], minlength=len(books))
    return numpy.column_stack((books, earlier)), SharedNgrams(books[:, 0], owners, begins)


def contested_books(counts: Int64s, threshold: Fraction) -> Int64s:
    """Returns the rows of those books that may have to be dropped.

    Rows are (id of the book, number of tokens, number of n-grams, number of n-grams that larger books have).
    Books without n-grams have no row.
    """
    ngrams, earlier = counts[:, 2], counts[:, 3]
    return counts[earlier * threshold.denominator >= ngrams * threshold.numerator]


def find_chains(shared: SharedNgrams, contested: Int64s) -> Chains:
    """Finds the chains of contested books in a partition; step 2 of the module docstring defines a chain.

    `contested` has the ids of the contested books, ascending.
    """
    is_contested = _is_among(shared.books, contested)[shared.owners]
    has_free_before = _count_before(~is_contested, shared.begins) > 0
    certain = numpy.bincount(
        shared.owners[is_contested & has_free_before], minlength=len(shared.books)
    )
    is_open = is_contested & ~has_free_before
    groups = numpy.cumsum(shared.begins)[is_open]
    members = shared.books[shared.owners[is_open]]
    starts = numpy.flatnonzero(numpy.diff(groups, prepend=0)).tolist()
    ngrams = collections.Counter(
        members[start:end].tobytes()
        for start, end in itertools.pairwise([*starts, len(members)])
        if end - start > 1
    )
    pairs = {pair for chain in ngrams for pair in itertools.pairwise(chain_ids(chain))}
    links = numpy.array(sorted(pairs), numpy.int64).reshape(-1, 2)
    return Chains(numpy.column_stack((shared.books, certain))[certain > 0], links, ngrams)


def _is_among(ids: Int64s, chosen: Int64s) -> Bools:
    """Returns for each id True if it is in `chosen`, which must be ascending."""
    places = numpy.searchsorted(chosen, ids)
    found: Bools = numpy.append(chosen, -1)[places] == ids
    return found


def _count_before(marks: Bools, begins: Bools) -> Int64s:
    """Returns for each entry the number of marked entries before it in the same group.

    A group starts where `begins` is True.
    """
    before: Int64s = numpy.cumsum(marks) - marks
    starts = numpy.flatnonzero(begins)
    sizes = numpy.diff(starts, append=len(begins))
    counts: Int64s = before - numpy.repeat(before[starts], sizes)
    return counts


def chain_ids(chain: bytes) -> tuple[int, ...]:
    """Decodes a chain. Returns the ids of its books, the largest book first."""
    return tuple(numpy.frombuffer(chain, numpy.int64).tolist())


def decide(
    books: Iterable[ContestedBook],
    chains: Sequence[tuple[tuple[int, ...], int]],
    threshold: Fraction,
) -> list[int]:
    """Decides which books of a connected component are dropped, and returns their ids.

    Args:
      books: the contested books of the component.
      chains: (ids of the books, the largest first; number of n-grams that exactly these books share).
      threshold: a book is dropped if at least this share of its n-grams is also in larger kept books.
    """
    id_to_chains = collections.defaultdict(list)
    for number, (members, _) in enumerate(chains):
        for book_id in members:
            id_to_chains[book_id].append(number)
    is_covered = [False] * len(chains)
    dropped = []
    for book in sorted(books, key=lambda book: (-book.tokens, book.book_id)):
        own = id_to_chains[book.book_id]
        covered = book.certain + sum(chains[number][1] for number in own if is_covered[number])
        if overlaps(covered, book.ngrams, threshold):
            dropped.append(book.book_id)
        else:
            for number in own:
                is_covered[number] = True
    return dropped


def attribute_ngrams(shared: SharedNgrams, dropped: Int64s) -> Int64s:
    """Counts the n-grams that each book shares with larger kept books.

    Returns rows (id of the book, id of a larger kept book, number of shared n-grams). An n-gram counts only
    for the largest kept book that has it.

    Args:
      shared: the n-grams of a partition that several books have.
      dropped: ids of the dropped books, ascending.
    """
    is_kept = ~_is_among(shared.books, dropped)[shared.owners]
    kept = _count_before(is_kept, shared.begins)
    is_first_kept = is_kept & (kept == 0)
    # In a group without a kept book, nothing is covered, so its value in `firsts` is not used.
    groups = numpy.cumsum(shared.begins) - 1
    firsts = numpy.zeros(int(shared.begins.sum()), numpy.uint32)
    firsts[groups[is_first_kept]] = shared.owners[is_first_kept]
    is_covered = kept > 0
    pairs = shared.owners[is_covered].astype(numpy.int64) * len(shared.books)
    pairs += firsts[groups[is_covered]]
    different, counts = numpy.unique(pairs, return_counts=True)
    covered, covering = numpy.divmod(different, max(len(shared.books), 1))
    return numpy.column_stack((shared.books[covered], shared.books[covering], counts))


def cut_by_id(rows: Int64s, parts: int) -> Iterator[tuple[int, Int64s]]:
    """Distributes rows to parts by the id in their first column. Yields (number of the part, its rows).

    Rows keep their order.
    """
    return ((number, rows[places]) for number, places in group_places(rows[:, 0] % parts))


def judge(book_id: int, ngrams: int, covering: Mapping[int, int], is_kept: bool) -> OverlapVerdict:
    """Returns the decision about a book, with the larger kept books that share n-grams with it.

    Args:
      book_id: id of the book.
      ngrams: number of its n-grams.
      covering: id of a larger kept book → number of n-grams attributed to it. In the result, books are sorted
        by this number, the largest first.
      is_kept: True if the book is kept.
    """
    ordered = sorted(covering.items(), key=lambda item: (-item[1], item[0]))
    return OverlapVerdict(book_id, ngrams, sum(covering.values()), is_kept, tuple(ordered))


def overlap_reason(verdict: OverlapVerdict, ngram_words: int) -> Reason:
    """Returns the reason for dropping a book.

    Its detail is like "0.97 of its 8-grams are in 5946 (0.95), 84 (0.02) and 3 others".
    """
    shares = [(book_id, ngrams / verdict.ngrams) for book_id, ngrams in verdict.covering]
    named = [
        f"{book_id} ({share:.2f})"
        for place, (book_id, share) in enumerate(shares[:NAMED_BOOKS])
        if not place or share >= NAMED_SHARE
    ]
    others = len(shares) - len(named)
    tail = f" and {others} other{'s' if others > 1 else ''}" if others else ""
    share = f"{verdict.covered / verdict.ngrams:.2f} of its {ngram_words}-grams"
    return Reason(OVERLAPS, f"{share} are in {', '.join(named)}{tail}")
