"""MinHash signatures of texts, the pairs of similar ones that locality-sensitive hashing (LSH)
finds, and exact similarities.

The signatures are equal to those of datasketch 2 (scheme "affine32", seed 1, SHA-1), so they can be looked up
in an index made with datasketch. For LSH, the values of a signature are divided into bands, each with the
same number of values (the rows of the band). Two sets are candidates for a pair if their signatures agree in
a whole band. Bands are chosen as by datasketch's MinHashLSH. Unlike datasketch, this module signs thousands
of sets at once.

Sources: Broder, "On the resemblance and containment of documents", 1997 (the estimate); Leskovec, Rajaraman,
Ullman, "Mining of Massive Datasets", section 3.4 (bands).

Hashes the word n-grams of a text to fixed 64-bit numbers, to measure overlaps.

Words are separated by white space (`str.split`) and unchanged. N-grams may cross line ends. A text with fewer
words than `n` is one n-gram; a text without words has none.

The hash of a word is computed from its UTF-8, eight bytes at a time, and the hash of an n-gram from the
hashes of its words in order. numpy processes thousands of them at once. Each step mixes all bits, so any bits
can be used to sample n-grams or to partition them. Two different n-grams have the same hash with a
probability of 2^-64: among the 5,000 million n-grams of Project Gutenberg, not even one such pair is
expected. The hash is not safe against texts that are made to collide.

A similarity is a fraction, so that it can be compared exactly with a threshold.
"""

import functools
import unicodedata
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy
import numpy.typing

from ..files.line_blocks import group_places
from ..files.text import NARROW_SPACES, WIDE_SPACES

PERMUTATIONS = 128
NGRAM_WORDS = 8
"""Words in an n-gram of a document. A shorter document is one n-gram."""

Uint32s = numpy.typing.NDArray[numpy.uint32]
Uint64s = numpy.typing.NDArray[numpy.uint64]
Int64s = numpy.typing.NDArray[numpy.int64]
Permutation = tuple[numpy.uint32, numpy.uint32]

NO_HASHES: Uint32s = numpy.empty(0, numpy.uint32)
SEED = 1

_PIECE_HASHES = 1 << 15  # hashes processed at once: 128 KB, and as much for the permuted hashes

ANCHORS = 4
NEIGHBOURS = 4

_BUCKET_BITS = 32


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


Pairs = numpy.typing.NDArray[numpy.int64]
"""Rows of two ids."""


def link_to_smallest(edges: Pairs) -> Pairs:
    """Returns rows (id, smallest id of its component), ascending.

    The smallest id of a component has no row. The rows are the edges of a graph with the same components, and
    there are at most as many rows as in `edges`. So parts of a graph can be processed one by one, and then
    their results together.
    """
    ids, places = numpy.unique(edges, return_inverse=True)
    places = places.reshape(-1, 2)
    smallest = numpy.arange(len(ids))  # index of the smallest id known to be connected
    while True:
        ends = smallest[places]
        low, high = ends.min(axis=1), ends.max(axis=1)
        if (low == high).all():
            break
        numpy.minimum.at(smallest, high, low)
        smallest = _follow(smallest)
    (linked,) = numpy.nonzero(smallest != numpy.arange(len(ids)))
    return numpy.column_stack((ids[linked], ids[smallest[linked]]))


def _follow(smallest: Pairs) -> Pairs:
    """Follows links from index to index. Returns for each index the last one of its chain of links.

    `smallest` has for each index the index to which it links, which is smaller or equal. The last index of a
    chain links to itself.
    """
    while True:
        further = smallest[smallest]
        if (further == smallest).all():
            return smallest
        smallest = further


def choose_kept(links: Pairs, ranks: Pairs) -> Pairs:
    """Returns rows (id of the kept member, id of a dropped member), ascending by the dropped member.

    In each group of duplicates, the member with the greatest rank is kept. If several members have this rank,
    the one with the smallest id is kept. A group is a connected component of the graph that links duplicates.

    Args:
      links: rows (id of a member, smallest id in its group), from `link_to_smallest`.
      ranks: rows (id of a member, its rank) for all members in `links`, ascending by id.
    """
    numbers, rank = ranks[:, 0], ranks[:, 1]
    components = numbers.copy()
    components[numpy.searchsorted(numbers, links[:, 0])] = links[:, 1]
    order = numpy.lexsort((numbers, -rank, components))
    ordered = components[order]
    is_first = numpy.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(order)]
    kept = numbers[order][is_first][numpy.cumsum(is_first) - 1]
    pairs = numpy.column_stack((kept, numbers[order]))[~is_first]
    return pairs[numpy.argsort(pairs[:, 1])]


_BLANK = ord(" ")
_TO_BLANKS = bytes.maketrans(NARROW_SPACES.encode(), b" " * len(NARROW_SPACES))
_LANE_BYTES = 8

# The number is odd, because an even factor would lose bits of the words. Its powers minus 1 have few factors
# 2, so that the sum changes if words swap places. As the number is 3 modulo 8, there is one factor 2 for odd
# powers, and 3 for the square.
MULTIPLIER = numpy.uint64(0x9E3779B97F4A7C13)
# words processed at once: 128 KB per array, so several arrays fit in the processor's cache
_PIECE_WORDS = 1 << 14


def hash_ngrams(text: str, n: int) -> Uint64s:
    """Returns the different hashes of the n-grams of a text, ascending.

    Raises ValueError if n is not positive.
    """
    if n < 1:
        raise ValueError(f"n must be at least 1, not {n}")
    words = hash_words(text)
    return sort_different(join_hashes(words, min(n, max(len(words), 1))))


def to_plain_words(text: str) -> str:
    """Returns a text in lower case, in which all characters except letters, marks and digits are spaces.

    This makes editions of a text equal if they differ only in quotation marks, dashes, underscores for
    italics, or capitals in titles. "don't" becomes the same two words with any apostrophe.
    """
    text = text.lower()
    for character in sorted(set(text)):
        if not character.isalnum() and unicodedata.category(character)[0] != "M":
            text = text.replace(character, " ")
    return text


def hash_words(text: str) -> Uint64s:
    """Returns the hash of each word of a text, in order."""
    for blank in WIDE_SPACES:
        text = text.replace(blank, " ")
    # A space before the first word, and padding to read a whole lane from the last byte.
    block = b"".join((b" ", text.encode("utf-8").translate(_TO_BLANKS), b" " * _LANE_BYTES))
    is_blank = numpy.frombuffer(block, numpy.uint8) == _BLANK
    edges = numpy.flatnonzero(is_blank[1:] != is_blank[:-1]) + 1
    starts, ends = edges[::2], edges[1::2]
    hashes = numpy.empty(len(starts), numpy.uint64)
    for first in range(0, len(starts), _PIECE_WORDS):
        piece = slice(first, first + _PIECE_WORDS)
        hashes[piece] = _hash_spans(block, starts[piece], ends[piece])
    return hashes


def sort_different(hashes: Uint64s) -> Uint64s:
    """Returns the different hashes, ascending. It is several times as fast as `numpy.unique`."""
    ordered = numpy.sort(hashes)
    is_new = numpy.empty(len(ordered), numpy.bool_)
    is_new[:1] = True
    numpy.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]


def _hash_spans(block: bytes, starts: Int64s, ends: Int64s) -> Uint64s:
    """Returns the hash of each span of bytes.

    It is computed from the length of the span and its bytes, eight at a time. The last bytes are padded with
    zeros.
    """
    lanes = numpy.ndarray((len(block) - _LANE_BYTES + 1,), "<u8", block, strides=(1,))
    sizes = ends - starts
    hashes = sizes.astype(numpy.uint64)
    spans = numpy.arange(len(hashes))
    while len(spans):
        unused_bytes = numpy.maximum(_LANE_BYTES - sizes, 0).astype(numpy.uint64)
        lane = lanes[starts] << (unused_bytes * numpy.uint64(8))
        hashes[spans] = finalize(hashes[spans] * MULTIPLIER + lane)
        is_longer = sizes > _LANE_BYTES
        spans = spans[is_longer]
        starts = starts[is_longer] + _LANE_BYTES
        sizes = sizes[is_longer] - _LANE_BYTES
    return hashes


def join_hashes(words: Uint64s, n: int, step: int = 1) -> Uint64s:
    """Returns the hashes of sequences of n consecutive words, given the hashes of the single words.

    A sequence begins at every `step`-th word.
    """
    ngrams = numpy.empty(len(range(0, len(words) - n + 1, step)), numpy.uint64)
    for first in range(0, len(ngrams), _PIECE_WORDS):
        piece = ngrams[first : first + _PIECE_WORDS]
        start, span = first * step, (len(piece) - 1) * step + 1
        piece[:] = words[start : start + span : step]
        for place in range(start + 1, start + n):
            piece *= MULTIPLIER
            piece += words[place : place + span : step]
        finalize(piece)
    return ngrams


def finalize(hashes: Uint64s) -> Uint64s:
    """Applies the last step of SplitMix64 in place. Each new bit of a hash depends on all its old bits."""
    hashes ^= hashes >> numpy.uint64(30)
    hashes *= numpy.uint64(0xBF58476D1CE4E5B9)
    hashes ^= hashes >> numpy.uint64(27)
    hashes *= numpy.uint64(0x94D049BB133111EB)
    hashes ^= hashes >> numpy.uint64(31)
    return hashes


def sign_documents(ngrams: Sequence[Uint64s], permutations: int) -> Uint32s:
    """Returns a MinHash signature for each document, one per row.

    The signatures are computed from the last 32 bits of each hash. They are equal to those of the library
    datasketch. Two documents without common n-grams may agree in a value by
    chance. If both have ten million n-grams, this happens in one of 400 values; if both have 100,000 n-grams,
    in one of 40,000.

    Args:
      ngrams: for each document, the hashes of its different n-grams. Each document must have an n-gram.
      permutations: number of values of a signature.
    """
    return sign_hashes([hashes.astype(numpy.uint32) for hashes in ngrams], permutations)


def exact_jaccard(first: Uint64s, second: Uint64s) -> Fraction:
    """Returns the Jaccard similarity |A ∩ B| / |A ∪ B| of two sets of hashes.

    Each set is an ascending array without repeated hashes. At least one of the sets must not be empty.
    """
    both = numpy.sort(numpy.concatenate((first, second)), kind="stable")  # merges two sorted runs
    common = int(numpy.count_nonzero(both[1:] == both[:-1]))
    return Fraction(common, len(both) - common)


def parse_similarity(similarity: str | float | Fraction) -> Fraction:
    """Parses a threshold of similarity as an exact fraction: "0.8" and 0.8 are 4/5.

    Raises ValueError if it is not a number above 0 and below 1.
    """
    try:
        exact = Fraction(str(similarity))
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError(f"similarity must be a number, not {similarity}") from error
    if not 0 < exact < 1:
        raise ValueError(f"similarity must be above 0 and below 1, not {similarity}")
    return exact
