"""Computes MinHash signatures, and finds pairs of similar sets by locality-sensitive hashing (LSH).

The signatures are equal to those of datasketch 2 (scheme "affine32", seed 1, SHA-1), so they can be looked up
in an index made with datasketch. For LSH, the values of a signature are divided into bands, each with the
same number of values (the rows of the band). Two sets are candidates for a pair if their signatures agree in
a whole band. Bands are chosen as by datasketch's MinHashLSH. Unlike datasketch, this module signs thousands
of sets at once.

Sources: Broder, "On the resemblance and containment of documents", 1997 (the estimate); Leskovec, Rajaraman,
Ullman, "Mining of Massive Datasets", section 3.4 (bands).
"""

import functools
import hashlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy
import numpy.typing

from corpusmill.transforms.files.line_ids import group_places

PERMUTATIONS = 128
NGRAM_WORDS = 8
"""Words in an n-gram of a document. A shorter document is one n-gram."""
LINE_PERMUTATIONS = 128
LINE_NGRAM_WORDS = 3

Uint32s = numpy.typing.NDArray[numpy.uint32]
Uint64s = numpy.typing.NDArray[numpy.uint64]
Int64s = numpy.typing.NDArray[numpy.int64]
Permutation = tuple[numpy.uint32, numpy.uint32]

NO_HASHES: Uint32s = numpy.empty(0, numpy.uint32)
SEED = 1
_DIGEST_WORDS = 5  # number of 32-bit words in a SHA-1

_PIECE_HASHES = 1 << 15  # hashes processed at once: 128 KB, and as much for the permuted hashes

ANCHORS = 4
NEIGHBOURS = 4

_BUCKET_BITS = 32


def hash_items(items: Iterable[bytes]) -> Uint32s:
    """Returns the first 32 bits, little-endian, of the SHA-1 of each item."""
    sha1 = hashlib.sha1
    digests = b"".join([sha1(item, usedforsecurity=False).digest() for item in items])
    return numpy.frombuffer(digests, "<u4")[::_DIGEST_WORDS].astype(numpy.uint32)


def sign_sets(sets: Sequence[Sequence[bytes]], permutations: int, used: int = 0) -> Uint32s:
    """Returns the MinHash signature of each set, one per row: the smallest hash under each permutation.

    No set may be empty. The share of columns in which two rows agree estimates the Jaccard similarity of
    their sets. The function is fastest for about a thousand sets, whose hashes fit in the processor's cache.

    Args:
      sets: the items of each set.
      permutations: number of permutations to generate.
      used: number of values of each signature to compute, from the first; 0 to compute all.
    """
    hashes = hash_items(itertools.chain.from_iterable(sets))
    return _sign(hashes, list(map(len, sets)), _permutations(permutations)[: used or permutations])


def sign_hashes(sets: Sequence[Uint32s], permutations: int) -> Uint32s:
    """Returns the MinHash signature of each set of hashes, like `MinHash(hashfunc=int)` of datasketch.

    No set may be empty. A few large sets need as little memory as many small ones, because the hashes are
    processed in pieces.
    """
    hashes = numpy.concatenate([NO_HASHES, *sets])
    return _sign(hashes, list(map(len, sets)), _permutations(permutations))


def _sign(hashes: Uint32s, sizes: list[int], permutations: Sequence[Permutation]) -> Uint32s:
    """Returns the signature of each set, one per row.

    `hashes` are the hashes of all sets in order, `sizes` the sizes of the sets.
    """
    most = numpy.iinfo(numpy.uint32).max
    signatures = numpy.full((len(permutations), len(sizes)), most, numpy.uint32)
    starts = numpy.cumsum([0, *sizes])[:-1]
    buffer = numpy.empty(min(_PIECE_HASHES, len(hashes)), numpy.uint32)
    for start in range(0, len(hashes), _PIECE_HASHES):
        piece = _finalize(hashes[start : start + _PIECE_HASHES])
        permuted = buffer[: len(piece)]
        first = int(numpy.searchsorted(starts, start, "right")) - 1
        end = int(numpy.searchsorted(starts, start + len(piece)))
        begins = numpy.maximum(starts[first:end] - start, 0)
        for number, (factor, offset) in enumerate(permutations):
            numpy.multiply(piece, factor, out=permuted)  # modulo 2^32
            numpy.add(permuted, offset, out=permuted)
            signed = signatures[number, first:end]
            numpy.minimum(signed, numpy.minimum.reduceat(permuted, begins), out=signed)
    return signatures.T


@functools.cache
def _permutations(count: int) -> list[Permutation]:
    """Returns (odd factor, offset) of each permutation. They are the same with every version of numpy."""
    generator = numpy.random.RandomState(SEED)
    halves = generator.randint(0, 1 << 31, count, dtype=numpy.uint32)
    offsets = generator.randint(0, 1 << 32, count, dtype=numpy.uint32)
    return list(zip(halves * numpy.uint32(2) + numpy.uint32(1), offsets, strict=True))


def _finalize(hashes: Uint32s) -> Uint32s:
    """Applies the last step of MurmurHash3, so that each new bit of a hash depends on all its old bits."""
    hashes = (hashes ^ (hashes >> numpy.uint32(16))) * numpy.uint32(0x85EBCA6B)
    hashes = (hashes ^ (hashes >> numpy.uint32(13))) * numpy.uint32(0xC2B2AE35)
    return hashes ^ (hashes >> numpy.uint32(16))


@functools.cache
def choose_bands(threshold: float, permutations: int, miss_weight: float = 0.5) -> tuple[int, int]:
    """Chooses bands so that two sets probably share a band only if their similarity is above the threshold.

    Returns (number of bands, rows per band). Two sets of similarity s share one of b bands of r rows with
    probability 1 - (1 - s^r)^b. The chosen b and r minimise the weighted sum of two integrals: the integral
    of this probability below the threshold (false matches), and that of its complement above the threshold
    (misses). For threshold 0.8 and 128 permutations the result is 9 bands of 13 rows, which find 40 % of the
    pairs with similarity 0.8 and 93 % of those with 0.9; with `miss_weight` 0.9 it is 14 bands of 9 rows,
    which find 87 % and 99.9 %.

    Args:
      threshold: pairs with at least this similarity should be found.
      permutations: number of values of a signature.
      miss_weight: weight of misses; the weight of false matches is 1 minus this.

    Raises ValueError if there would be fewer than two bands, as for thresholds near 1 or few permutations.
    """
    bands, rows = min(
        ((b, r) for b in range(1, permutations + 1) for r in range(1, permutations // b + 1)),
        key=lambda pair: _band_error(threshold, pair[0], pair[1], miss_weight, permutations),
        default=(0, 0),
    )
    if bands < 2:
        raise ValueError(
            f"threshold {threshold} is too high for {permutations} permutations: use a lower one, or more"
            " permutations"
        )
    return bands, rows


def _band_error(
    threshold: float, bands: int, rows: int, miss_weight: float, permutations: int
) -> float:
    """Returns the weighted sum of the integrals of false matches and of misses (see `choose_bands`).

    Both integrands are polynomials of degree bands × rows. Gauss quadrature with at most 256 points
    integrates them exactly for up to 510 permutations.
    """
    places, weights = _quadrature(min(permutations // 2 + 1, 256))

    def integral_of_misses(start: float, end: float) -> float:
        similarities = start + (end - start) * (places + 1) / 2
        misses = (1 - similarities**rows) ** bands
        return float(weights @ misses) * (end - start) / 2

    found_wrongly = threshold - integral_of_misses(0.0, threshold)
    return (1 - miss_weight) * found_wrongly + miss_weight * integral_of_misses(threshold, 1.0)


@functools.cache
def _quadrature(points: int) -> tuple[numpy.typing.NDArray[numpy.float64], ...]:
    """Returns the points of Gauss quadrature in [-1, 1] and their weights.

    The quadrature is exact for polynomials of a degree below 2 × points.
    """
    return tuple(map(numpy.asarray, numpy.polynomial.legendre.leggauss(points)))


def bucket_signatures(signatures: Uint32s, bands: int, rows: int) -> Uint64s:
    """Returns an array with one bucket for each signature (first axis) and each band (second axis).

    Two signatures have the same bucket for a band if they agree in all values of the band. Otherwise, and for
    different bands, buckets are equal only by chance. `rows` is the number of values in a band.
    """
    buckets = numpy.empty((len(signatures), bands), numpy.uint64)
    for band in range(bands):
        # The band is in the upper 32 bits: otherwise bands of one row would share buckets.
        hashes = numpy.full(len(signatures), band + 1 << 32, numpy.uint64)
        for column in signatures.T[band * rows : (band + 1) * rows]:
            hashes = (hashes ^ column) * numpy.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio
            hashes ^= hashes >> numpy.uint64(32)
        buckets[:, band] = hashes
    return buckets


def deal_buckets(
    members: numpy.typing.NDArray[Any], buckets: Uint64s, partition_bits: int
) -> Iterator[tuple[int, numpy.typing.NDArray[Any], Uint32s]]:
    """Distributes members to partitions by their buckets.

    Yields (partition, its members, bucket of each member). A member is in the partitions of all its buckets.
    The first `partition_bits` bits of a bucket are the number of its partition; the next 32 bits are yielded
    as the bucket. Chance collisions do no harm, because all pairs are compared later.

    Args:
      members: the members, such as ids.
      buckets: a row of buckets for each member.
      partition_bits: number of bits in the number of a partition. There are 2**partition_bits partitions.
    """
    flat = buckets.reshape(-1)
    kept_bits = (flat >> numpy.uint64(64 - partition_bits - _BUCKET_BITS)).astype(numpy.uint32)
    repeated = numpy.repeat(members, buckets.shape[1])
    partitions = (flat >> numpy.uint64(64 - partition_bits)).astype(numpy.uint16)
    for partition, places in group_places(partitions):
        yield partition, repeated[places], kept_bits[places]


def pair_members(buckets: Uint32s | Uint64s, ids: Int64s) -> Int64s:
    """Pairs members of the same bucket. Returns rows (smaller id, greater id), each pair once per bucket.

    The members of a bucket are sorted by id. A member is paired with the first members of its bucket (at most
    ANCHORS) and with the members right before it (at most NEIGHBOURS). In buckets of up to nine members,
    these are all pairs. In larger buckets, which come from boilerplate, there are at most eight pairs per
    member. That is enough, because the members of such a bucket are mostly all similar.

    Args:
      buckets: the bucket of each member.
      ids: the id of each member. An id occurs at most once in a bucket.
    """
    order = numpy.lexsort((ids, buckets))
    buckets, ids = buckets[order], ids[order]
    places = numpy.arange(len(ids))
    begins = numpy.concatenate(([True], buckets[1:] != buckets[:-1]))[: len(ids)]
    # position of the first member of the bucket
    first = numpy.maximum.accumulate(numpy.where(begins, places, 0))
    pairs = []
    for distance in range(1, NEIGHBOURS + 1):
        (at,) = numpy.nonzero(places - first >= distance)
        pairs.append(numpy.column_stack((ids[at - distance], ids[at])))
    for anchor in range(ANCHORS):
        (at,) = numpy.nonzero(places - first > anchor + NEIGHBOURS)
        pairs.append(numpy.column_stack((ids[first[at] + anchor], ids[at])))
    return numpy.concatenate(pairs)


def pair_across(buckets: Uint32s | Uint64s, ids: Int64s) -> Int64s:
    """Pairs each member that has an even id with members of the same bucket that have an odd id.

    The last bit of an id says to which of two collections the member belongs. Returns rows (smaller id,
    greater id), with repetitions.

    A member is paired with at most ANCHORS + NEIGHBOURS members of the other collection. They are chosen so
    that all members are in about equally many pairs.
    """
    order = numpy.lexsort((ids, ids & 1, buckets))
    buckets, ids = buckets[order], ids[order]
    is_odd = ids & 1
    _, groups, sizes = numpy.unique(buckets, return_inverse=True, return_counts=True)
    odd = numpy.bincount(groups, is_odd, len(sizes)).astype(numpy.int64)[groups]
    begins = (numpy.cumsum(sizes) - sizes)[groups]
    even = sizes[groups] - odd
    ranks = numpy.arange(len(ids)) - begins - even * is_odd
    others = numpy.where(is_odd, even, odd)
    pairs = []
    for distance in range(ANCHORS + NEIGHBOURS):
        (at,) = numpy.nonzero(others > distance)
        partners = begins[at] + ((1 - is_odd) * even)[at] + (ranks[at] + distance) % others[at]
        pairs.append(numpy.sort(numpy.column_stack((ids[at], ids[partners])), axis=1))
    return numpy.concatenate(pairs)
