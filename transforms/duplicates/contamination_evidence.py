"""Adds up how much of each evaluation text occurs in the training texts (its overlap), and where it occurs.

The overlaps of an evaluation text with parts of the training data can be added in any order. An overlap has:

* the n-grams of the evaluation text that occur in training documents;
* the number of these documents;
* passages from some of these documents, those with the longest matches. A match is a sequence of words that a
  document has in common with the evaluation text.
"""

import itertools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy

from ..files.line_blocks import group_places
from .evaluation_index import LONG_WORDS, EvaluationIndex, Runs, TextBlock

CONTEXT_WORDS = 30
"""Number of words in a passage before and after the text that both have in common."""
SHOWN_WORDS = 200
"""Largest number of words of an evaluation text that a passage covers on each side of the longest stretch."""

Stretches = tuple[tuple[int, int], ...]
"""(start, end) of stretches, ascending, without overlaps."""


class Place(NamedTuple):
    """The place of a training document: its file and its id."""

    file: str
    id: str  # unique in the file, with rare exceptions


class Match(NamedTuple):
    """A sequence of words that a passage of a training document has in common with an evaluation text."""

    word: int  # index of its first word in the evaluation text
    words: int
    start: int  # position of the match in the passage, in characters
    end: int


class Passage(NamedTuple):
    """A passage of a training document: the one with the longest match with an evaluation text."""

    place: Place
    words: int  # number of words of the longest stretch
    ngrams: int  # number of n-grams of the evaluation text in the whole document
    start: int  # position in the document, in characters of NFC
    text: str
    matches: tuple[Match, ...]


class Hit(NamedTuple):
    """A sequence of words in a training document that contaminates an evaluation text.

    The sequence is also in the evaluation text. It has at least 13 words (LONG_WORDS), or is the whole
    evaluation text. Sequences that are too short to be evidence (EVIDENCE_WORDS) are not hits.
    """

    document: int  # index in its block
    item: int
    words: int
    start: int  # position in the document, in characters of NFC
    end: int


class Found(NamedTuple):
    """The overlap of one evaluation text with a part of the training documents."""

    documents: int  # number of documents with any part of the evaluation text
    whole: int  # number of documents with the whole evaluation text in one stretch
    long: int  # number of documents with a stretch of LONG_WORDS words that is evidence
    words: int  # number of words of the longest stretch
    ngrams: Stretches  # ranges of indexes of the evaluation text's n-grams that occur
    passages: tuple[Passage, ...]  # the best ones, see `order`


def order(passage: Passage) -> tuple[int, int, Place, int]:
    """Returns the sort key of a passage. The passage with the longest match comes first."""
    return -passage.words, -passage.ngrams, passage.place, passage.start


def describe(
    index: EvaluationIndex,
    block: TextBlock,
    file: str,
    ids: Sequence[str],
    runs: Runs,
    shown: int,
    known: Mapping[int, Found] = MappingProxyType({}),
) -> Iterator[tuple[int, Found]]:
    """Yields (index of an evaluation text, its overlap with the training texts of a block).

    Args:
      index: the index of the evaluation texts.
      block: the training texts.
      file: name of the training file of the block.
      ids: id of each training text.
      runs: the sequences of words that training and evaluation texts have in common, from
        `EvaluationIndex.find`.
      shown: maximum number of passages for each evaluation text.
      known: the overlaps found so far. A passage that would not be among the best of an overlap and these is
        left out, because it is slow to cut.
    """
    by_item = runs.take(numpy.lexsort((runs.words, runs.documents, runs.items)))
    is_long = (by_item.sizes >= LONG_WORDS) & index.are_evidence(by_item)
    for item, rows in group_places(by_item.items):
        of_item = by_item.take(rows)
        words = index.count_words(item)
        documents = []
        long = 0
        for document, some in group_places(of_item.documents):
            sizes = of_item.sizes[some]
            ngrams = _ngrams_of(index, words, of_item.places[some], sizes)
            documents.append(
                (-int(sizes.max()), -count(ngrams), Place(file, ids[document]), some, ngrams)
            )
            long += bool(is_long[rows[some]].any())
        before = known[item].passages if item in known else ()
        worst = order(before[-1])[:3] if len(before) >= shown > 0 else None
        best = [
            document
            for document in sorted(documents, key=operator.itemgetter(0, 1, 2))[:shown]
            if worst is None or document[:3] <= worst
        ]
        yield (
            item,
            Found(
                len(documents),
                sum(-longest == words for longest, *_ in documents),
                long,
                max(-longest for longest, *_ in documents),
                join_stretches(itertools.chain.from_iterable(one[-1] for one in documents)),
                tuple(
                    _cut_passage(block, of_item.take(some), words, place, -number)
                    for _, number, place, some, _ in best
                ),
            ),
        )


def find_hits(index: EvaluationIndex, block: TextBlock, runs: Runs) -> Iterator[Hit]:
    """Yields the sequences of words in `runs` that are long enough to contaminate an evaluation text."""
    is_hit = (runs.sizes >= LONG_WORDS) | index.are_whole(runs)
    hits = runs.take(is_hit & index.are_evidence(runs))
    rows = zip(hits.documents.tolist(), hits.items.tolist(), hits.words, hits.sizes, strict=True)
    for document, item, word, size in rows:
        offset = int(block.offsets[document])
        start, end = _span(block, int(word), int(size))
        yield Hit(document, item, int(size), start - offset, end - offset)


def add(found: Found, other: Found, shown: int) -> Found:
    """Returns the sum of two overlaps of one evaluation text with different training documents.

    The sum has at most `shown` passages.
    """
    return Found(
        found.documents + other.documents,
        found.whole + other.whole,
        found.long + other.long,
        max(found.words, other.words),
        join_stretches((*found.ngrams, *other.ngrams)),
        tuple(sorted((*found.passages, *other.passages), key=order)[:shown]),
    )


def add_to(sums: dict[int, Found], found: Iterable[tuple[int, Found]], shown: int) -> None:
    """Adds the overlaps in `found` to `sums`, which has one sum per evaluation text. Modifies `sums`."""
    for item, one in found:
        sums[item] = add(sums[item], one, shown) if item in sums else one


def join_stretches(stretches: Iterable[tuple[int, int]]) -> Stretches:
    """Joins stretches (start, end) that overlap or touch. Returns their union in ascending order."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return tuple(joined)


def count(stretches: Stretches) -> int:
    """Returns the total length of the stretches, which are (start, end) and do not overlap."""
    return sum(end - start for start, end in stretches)


def count_ngrams(words: int, n: int) -> int:
    """Returns the number of n-grams of a text with `words` words.

    A text with fewer than n words is one n-gram.
    """
    return max(words - n + 1, 1)


def _ngrams_of(
    index: EvaluationIndex, words: int, places: numpy.ndarray, sizes: numpy.ndarray
) -> Stretches:
    if words < index.n:
        return ((0, 1),) if words in sizes else ()
    is_ngram = sizes >= index.n
    places, ends = places[is_ngram], (places + sizes)[is_ngram] - index.n + 1
    return join_stretches(zip(places.tolist(), ends.tolist(), strict=True))


def _cut_passage(block: TextBlock, runs: Runs, words: int, place: Place, ngrams: int) -> Passage:
    """Returns the passage of a training document that has the longest match with an evaluation text.

    A match is a sequence of words that is in both texts. If several matches are equally long, the passage is
    around the first one.

    Args:
      block: training texts, one of which is the text of the document.
      runs: the sequences of words that the document shares with the evaluation text.
      words: number of words of the evaluation text.
      place: the place of the document.
      ngrams: number of n-grams of the evaluation text that occur in the document.
    """
    longest = int(numpy.argmax(runs.sizes))
    document, word, size = (
        int(column[longest]) for column in (runs.documents, runs.words, runs.sizes)
    )
    before = min(int(runs.places[longest]), SHOWN_WORDS)
    after = min(words - int(runs.places[longest]) - size, SHOWN_WORDS)
    first = max(word - before - CONTEXT_WORDS, int(block.bounds[document]))
    last = min(word + size + after + CONTEXT_WORDS, int(block.bounds[document + 1]))
    start, end = _span(block, first, last - first)
    matches = (
        Match(int(at), int(some), *(edge - start for edge in _span(block, int(one), int(some))))
        for one, at, some in zip(runs.words, runs.places, runs.sizes, strict=True)
        if first <= one and one + some <= last
    )
    offset = int(block.offsets[document])
    return Passage(
        place, size, ngrams, start - offset, block.folded.text[start:end], tuple(sorted(matches))
    )


def _span(block: TextBlock, word: int, words: int) -> tuple[int, int]:
    """Returns (start, end) of `words` consecutive words, as positions in the text of the block.

    `word` is the index of the first word in the block.
    """
    folded = block.folded
    last = folded.place_of(int(folded.ends[word + words - 1]) - 1)
    return folded.place_of(int(folded.starts[word])), last + 1


def sum_of(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Adds up mappings from names to counts. Returns name → sum of its counts, sorted by name."""
    total: dict[str, int] = {}
    for part in parts:
        for name, number in part.items():
            total[name] = total.get(name, 0) + number
    return dict(sorted(total.items()))
