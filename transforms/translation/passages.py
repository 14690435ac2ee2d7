"""Chooses a passage of an article: 3 to 5 consecutive sentences of one paragraph.

"We selected one paragraph per document, from either the beginning, middle, or end of the article": Goyal et
al. 2022, section 3.1. The choice depends only on the article's key (which includes the seed) and text. So the
same seed and dump always give the same passage, whatever other articles are read and in whatever order.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from corpusmill.transforms.files.fingerprint import fingerprint
from corpusmill.transforms.files.records import Reason
from corpusmill.transforms.models.sentences import split_sentences
from corpusmill.transforms.translation.sentence_rules import reason_to_reject_sentence

MIN_SENTENCES, MAX_SENTENCES = 3, 5
PARTS = ("beginning", "middle", "end")

_CUT_BEHIND = {"no-end", "abbreviation"}
_CUT_BEFORE = {"lower-case", "punctuation"}
_BITS = 64


class Paragraph(NamedTuple):
    """A paragraph of running text; not a heading, caption or list item."""

    text: str
    # Offsets in `text` where a link to another page begins, ascending, in code points.
    link_offsets: tuple[int, ...]


class PassageSentence(NamedTuple):
    """A sentence of a passage that was chosen from an article."""

    text: str  # one line; words are separated by one space
    has_hyperlink: bool


class Passage(NamedTuple):
    """The passage of an article: 3 to 5 consecutive sentences of one paragraph.

    All sentences of a passage, or only the first ones, can be selected for the benchmark.
    """

    part: str  # one of PARTS: position of the paragraph in the article
    paragraph: int  # number of the paragraph in the article, from 0
    first: int  # number of the first sentence in the paragraph, from 0, counting all sentences
    sentences: tuple[PassageSentence, ...]  # 3 to 5


def choose_passage(paragraphs: Sequence[Paragraph], key: str) -> Passage | Reason:
    """Chooses the passage of an article from its paragraphs, or returns the reason why there is none.

    `key` identifies the article and the seed, and determines all random choices. A sentence is fit if no rule
    in sentence_rules.py rejects it. The choice has three steps:

    1. A part of the article is drawn: beginning, middle or end.
    2. One of the part's paragraphs with at least 3 consecutive fit sentences is drawn. If there is none, the
       other parts are tried in random order.
    3. One of the paragraph's longest passages of at most 5 fit sentences is drawn.

    If there is no such passage, the reason is `no-passage`. Its details are the number of fit sentences and
    the reasons why the others are not fit: "12 paragraphs, 20 sentences, 9 fit; no-end 3, too-short 8".
    """
    fates: Counter[str] = Counter()
    parts = [part_of(place, len(paragraphs)) for place in range(len(paragraphs))]
    for part in sorted(PARTS, key=lambda name: fingerprint(f"{key} part {name}")):
        places = [place for place, its_part in enumerate(parts) if its_part == part]
        # Because the order is random, the first suitable paragraph is a random one of all suitable
        # paragraphs.
        for place in sorted(places, key=lambda place: fingerprint(f"{key} paragraph {place}")):
            sentences = list(_sentences_of(paragraphs[place]))
            starts, length = _longest_passages([reason is None for _, reason in sentences])
            if starts:
                first = starts[fingerprint(f"{key} sentence") * len(starts) >> _BITS]
                chosen = sentences[first : first + length]
                return Passage(part, place, first, tuple(one for one, _ in chosen))
            fates.update(reason or "" for _, reason in sentences)
    return Reason("no-passage", _describe(len(paragraphs), fates))


def part_of(place: int, paragraphs: int) -> str:
    """Returns the part of an article (beginning, middle or end) that contains the middle of a paragraph.

    `place` is the index of the paragraph, counted from 0, and `paragraphs` the number of paragraphs. If there
    are two paragraphs, they are the beginning and the end. A single paragraph is the beginning.
    """
    if paragraphs == 1:
        return PARTS[0]
    return PARTS[(2 * place + 1) * len(PARTS) // (2 * paragraphs)]


def _sentences_of(paragraph: Paragraph) -> Iterator[tuple[PassageSentence, str | None]]:
    """Yields (sentence, reason) for each sentence of a paragraph.

    The reason says why the sentence is not fit for translation. It is None for a fit sentence.
    """
    spans = split_sentences(paragraph.text)
    texts = [" ".join(paragraph.text[start:end].split()) for start, end in spans]
    reasons = _reasons_of(texts)
    for (start, end), text, reason in zip(spans, texts, reasons, strict=True):
        next_link = bisect_left(paragraph.link_offsets, start)
        has_link = any(offset < end for offset in paragraph.link_offsets[next_link : next_link + 1])
        yield PassageSentence(text, has_link), reason


def _reasons_of(texts: Sequence[str]) -> list[str | None]:
    """Returns for each sentence of a paragraph the reason to reject it, or None if it is fit for translation.

    The reason `cut` means that a sentence and its neighbour are probably two parts of one sentence.
    """
    own = [reason_to_reject_sentence(text) for text in texts]
    reasons = list(own)
    for place, (one, following) in enumerate(pairwise(own)):
        if one in _CUT_BEHIND and following is None:
            reasons[place + 1] = "cut"
        if following in _CUT_BEFORE and one is None:
            reasons[place] = "cut"
    return reasons


def _longest_passages(is_fit: Sequence[bool]) -> tuple[list[int], int]:
    """Finds the longest passages of a paragraph, which all have the same number of sentences.

    Returns (index of the first sentence of each of these passages, number of their sentences), or ([], 0) if
    all passages are too short. `is_fit` has True for each sentence that is fit for translation.
    """
    # Number of consecutive fit sentences from each sentence on.
    runs = [*accumulate(map(int, reversed(is_fit)), lambda run, fit: fit * (run + 1))][::-1]
    length = min(max(runs, default=0), MAX_SENTENCES)
    if length < MIN_SENTENCES:
        return [], 0
    return [place for place, run in enumerate(runs) if run >= length], length


def _describe(paragraphs: int, fates: Counter[str]) -> str:
    reasons = [f"{reason} {count}" for reason, count in sorted(fates.items()) if reason]
    fit = f"{paragraphs} paragraphs, {fates.total()} sentences, {fates['']} fit"
    return f"{fit}; {', '.join(reasons)}" if reasons else fit
