"""Indexes evaluation texts, to find sequences of at least n of their words in training texts.

Sequences of SEED_WORDS words, or of n if n is smaller, are looked up by 64-bit hashes. Each sequence found
is then compared word by word, so the result is exact. A text with fewer than EVIDENCE_WORDS words is too
short to be searched.

To find sequences of 6 words, it is enough to look for 4-grams that begin at every third word of a training
text, since each sequence of 6 words contains one of these 4-grams. They are called anchors. Only the
sequences that contain a known anchor (one that is also in an evaluation text) are hashed and looked up.
"""

import bisect
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy
import numpy.typing

from ..files.line_blocks import in_batches
from .folded_words import (
    QUARTERS,
    FoldedText,
    Uint32s,
    fold_text,
    hash_folded,
    normalize,
    weigh_words,
)
from .minhash import MULTIPLIER, Int64s, Uint64s, finalize, join_hashes, sort_different

Booleans = numpy.typing.NDArray[numpy.bool_]

BLOCK_CHARACTERS = 1 << 18
"""Texts are folded in blocks of about this size. Larger blocks would not fit in the processor's cache."""

LONG_WORDS = 13
"""Words of a sequence that does not occur by chance: the rule of GPT-3 (Brown et al. 2020, appendix C)."""
EVIDENCE_WORDS = 8
"""Sequences with fewer words of two letters occur by chance, even as whole texts. GPT-3 has the same limit.

In scripts without spaces, several letters count as a word, see `weigh_words`.
"""
SEED_WORDS = 6
"""Sequences of so many words are looked up. If one word in ten is changed, at least one is unchanged."""
TEMPLATE_ITEMS, TEMPLATE_SHARE = 10, 0.01
"""An n-gram belongs to a template if it occurs more than TEMPLATE_ITEMS times in the evaluation texts, and as
often as in this share of them."""
FOUND_NGRAMS = 1 << 16
"""Texts with more common n-grams are compared in parts. This saves memory where items share a template."""

_FILTER_SIZES = range(12, 28)  # the size of a filter is a power of 2 with one of these exponents
_FILTER_FACTOR = 16  # of the hashes that are not in the index, one in this many passes the filter
_HASH_BITS = 64


class TextBlock(NamedTuple):
    """Several texts, joined to one, and their words without regard to case (see folded_words.py)."""

    offsets: Int64s  # start of each text in `folded.text`, and the end of the last text plus 1
    folded: FoldedText  # the folded words of all texts, which are separated by line feeds
    hashes: Uint64s  # hash of each word
    bounds: Int64s  # index of the first word of each text, and the number of all words


class Runs(NamedTuple):
    """Sequences of words that training and evaluation texts have in common: one sequence per row."""

    documents: Int64s  # indexes of training texts in their block
    items: Int64s  # indexes of evaluation texts
    words: Int64s  # indexes of the first words in the block
    places: Int64s  # indexes of the first words in the evaluation texts
    sizes: Int64s  # number of words in each sequence

    def take(self, rows: Int64s | Booleans | slice) -> "Runs":
        """Returns the runs at the given indexes, or the runs where a given mask is True."""
        return Runs(*(column[rows] for column in self))


class _Table(NamedTuple):
    """A hash table of the n-grams of the evaluation texts: hash → positions in these texts.

    The position of an n-gram is the index of its first word among the words of all evaluation texts.
    """

    hashes: Uint64s  # ascending
    firsts: Int64s  # start of each hash's positions in `places`, and the number of all positions
    places: Int64s

    def find(self, hashes: Uint64s) -> tuple[Int64s, Int64s, Int64s]:
        """Looks up `hashes`. Returns the indexes in `hashes` of those that are in the table.

        Two more arrays have the start and the end of the positions of each of these in `places`.
        """
        if not len(self.hashes):
            return (numpy.empty(0, numpy.int64),) * 3
        rows = numpy.minimum(numpy.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        found = numpy.flatnonzero(self.hashes[rows] == hashes)
        rows = rows[found]
        return found, self.firsts[rows], self.firsts[rows + 1]


class _Filter:
    """A filter for hashes. It passes all hashes of the evaluation texts (known hashes), and few others.

    It compares only the first bits of a hash.

    Args:
      known: one value for each combination of these bits: True if a known hash begins with them. For b bits,
        there are 2^b values.
    """

    def __init__(self, known: Booleans):
        self._known = known
        self._shift = numpy.uint64(_HASH_BITS - (len(known).bit_length() - 1))

    def passes(self, hashes: Uint64s) -> Booleans:
        """Returns for each hash True if it may be known, and False if it is certainly unknown."""
        places = (hashes >> self._shift).view(numpy.int64)
        found: Booleans = self._known.take(places, mode="clip")  # faster than "raise"
        return found


class EvaluationIndex:
    """Finds sequences of words of evaluation texts in training texts.

    Args:
      n: number of words of an n-gram.
      arrays: the attribute `arrays` of an index from `build_index`.
    """

    def __init__(self, n: int, arrays: Mapping[str, numpy.typing.NDArray]):  # type: ignore[type-arg]
        self.n = n
        self.arrays = dict(arrays)
        self.text_starts: Int64s = arrays["text_starts"]
        # sums of the sizes and weights of all words before each word, in quarters of a word
        self.sizes: Int64s = arrays["sizes"]
        self.weights: Int64s = arrays["weights"]
        self._gram = min(n, SEED_WORDS)
        self._filters = [_Filter(arrays[name]) for name in ("filter", "second_filter")]
        self._ngrams = _Table(*(arrays[field] for field in _Table._fields))

    def count_words(self, item: int) -> int:
        """Returns the number of words of the evaluation text with the index `item`."""
        return int(self.text_starts[item + 1] - self.text_starts[item])

    def are_too_short(self, items: Int64s) -> Booleans:
        """Returns for each evaluation text True if even the whole text is not evidence (EVIDENCE_WORDS)."""
        starts, ends = self.text_starts[items], self.text_starts[items + 1]
        short: Booleans = self.weights[ends] - self.weights[starts] < EVIDENCE_WORDS * QUARTERS
        return short

    def are_evidence(self, runs: Runs) -> Booleans:
        """Returns for each run True if it has at least EVIDENCE_WORDS words of two letters."""
        found: Booleans = (
            _sums_at(self.weights, self.text_starts, runs) >= EVIDENCE_WORDS * QUARTERS
        )
        return found

    def sizes_of(self, runs: Runs) -> Int64s:
        """Returns the sizes of runs in quarters of a word, see `weigh_words`."""
        return _sums_at(self.sizes, self.text_starts, runs)

    def are_long(self, runs: Runs, words: int) -> Booleans:
        """Returns for each run True if it has at least so many words, or as many letters as say as much."""
        return self.sizes_of(runs) >= words * QUARTERS

    def are_whole(self, runs: Runs) -> Booleans:
        """Returns for each run True if it is a whole evaluation text."""
        whole: Booleans = numpy.diff(self.text_starts)[runs.items] == runs.sizes
        return whole

    def find(self, block: TextBlock) -> Iterator[Runs]:
        """Yields the sequences of words that the training texts in `block` share with evaluation texts.

        Each sequence is as long as possible. It has at least n or SEED_WORDS words or letters. All
        sequences of a training and an evaluation text are in the same part, and the parts are in order.
        """
        likely = self._find_likely(block.hashes)
        ends = block.bounds[1:][_texts_of(block.bounds, likely)]
        likely = likely[likely + self._gram <= ends]
        grams = _join_at(block.hashes, likely, self._gram)
        rows, starts, ends = self._ngrams.find(grams)
        yield from self._find_some(block, likely[rows], starts, ends)

    def _find_some(
        self, block: TextBlock, words: Int64s, starts: Int64s, ends: Int64s
    ) -> Iterator[Runs]:
        """Yields the common sequences of some n-grams, in parts of FOUND_NGRAMS.

        `words` has the first word of each n-gram in the block. The positions with its hash are those between
        `starts` and `ends` in the table.
        """
        places, counts = self._ngrams.places, ends - starts
        if counts.sum() > FOUND_NGRAMS:
            at = numpy.where(words < _middle_of(block.bounds, words), ends, starts)
            if (at == starts).all():  # one training text
                middle = _middle_of(self.text_starts, places[numpy.append(starts, ends - 1)])
                pairs = zip(starts.tolist(), ends.tolist(), strict=True)
                at = numpy.array([bisect.bisect_left(places, middle, *pair) for pair in pairs])
            if (at > starts).any():
                for low, high in ((starts, at), (at, ends)):
                    some = low < high
                    yield from self._find_some(block, words[some], low[some], high[some])
                return
        words, places = numpy.repeat(words, counts), places[ranges(starts, counts)]
        each = numpy.arange(self._gram)
        same = self.are_same(
            block, (words[:, None] + each).ravel(), (places[:, None] + each).ravel()
        )
        is_same = same.reshape(-1, self._gram).all(axis=1)
        yield self._join_runs(block, words[is_same], places[is_same])

    def _find_likely(self, hashes: Uint64s) -> Int64s:
        """Finds n-grams that probably contain a known anchor (see the module docstring).

        Returns the index of the first word of each sequence, ascending.

        Args:
          hashes: hash of each word of the training texts.
        """
        distance, size = _anchors(self._gram)
        anchors = join_hashes(hashes, size, distance)
        first, second = self._filters
        known = numpy.flatnonzero(first.passes(anchors))
        known = known[second.passes(_turn(anchors[known]))]
        begins = (known * distance)[:, None] + numpy.arange(1 - distance, 1)
        return begins[begins >= 0]

    def _join_runs(self, block: TextBlock, words: Int64s, places: Int64s) -> Runs:
        """Joins common n-grams that follow each other in a training and an evaluation text to longer runs.

        Args:
          block: the training texts.
          words: for each common n-gram, the index of its first word in the block.
          places: for each common n-gram, the position of its first word among all evaluation words.
        """
        items = _texts_of(self.text_starts, places)
        shifts = words - places
        order = numpy.lexsort((words, shifts, items))
        words, places, items, shifts = (one[order] for one in (words, places, items, shifts))
        is_first = numpy.ones(len(words), numpy.bool_)
        is_first[1:] = (numpy.diff(words) != 1) | (numpy.diff(shifts) != 0)
        is_first[1:] |= numpy.diff(items) != 0
        firsts = numpy.flatnonzero(is_first)
        counts = numpy.diff(numpy.append(firsts, len(words)))
        words, places, items = words[firsts], places[firsts], items[firsts]
        documents = _texts_of(block.bounds, words)
        places -= self.text_starts[items]
        return Runs(documents, items, words, places, counts + self._gram - 1)

    def are_same(self, block: TextBlock, theirs: Int64s, ours: Int64s) -> Booleans:
        """Compares words of the training texts with words of the evaluation texts, one by one.

        `theirs` and `ours` have the indexes of the words in the block and among all evaluation words.
        """
        word_ends: Int64s = self.arrays["word_ends"]
        starts, sizes = word_ends[ours], word_ends[ours + 1] - word_ends[ours]
        same: Booleans = block.folded.ends[theirs] - block.folded.starts[theirs] == sizes
        sizes = numpy.where(same, sizes, 0)
        characters = (
            block.folded.characters[ranges(block.folded.starts[theirs], sizes)]
            == self.arrays["characters"][ranges(starts, sizes)]
        )
        same[numpy.repeat(numpy.arange(len(sizes)), sizes)[~characters]] = False
        return same


def build_index(texts: Sequence[str], n: int) -> EvaluationIndex:
    """Builds the index of evaluation texts, each of which must have at least one word.

    If n is larger than SEED_WORDS, the index has the n-grams of SEED_WORDS words, because sequences that are
    shorter than n are searched, too.

    Raises ValueError if n is less than 2.
    """
    if n < 2:
        raise ValueError(f"n must be at least 2, not {n}")
    gram = min(n, SEED_WORDS)
    grams: list[tuple[Uint64s, Int64s]] = []
    anchors: list[Uint64s] = []  # hashes of all parts of n-grams that have the length of an anchor
    characters: list[Uint32s] = []
    sizes: list[Int64s] = []
    counts: list[Int64s] = []
    word_hashes: list[Uint32s] = []
    first = 0
    for block in fold_texts(texts):
        of_texts = numpy.diff(block.bounds)
        hashes = join_hashes(block.hashes, gram)
        ends = numpy.repeat(block.bounds[1:], of_texts)[: len(hashes)]
        whole = numpy.flatnonzero(numpy.arange(len(hashes)) + gram <= ends)
        grams.append((hashes[whole], whole + first))
        distance, size = _anchors(gram)
        places = (whole[:, None] + numpy.arange(distance)).ravel()
        anchors.append(sort_different(join_hashes(block.hashes, size)[places]))
        word_hashes.append(block.hashes.astype(numpy.uint32))
        characters.append(block.folded.characters[block.folded.characters != 0])
        sizes.append(block.folded.ends - block.folded.starts)
        counts.append(of_texts)
        first += len(block.hashes)
    table = _make_table(grams)
    of_anchors = numpy.concatenate([*anchors, numpy.empty(0, numpy.uint64)])
    of_words = numpy.concatenate([*characters, numpy.empty(0, numpy.uint32)])
    word_ends = _starts_of(sizes)
    word_sizes, weights = weigh_words(of_words, word_ends)
    arrays = {
        "text_starts": _starts_of(counts),
        "word_ends": word_ends,
        "sizes": _starts_of([word_sizes]),
        "weights": _starts_of([weights]),
        "characters": of_words,
        "word_hashes": numpy.concatenate([*word_hashes, numpy.empty(0, numpy.uint32)]),
        "templates": _find_templates(table, gram, first, len(texts)),
        "filter": _make_filter(of_anchors),
        "second_filter": _make_filter(_turn(of_anchors)),
        **table._asdict(),
    }
    return EvaluationIndex(n, arrays)


def fold_texts(texts: Sequence[str]) -> Iterator[TextBlock]:
    """Joins texts, in order, to blocks of limited size, and yields the blocks. See `fold_block`."""
    return map(fold_block, in_batches(texts, BLOCK_CHARACTERS, len))


def fold_block(texts: Sequence[str]) -> TextBlock:
    """Joins texts to one block, and normalises its words without regard to case (see folded_words.py)."""
    joined = "\n".join(texts)
    folded = fold_text(joined)
    if folded.text != joined:
        texts = list(map(normalize, texts))
    offsets = numpy.cumsum([0, *map(len, texts)]) + numpy.arange(len(texts) + 1)
    bounds = numpy.searchsorted(folded.word_starts(), offsets)
    return TextBlock(offsets, folded, hash_folded(folded), bounds)


def _make_table(found: Sequence[tuple[Uint64s, Int64s]]) -> _Table:
    hashes = numpy.concatenate([numpy.empty(0, numpy.uint64), *(one for one, _ in found)])
    places = numpy.concatenate([numpy.empty(0, numpy.int64), *(one for _, one in found)])
    order = numpy.argsort(hashes, kind="stable")
    hashes, places = hashes[order], places[order]
    different = sort_different(hashes)
    firsts = numpy.append(numpy.searchsorted(hashes, different), len(hashes))
    return _Table(different, firsts, places)


def _anchors(n: int) -> tuple[int, int]:
    """Returns (distance between the starts of two anchors, length of an anchor), in words.

    With these numbers, each sequence of n words contains a whole anchor.
    """
    distance = n // 2
    return distance, n - distance + 1


def _turn(hashes: Uint64s) -> Uint64s:
    """Exchanges the upper and lower 32 bits of hashes."""
    half = numpy.uint64(_HASH_BITS // 2)
    return hashes << half | hashes >> half


def _make_filter(hashes: Uint64s) -> Booleans:
    """Returns the argument `known` of a _Filter that passes `hashes`.

    It has one value for each combination of the first bits of a hash: True if one of `hashes` begins with
    these bits.
    """
    wanted = (len(hashes) * _FILTER_FACTOR).bit_length()
    bits = min(max(wanted, _FILTER_SIZES.start), _FILTER_SIZES.stop)
    passes = numpy.zeros(1 << bits, numpy.bool_)
    passes[hashes >> numpy.uint64(_HASH_BITS - bits)] = True
    return passes


def _join_at(hashes: Uint64s, starts: Int64s, size: int) -> Uint64s:
    """Returns the hashes of some sequences of words. They are the same as those of `join_hashes`.

    Args:
      hashes: hash of each word of a text.
      starts: index of the first word of each sequence.
      size: number of words of each sequence.
    """
    joined = hashes[starts]
    for place in range(1, size):
        joined = joined * MULTIPLIER + hashes[starts + place]
    return finalize(joined)


def _texts_of(bounds: Int64s, words: Int64s) -> Int64s:
    """Returns for each index in `words` the index of the text that contains this word.

    `bounds` has the index of the first word of each text, and the number of all words.
    """
    return numpy.searchsorted(bounds, words, "right") - 1


def _middle_of(bounds: Int64s, words: Int64s) -> int:
    """Returns the first word of the text in the middle of those that contain `words`, see `_texts_of`."""
    return int(bounds[(_texts_of(bounds, words[[words.argmin(), words.argmax()]]).sum() + 1) // 2])


def _sums_at(sums: Int64s, text_starts: Int64s, runs: Runs) -> Int64s:
    starts = text_starts[runs.items] + runs.places
    found: Int64s = sums[starts + runs.sizes] - sums[starts]
    return found


def _find_templates(table: _Table, gram: int, words: int, texts: int) -> Booleans:
    """Returns for each word of the evaluation texts True if it is in an n-gram of a template."""
    counts = numpy.diff(table.firsts)
    is_template = counts > max(TEMPLATE_ITEMS, TEMPLATE_SHARE * texts)
    found = numpy.zeros(words, numpy.bool_)
    places = table.places[numpy.repeat(is_template, counts)]
    found[ranges(places, numpy.full(len(places), gram))] = True
    return found


def _starts_of(counts: Sequence[Int64s]) -> Int64s:
    return numpy.concatenate([numpy.zeros(1, numpy.int64), *counts]).cumsum()


def ranges(starts: Int64s, counts: Int64s) -> Int64s:
    """Returns the numbers start, start + 1, … for each start, in one array.

    `counts` says for each start how many numbers are returned.
    """
    ends = numpy.cumsum(counts)
    shifts = numpy.repeat(starts - (ends - counts), counts)
    shifts += numpy.arange(len(shifts))
    return shifts
