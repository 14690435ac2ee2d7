"""Finds the passages of training texts that have words of an evaluation text in its order.

A passage begins with one or more sequences of at least n words that both texts have in common. Words before,
between and after them belong to the passage, too, if they are the same words in nearly the same places. So an
evaluation text of which one word in ten was changed is found as one passage.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy

from .evaluation_index import (
    EVIDENCE_WORDS,
    LONG_WORDS,
    SEED_WORDS,
    Booleans,
    EvaluationIndex,
    Runs,
    TextBlock,
    ranges,
)
from .folded_words import QUARTERS
from .minhash import Int64s

REACH_WORDS = 64
"""Largest number of words between two sequences of a passage, and before and after the sequences."""
MOVED_WORDS = 16
"""Largest number of words added or left out between two sequences of a passage."""
GAP_WORDS = 3
"""Largest number of consecutive words that may be changed, added or left out between other equal words."""
_MOVES = numpy.array(sorted(range(-GAP_WORDS, GAP_WORDS + 1), key=abs))
HIT_SHARE = 0.5
"""A passage with this share of the evaluation text is a hit, even without LONG_WORDS words in a row."""


class Matches(NamedTuple):
    """Passages of training texts that have words of evaluation texts: one passage per row.

    The rows are sorted by document and evaluation text.
    """

    documents: Int64s  # indexes of training texts in their block
    items: Int64s  # indexes of evaluation texts
    firsts: Int64s  # index of the first word in the block
    lasts: Int64s  # index after the last word
    longest: Int64s  # number of words in the longest common sequence
    is_whole: Booleans  # True if the common sequence is the whole evaluation text
    is_long: Booleans  # True if a common sequence has LONG_WORDS words and is evidence
    is_hit: Booleans  # True if the passage is evidence, and long, whole or HIT_SHARE of the evaluation text
    runs: Runs  # the common sequences of all passages
    run_edges: Int64s  # the first sequence of each passage, and the number of sequences
    places: Int64s  # the words of evaluation texts that passages have, ascending for each passage
    words: Int64s  # indexes of the same words in the block
    word_edges: Int64s  # the first word of each passage, and the number of words


def find_matches(index: EvaluationIndex, block: TextBlock) -> Iterator[Matches]:
    """Yields the passages of the texts in `block` that have n or LONG_WORDS words in a row, or are hits.

    In scripts without spaces, several letters count as a word, see `weigh_words`. Evaluation texts that are
    too short have no passages. All passages of a document and an evaluation text are in the same part.
    """
    return (_match(index, block, runs) for runs in index.find(block))


def _match(index: EvaluationIndex, block: TextBlock, runs: Runs) -> Matches:
    """Returns the passages that have the given common sequences, see `find_matches`."""
    runs, rows = _chain(runs)
    # In scripts without spaces, most sequences have less.
    least = QUARTERS * min(index.n, SEED_WORDS)
    kept = numpy.bincount(rows, index.sizes_of(runs)) >= least
    runs, rows = runs.take(kept[rows]), (numpy.cumsum(kept) - 1)[rows[kept[rows]]]
    word_rows, places, words = _find_words(index, block, runs, rows)
    firsts = numpy.searchsorted(rows, numpy.arange(rows[-1] + 1 if len(rows) else 0))
    items = runs.items[firsts]

    def any_of(is_so: Booleans) -> Booleans:
        return numpy.bincount(rows, is_so, len(firsts)) > 0

    starts, ends = index.text_starts[items], index.text_starts[items + 1]
    at = starts[word_rows] + places
    sizes, weights = (
        numpy.bincount(word_rows, sums[at + 1] - sums[at], len(firsts))
        for sums in (index.sizes, index.weights)
    )
    is_whole = any_of(index.are_whole(runs))
    is_long = any_of(index.are_long(runs, LONG_WORDS) & index.are_evidence(runs))
    is_hit = is_long | is_whole | (sizes >= HIT_SHARE * (index.sizes[ends] - index.sizes[starts]))
    is_hit &= weights >= EVIDENCE_WORDS * QUARTERS
    kept = is_hit | is_whole | any_of(index.are_long(runs, min(index.n, LONG_WORDS)))
    kept &= ~index.are_too_short(items)
    numbers = numpy.cumsum(kept) - 1
    of_runs, of_words = kept[rows], kept[word_rows]
    runs, places, words = runs.take(of_runs), places[of_words], words[of_words]
    each = numpy.arange(kept.sum() + 1)
    run_edges = numpy.searchsorted(numbers[rows[of_runs]], each)
    word_edges = numpy.searchsorted(numbers[word_rows[of_words]], each)
    some = len(words) > 0  # `reduceat` needs values
    return Matches(
        runs.documents[run_edges[:-1]],
        items[kept],
        numpy.minimum.reduceat(words, word_edges[:-1]) if some else words,
        numpy.maximum.reduceat(words, word_edges[:-1]) + 1 if some else words,
        numpy.maximum.reduceat(runs.sizes, run_edges[:-1]) if some else words,
        is_whole[kept],
        is_long[kept],
        is_hit[kept],
        runs,
        run_edges,
        places,
        words,
        word_edges,
    )


def _chain(runs: Runs) -> tuple[Runs, Int64s]:
    """Sorts common sequences by passage. Returns them with the number of the passage of each.

    Sequences of a document and an evaluation text are in the same passage if they are near each other in both
    texts.
    """
    shifts = runs.words - runs.places
    order = numpy.lexsort((runs.words, shifts, runs.items, runs.documents))
    runs, shifts = runs.take(order), shifts[order]
    is_new = numpy.ones(len(order), numpy.bool_)
    is_new[1:] = (numpy.diff(runs.documents) != 0) | (numpy.diff(runs.items) != 0)
    is_new[1:] |= numpy.diff(shifts) > MOVED_WORDS
    bands = numpy.cumsum(is_new)
    order = numpy.lexsort((runs.words, bands))  # the bands are ascending already
    runs = runs.take(order)
    ends = runs.words + runs.sizes
    span = int(ends.max(initial=0)) + 1
    before = numpy.maximum.accumulate(ends + bands * span) - bands * span
    is_new[1:] |= runs.words[1:] - before[:-1] > REACH_WORDS
    return runs, numpy.cumsum(is_new) - 1


def _find_words(
    index: EvaluationIndex, block: TextBlock, runs: Runs, rows: Int64s
) -> tuple[Int64s, Int64s, Int64s]:
    """Finds the words that each passage and its evaluation text have in common, in nearly the same places.

    Returns for each word the passage, the index in the evaluation text, and the index in the block.
    """
    order = numpy.argsort(-runs.sizes, kind="stable")
    sorted_runs = runs.take(order)
    of_runs = numpy.repeat(order, sorted_runs.sizes)
    near_runs, near_places, near_words = _find_near_words(index, block, runs)
    numbers = numpy.concatenate([of_runs, near_runs])
    places = numpy.concatenate([ranges(sorted_runs.places, sorted_runs.sizes), near_places])
    words = numpy.concatenate([ranges(sorted_runs.words, sorted_runs.sizes), near_words])
    keys = (rows[numbers] << 32) + places
    keys, first = numpy.unique(keys, return_index=True)  # words of long sequences are first
    in_run = first < len(of_runs)
    word_rows, places, words = keys >> 32, places[first], words[first]
    at = index.text_starts[runs.items[numbers[first]]] + places
    is_new = numpy.ones(len(keys), numpy.bool_)
    gaps = index.sizes[at[1:]] - index.sizes[at[:-1] + 1]
    is_new[1:] = (numpy.diff(word_rows) != 0) | (gaps > GAP_WORDS * QUARTERS)
    parts = numpy.cumsum(is_new) - 1
    kept = (numpy.bincount(parts, in_run) > 0)[parts]
    return word_rows[kept], places[kept], words[kept]


def _find_near_words(
    index: EvaluationIndex, block: TextBlock, runs: Runs
) -> tuple[Int64s, Int64s, Int64s]:
    """Finds equal words before and after common sequences, at about the same distance in both texts.

    Returns for each word the number of the sequence, the index in the evaluation text, and the index in the
    block. If the distance is not the same, at least two consecutive words must be equal.
    """
    starts, ends = block.bounds[runs.documents], block.bounds[runs.documents + 1]
    items = index.text_starts[runs.items]
    after_runs = runs.places + runs.sizes, runs.words + runs.sizes
    reach = numpy.full(len(items), REACH_WORDS)
    before = numpy.minimum.reduce([runs.places, runs.words - starts, reach])
    after = numpy.minimum.reduce(
        [index.text_starts[runs.items + 1] - items - after_runs[0], ends - after_runs[1], reach]
    )
    numbers = numpy.tile(numpy.arange(len(items)), 2)
    counts = numpy.concatenate([before, after])
    firsts = numpy.concatenate([runs.places - before, after_runs[0]])
    windows = numpy.repeat(numpy.arange(len(counts)), counts)
    numbers, places = numbers[windows], ranges(firsts, counts)
    ours = index.arrays["word_hashes"][items[numbers] + places]
    theirs = ((runs.words - runs.places)[numbers] + places)[:, None] + _MOVES
    same = ours[:, None] == block.hashes.take(theirs, mode="clip")
    same &= (starts[numbers][:, None] <= theirs) & (theirs < ends[numbers][:, None])
    pairs = same[1:, 1:] & same[:-1, 1:] & (windows[1:] == windows[:-1])[:, None]
    same[:, 1:] = False
    same[1:, 1:] |= pairs
    same[:-1, 1:] |= pairs
    moves, at = numpy.nonzero(same.T)  # words at the same distance are first
    numbers, places, words = numbers[at], places[at], theirs[at, moves]
    is_same = index.are_same(block, words, items[numbers] + places)
    return numbers[is_same], places[is_same], words[is_same]
