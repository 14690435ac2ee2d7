"""Hashes the word n-grams of a text to fixed 64-bit numbers, to measure overlaps.

Words are separated by white space (`str.split`) and unchanged. N-grams may cross line ends. A text with fewer
words than `n` is one n-gram; a text without words has none.

The hash of a word is computed from its UTF-8, eight bytes at a time, and the hash of an n-gram from the
hashes of its words in order. numpy processes thousands of them at once. Each step mixes all bits, so any bits
can be used to sample n-grams or to partition them. Two different n-grams have the same hash with a
probability of 2^-64: among the 5,000 million n-grams of Project Gutenberg, not even one such pair is
expected. The hash is not safe against texts that are made to collide.
"""

import unicodedata

import numpy
import numpy.typing

from corpusmill.transforms.files.white_space import NARROW_SPACES, WIDE_SPACES

Uint64s = numpy.typing.NDArray[numpy.uint64]
Int64s = numpy.typing.NDArray[numpy.int64]

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
