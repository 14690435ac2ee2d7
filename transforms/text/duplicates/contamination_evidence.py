"""Adds up the parts of evaluation texts that training texts have: how much of each text, and where.

Facts about one evaluation text are added over any parts of the training data, in any order, with the same
result: which of its n-grams occur, in how many documents, and the documents that have most of it.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy

from transforms.text.duplicates.evaluation_index import EvaluationIndex, Runs, TextBlock

CONTEXT_WORDS = 30
"""So many words are shown before and after what a document has in common with a text."""
SHOWN_WORDS = 200
"""Of a long evaluation text, so many words are shown on both sides of the longest stretch."""
LONG_WORDS = 13
"""Words in a row that are no chance: the rule of GPT-3 (Brown et al. 2020, appendix C)."""

Stretches = tuple[tuple[int, int], ...]
"""(start, end), ascending, with space between."""


class Place(NamedTuple):
    """A training document."""

    file: str
    id: str  # unique in the file, or nearly


class Match(NamedTuple):
    """A stretch of words that a passage of a document and an evaluation text have in common."""

    word: int  # number of the first, in the evaluation text
    words: int
    start: int  # characters of the passage
    end: int


class Passage(NamedTuple):
    """The part of a document that has most in common with an evaluation text."""

    place: Place
    words: int  # of the longest stretch
    ngrams: int  # of the evaluation text, in all of the document
    start: int  # of the passage in the document, in characters in NFC
    text: str
    matches: tuple[Match, ...]


class Hit(NamedTuple):
    """A stretch of a document that is LONG_WORDS words or all of an evaluation text."""

    document: int  # number in its block
    item: int
    words: int
    start: int  # in the document, in characters in NFC
    end: int


class Found(NamedTuple):
    """The parts of one evaluation text that some training documents have."""

    documents: int  # that have some of it
    whole: int  # of these, documents with all of it in one stretch
    words: int  # of the longest stretch
    ngrams: Stretches  # numbers of those that occur
    passages: tuple[Passage, ...]  # the best, see `order`


def order(passage: Passage) -> tuple[int, int, Place, int]:
    """Returns the sort key of a passage: the longest stretch first."""
    return -passage.words, -passage.ngrams, passage.place, passage.start


def describe(
    index: EvaluationIndex, block: TextBlock, file: str, ids: Sequence[str], runs: Runs, shown: int
) -> Iterator[tuple[int, Found]]:
    """(number of an evaluation text, what the texts of a block have in common with it).

    Args:
      file, ids: of the texts of the block.
      shown: so many passages at most.
    """
    by_item = runs.take(numpy.lexsort((runs.words, runs.documents, runs.items)))
    for item, rows in _groups(by_item.items):
        of_item = by_item.take(rows)
        words = index.count_words(item)
        documents = []
        for document, some in _groups(of_item.documents):
            sizes = of_item.sizes[some]
            ngrams = _ngrams_of(index, words, of_item.places[some], sizes)
            documents.append(
                (-int(sizes.max()), -count(ngrams), Place(file, ids[document]), some, ngrams)
            )
        best = sorted(documents, key=lambda one: one[:3])[:shown]
        yield (
            item,
            Found(
                len(documents),
                sum(-longest == words for longest, *_ in documents),
                max(-longest for longest, *_ in documents),
                join_stretches(itertools.chain.from_iterable(one[-1] for one in documents)),
                tuple(
                    _cut_passage(block, of_item.take(some), words, place, -number)
                    for _, number, place, some, _ in best
                ),
            ),
        )


def find_hits(index: EvaluationIndex, block: TextBlock, runs: Runs) -> Iterator[Hit]:
    """The stretches that make an evaluation text contaminated."""
    whole = index.text_starts[runs.items + 1] - index.text_starts[runs.items]
    hits = runs.take((runs.sizes >= LONG_WORDS) | (runs.sizes == whole))
    rows = zip(hits.documents.tolist(), hits.items.tolist(), hits.words, hits.sizes, strict=True)
    for document, item, word, size in rows:
        offset = int(block.offsets[document])
        start, end = _span(block, int(word), int(size))
        yield Hit(document, item, int(size), start - offset, end - offset)


def add(found: Found, other: Found, shown: int) -> Found:
    """Adds the findings of two parts about an evaluation text, with so many passages at most."""
    return Found(
        found.documents + other.documents,
        found.whole + other.whole,
        max(found.words, other.words),
        join_stretches((*found.ngrams, *other.ngrams)),
        tuple(sorted((*found.passages, *other.passages), key=order)[:shown]),
    )


def add_to(sums: dict[int, Found], found: Iterable[tuple[int, Found]], shown: int) -> None:
    """Adds to what is known of each evaluation text."""
    for item, one in found:
        sums[item] = add(sums[item], one, shown) if item in sums else one


def join_stretches(stretches: Iterable[tuple[int, int]]) -> Stretches:
    """Returns the union of stretches."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return tuple(joined)


def count(stretches: Stretches) -> int:
    """Returns the total length of the stretches."""
    return sum(end - start for start, end in stretches)


def count_ngrams(words: int, n: int) -> int:
    """Returns the number of n-grams of a text of so many words; a shorter text is one, whole."""
    return max(words - n + 1, 1)


def _groups(numbers: numpy.typing.NDArray[numpy.int64]) -> Iterator[tuple[int, numpy.ndarray]]:
    """(number, rows) of each that is there; they are sorted."""
    edges = numpy.flatnonzero(numpy.diff(numbers)) + 1
    for start, end in itertools.pairwise([0, *edges.tolist(), len(numbers)]):
        if start < end:
            yield int(numbers[start]), numpy.arange(start, end)


def _ngrams_of(
    index: EvaluationIndex, words: int, places: numpy.ndarray, sizes: numpy.ndarray
) -> Stretches:
    if words < index.n:
        return ((0, 1),)
    ends = places + sizes - index.n + 1
    return join_stretches(zip(places.tolist(), ends.tolist(), strict=True))


def _cut_passage(block: TextBlock, runs: Runs, words: int, place: Place, ngrams: int) -> Passage:
    """The passage around the longest run of a document, the first of them."""
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
        place, size, ngrams, start - offset, block.text[start:end], tuple(sorted(matches))
    )


def _span(block: TextBlock, word: int, words: int) -> tuple[int, int]:
    """(start, end) of words in the text of the block."""
    folded = block.folded
    last = folded.place_of(int(folded.ends[word + words - 1]) - 1)
    return folded.place_of(int(folded.starts[word])), last + 1


def sum_of(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Counts, added up by name. Sorted."""
    total: dict[str, int] = {}
    for part in parts:
        for name, number in part.items():
            total[name] = total.get(name, 0) + number
    return dict(sorted(total.items()))
