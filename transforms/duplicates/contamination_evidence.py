"""Adds up how much of each evaluation text occurs in the training texts (its overlap), and where it occurs.

The overlaps of an evaluation text with parts of the training data can be added in any order. An overlap has:

* the number of training documents that have any part of the evaluation text;
* in how many of them each word of the evaluation text is part of a match. A match is a sequence of words
  that a document has in common with the evaluation text;
* passages from some of these documents, those with most words of the evaluation text.

So each passage has one of three tiers, see `rate`.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy

from .evaluation_index import EVIDENCE_WORDS, LONG_WORDS, Booleans, EvaluationIndex, TextBlock
from .folded_words import QUARTERS, fold_words
from .matched_passages import GAP_WORDS, Matches
from .minhash import Int64s

CONTEXT_WORDS = 30
"""Number of words in a passage before and after the text that both have in common."""
SHOWN_WORDS = 200
"""Largest number of words of an evaluation text that a passage covers on each side of the longest stretch."""

COPIED, PARTLY, COMMON = TIERS = ("copied", "partly", "common")
"""The tiers of passages of training documents, see `rate`."""
COMMON_DOCUMENTS, COMMON_SHARE = 5, 1 / 5_000
"""Words are common text if more documents than this number and this share of all have them in a match."""
MOST = 0.7
"""A passage with this share of the words of an evaluation text may be a copy of it.

The value is that of PaLM (Chowdhery et al. 2022, section 8), where it is a share of n-grams.
"""
MISSING_SHARE = 0.15
"""In a copy, no part with a larger share of the words is missing."""
FEW_DOCUMENTS = 2
"""If more documents have the rarest words of a passage, only single words of a copy may be missing."""
ANSWER_CHARACTERS = 300
"""Number of characters after a passage in which a right answer is searched."""

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
    found: Stretches  # the words of the evaluation text that it has
    words: int  # number of words of the longest match
    answer: str  # "yes" or "no": whether a right answer follows; "" if it is not known
    start: int  # position in the document, in characters of NFC
    text: str
    matches: tuple[Match, ...]


class Hit(NamedTuple):
    """A passage of a training document that has enough words of an evaluation text to be evidence.

    It has at least 13 words in a row (LONG_WORDS), or the whole evaluation text, or half of its words. The
    passages are those of matched_passages.py.
    """

    document: int  # index in its block
    item: int
    words: int  # number of words of the longest match
    start: int  # position in the document, in characters of NFC
    end: int
    answer: str  # "yes" or "no": whether a right answer follows; "" if it is not known
    found: Stretches  # the words of the evaluation text that it has


class Rating(NamedTuple):
    """The tier of a passage, and the facts that determine it."""

    tier: str
    found: int  # number of words of the evaluation text that the passage has
    share: float  # share of the words of the evaluation text that the passage has
    missing: (
        int  # number of words of the longest part that it does not have and that is not common text
    )
    documents: int  # number of training documents that have the rarest of its words in a match


class Found(NamedTuple):
    """The overlap of one evaluation text with a part of the training documents."""

    documents: int  # number of documents with any part of the evaluation text
    whole: int  # number of documents with the whole evaluation text in one stretch
    long: int  # number of documents with a stretch of LONG_WORDS words that is evidence
    words: int  # number of words of the longest stretch
    # (index of a word, change of the number of documents that have it in a match, from the word before it)
    steps: tuple[tuple[int, int], ...]
    passages: tuple[Passage, ...]  # the best ones, see `order`


def order(passage: Passage) -> tuple[int, int, Place, int]:
    """Returns the sort key of a passage. The passage with most words of the evaluation text comes first."""
    return -count(passage.found), -passage.words, passage.place, passage.start


def describe(
    index: EvaluationIndex,
    block: TextBlock,
    file: str,
    ids: Sequence[str],
    matches: Matches,
    shown: int,
    known: Mapping[int, Found] = MappingProxyType({}),
    answers: Sequence[str] = (),
) -> Iterator[tuple[int, Found]]:
    """Yields (index of an evaluation text, its overlap with a training text of a block).

    Args:
      index: the index of the evaluation texts.
      block: the training texts.
      file: name of the training file of the block.
      ids: id of each training text.
      matches: the passages of the training texts that have words of evaluation texts.
      shown: maximum number of passages for each evaluation text.
      known: the overlaps found so far. A passage that would not be among the best of an overlap is left out,
        because it is slow to cut.
      answers: for each evaluation text, the right answers to it, one per line; may be empty.
    """
    sizes = numpy.diff(matches.word_edges)
    is_evidence = index.are_long(matches.runs, EVIDENCE_WORDS)
    changes = numpy.diff(matches.documents) | numpy.diff(matches.items)
    pairs = [0, *(numpy.flatnonzero(changes) + 1).tolist(), len(matches.items)]
    for first, last in itertools.pairwise(pairs if len(matches.items) else ()):
        item, document = int(matches.items[first]), int(matches.documents[first])
        some = slice(matches.run_edges[first], matches.run_edges[last])
        of_some = is_evidence[some]
        best = max(range(first, last), key=lambda row: (sizes[row], matches.longest[row], -row))
        longest, place = int(matches.longest[best]), Place(file, ids[document])
        key = -int(sizes[best]), -longest, place
        before = known[item].passages if item in known else ()
        is_shown = len(before) < shown or key <= order(before[-1])[:3]
        yield (
            item,
            Found(
                1,
                int(matches.is_whole[first:last].any()),
                int(matches.is_long[first:last].any()),
                int(matches.longest[first:last].max()),
                _steps_of(matches.runs.places[some][of_some], matches.runs.sizes[some][of_some]),
                (_cut_passage(index, block, matches, best, place, answers),) if is_shown else (),
            ),
        )


def find_hits(block: TextBlock, matches: Matches, answers: Sequence[str] = ()) -> Iterator[Hit]:
    """Yields the passages in `matches` that are evidence. They are sorted by document and evaluation text.

    `answers` has for each evaluation text the right answers to it, one per line.
    """
    edges = matches.word_edges
    for row in numpy.flatnonzero(matches.is_hit).tolist():
        document, first = int(matches.documents[row]), int(matches.firsts[row])
        offset = int(block.offsets[document])
        start, end = _span(block, first, int(matches.lasts[row]) - first)
        places = matches.places[edges[row] : edges[row + 1]]
        item, longest = int(matches.items[row]), int(matches.longest[row])
        answer = _find_answer(block, matches, row, answers)
        yield Hit(
            document, item, longest, start - offset, end - offset, answer, stretches_of(places)
        )


def _find_answer(block: TextBlock, matches: Matches, row: int, answers: Sequence[str]) -> str:
    """Returns "yes" or "no": whether a right answer follows the passage, or "" if none is known."""
    known = answers[matches.items[row]] if answers else ""
    if not known:
        return ""
    document, last = int(matches.documents[row]), int(matches.lasts[row]) - 1
    _, end = _span(block, last, 1)
    stop = min(int(block.offsets[document + 1]) - 1, end + ANSWER_CHARACTERS)
    after = f" {' '.join(fold_words(block.folded.text[end:stop]))} "
    wanted = (" ".join(fold_words(answer)) for answer in known.splitlines())
    return "yes" if any(f" {one} " in after for one in wanted) else "no"


def rate(
    index: EvaluationIndex,
    item: int,
    found: Stretches,
    steps: Iterable[tuple[int, int]],
    documents: int,
    answer: str = "",
) -> Rating:
    """Returns the tier of a passage of a training document.

    Words of the evaluation text are common text if they are in a match with more than COMMON_DOCUMENTS
    documents and COMMON_SHARE of all documents, or in a template of the evaluation texts. The other words are
    its own; all are if a right answer follows. A passage is

    * "copied" if it has MOST of the own words, and in the longest part of them that is missing are at most
      GAP_WORDS or MISSING_SHARE of all words, or one word if more than FEW_DOCUMENTS have the rarest words;
    * "partly" if it has LONG_WORDS own words in a row, or half of the own words, some of them in a match, or
      MOST of all words where nearly all are common text;
    * "common" otherwise, and if it has fewer than EVIDENCE_WORDS words of two letters.

    Args:
      index: the index of the evaluation texts.
      item: index of the evaluation text.
      found: the words of it that the passage has.
      steps: the attribute of the sum of all overlaps of the evaluation text (see `Found`).
      documents: number of all training documents.
      answer: "yes" if a right answer follows the passage.
    """
    start, end = (int(edge) for edge in index.text_starts[item : item + 2])
    sizes, weights = (numpy.diff(sums[start : end + 1]) for sums in (index.sizes, index.weights))
    has = numpy.zeros(end - start, numpy.bool_)
    for first, last in found:
        has[first:last] = True
    counts = numpy.zeros(end - start + 1, numpy.int64)
    for place, step in steps:
        counts[place] = step
    counts = counts.cumsum()[:-1]
    common = counts > max(COMMON_DOCUMENTS, documents * COMMON_SHARE)
    own = ~(common | index.arrays["templates"][start:end]) | (answer == "yes")
    share = sizes[has].sum() / sizes.sum()
    of_own, own_found = sizes[own].sum(), sizes[own & has].sum()
    missing = _longest(own & ~has, sizes)
    in_match = has & (counts > 0)
    rarest = counts[in_match].min(initial=documents) if in_match.any() else 1
    allowed = max(GAP_WORDS * QUARTERS, MISSING_SHARE * sizes.sum())
    allowed = allowed if rarest <= FEW_DOCUMENTS else QUARTERS
    is_own = of_own > GAP_WORDS * QUARTERS
    if weights[has].sum() < EVIDENCE_WORDS * QUARTERS:
        tier = COMMON
    elif is_own and own_found >= MOST * of_own and missing <= allowed:
        tier = COPIED
    elif (2 * own_found >= of_own and (own & in_match).any()) if is_own else (share >= MOST):
        tier = PARTLY
    else:
        tier = PARTLY if _longest(own & has, sizes) >= LONG_WORDS * QUARTERS else COMMON
    lost = _longest(own & ~has, numpy.ones_like(sizes))
    return Rating(tier, int(has.sum()), round(float(share), 3), lost, int(rarest))


def _longest(mask: Booleans, sizes: Int64s) -> int:
    """Returns the largest sum of the sizes of consecutive words for which the mask is True."""
    sums = numpy.cumsum(numpy.where(mask, sizes, 0))
    return int((sums - numpy.maximum.accumulate(numpy.where(mask, 0, sums))).max(initial=0))


def add(found: Found, other: Found, shown: int) -> Found:
    """Returns the sum of two overlaps of one evaluation text with different training documents.

    The sum has at most `shown` passages.
    """
    steps = dict(found.steps)
    for place, step in other.steps:
        steps[place] = steps.get(place, 0) + step
    return Found(
        found.documents + other.documents,
        found.whole + other.whole,
        found.long + other.long,
        max(found.words, other.words),
        tuple(sorted((place, step) for place, step in steps.items() if step)),
        tuple(sorted((*found.passages, *other.passages), key=order)[:shown]),
    )


def add_to(sums: dict[int, Found], found: Iterable[tuple[int, Found]], shown: int) -> None:
    """Adds the overlaps in `found` to `sums`, which has one sum per evaluation text. Modifies `sums`."""
    for item, one in found:
        sums[item] = (
            add(sums[item], one, shown)
            if item in sums
            else one._replace(passages=one.passages[:shown])
        )


def stretches_of(places: Int64s) -> Stretches:
    """Returns the stretches of consecutive numbers in an ascending array."""
    edges = numpy.flatnonzero(numpy.diff(places) != 1) + 1
    starts, ends = places[[0, *edges]], places[[*(edges - 1), -1]] + 1
    return tuple(zip(starts.tolist(), ends.tolist(), strict=True))


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


def count_found(steps: Iterable[tuple[int, int]]) -> int:
    """Returns the number of words that are in a match with any document; `steps` is as in `Found`."""
    documents = found = before = 0
    for place, step in steps:
        found += (place - before) * (documents > 0)
        documents, before = documents + step, place
    return found


def _steps_of(places: Int64s, sizes: Int64s) -> tuple[tuple[int, int], ...]:
    """Returns the attribute `steps` of the overlap with a document, given its common sequences."""
    stretches = join_stretches(zip(places.tolist(), (places + sizes).tolist(), strict=True))
    return tuple(itertools.chain.from_iterable(((start, 1), (end, -1)) for start, end in stretches))


def _cut_passage(
    index: EvaluationIndex,
    block: TextBlock,
    matches: Matches,
    row: int,
    place: Place,
    answers: Sequence[str],
) -> Passage:
    """Returns the passage of a training document, with text before and after it.

    Of a long passage, the text is cut around the first one of its longest matches.

    Args:
      index: the index of the evaluation texts.
      block: training texts, one of which is the text of the document.
      matches: passages, one of which is this one.
      row: index of the passage in `matches`.
      place: the place of the document.
      answers: for each evaluation text, the right answers to it.
    """
    runs = matches.runs.take(slice(*matches.run_edges[row : row + 2]))
    longest = int(numpy.argmax(runs.sizes))
    document, item, word, at, size = (int(column[longest]) for column in runs)
    before = min(at, SHOWN_WORDS)
    after = min(index.count_words(item) - at - size, SHOWN_WORDS)
    first = max(word - before - CONTEXT_WORDS, int(block.bounds[document]))
    last = min(word + size + after + CONTEXT_WORDS, int(block.bounds[document + 1]))
    start, end = _span(block, first, last - first)
    offset = int(block.offsets[document])
    some = slice(*matches.word_edges[row : row + 2])
    places, words = matches.places[some], matches.words[some]
    return Passage(
        place,
        stretches_of(places),
        size,
        _find_answer(block, matches, row, answers),
        start - offset,
        block.folded.text[start:end],
        tuple(_find_shown(block, places, words, first, last, start)),
    )


def _find_shown(
    block: TextBlock, places: Int64s, words: Int64s, first: int, last: int, start: int
) -> Iterator[Match]:
    """Yields the matches of a passage that are between two words of the block.

    Args:
      block: the training texts.
      places: words of an evaluation text, ascending.
      words: the same words in the block.
      first, last: indexes in the block of the first word that is shown, and after the last one.
      start: start of the text of the passage in the block, in characters.
    """
    shown = (first <= words) & (words < last)
    places, words = places[shown], words[shown]
    edges = numpy.flatnonzero((numpy.diff(places) != 1) | (numpy.diff(words) != 1)) + 1
    for begin, end in itertools.pairwise((0, *edges.tolist(), len(places))):
        span = _span(block, int(words[begin]), end - begin)
        yield Match(int(places[begin]), end - begin, *(edge - start for edge in span))


def _span(block: TextBlock, word: int, words: int) -> tuple[int, int]:
    """Returns (start, end) of `words` consecutive words, as positions in the text of the block.

    `word` is the index of the first word in the block.
    """
    folded = block.folded
    return folded.place_of(int(folded.starts[word])), folded.end_of(word + words - 1)


def sum_of(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Adds up mappings from names to counts. Returns name → sum of its counts, sorted by name."""
    total: dict[str, int] = {}
    for part in parts:
        for name, number in part.items():
            total[name] = total.get(name, 0) + number
    return dict(sorted(total.items()))
