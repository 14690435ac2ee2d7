"""Splits paragraphs into sentences, and the documents of a corpus into clean sentences.

The splitter is Wikimedia's sentencex (MIT licence, rules for about 300 languages, released monthly). It was
the best of five splitters on the English devtest sentences of FLORES-101. There are 731 boundaries between
neighbouring lines of the same article. sentencex misses 7 of them, three after lines without final
punctuation; pysbd misses 8, syntok 12, and spaCy's sentencizer and BlingFire 13 each. A line may contain
several sentences. sentencex never splits a line in the wrong place, while pysbd splits after "on July 8.",
BlingFire after "Dr.", and spaCy after "et al.," and before closing quotes. Like FLORES-101, sentencex does
not split quotations.

In 171 Wikinews articles of 2019, sentencex finds 1,652 boundaries. Of those that at least one other splitter
does not find, 9 are wrong. Of these, 7 are like the boundary in "10:00 a.m. | EDT".
"""

import re
from collections.abc import Iterable, Iterator

from ..files.records import Layout
from .sentence_sampling import PARAGRAPHS
from .subword_models import BLANK, RESERVED, on_one_line

# White space is replaced by spaces, which keeps the offsets: sentencex 1.0.32 panics if white space of
# several bytes follows an initial, such as U+2009 in "J. R. Smith".
_BLANK = re.compile(r"\s")


def split_sentences(paragraph: str, language: str = "en") -> list[tuple[int, int]]:
    """Returns the (start, end) offsets of each sentence in order, in code points.

    Spaces around sentences are not included. All other text is part of a sentence. A line break counts as a
    space. `language` is an ISO 639 code; for an unknown code, sentencex uses general rules.
    """
    import sentencex  # not installed where only the settings of FLORES-101 are printed

    offsets = []
    start = 0
    for piece in sentencex.segment(language, _BLANK.sub(" ", paragraph)):
        bare = piece.strip(" ")
        if bare:
            first = start + piece.index(bare)
            offsets.append((first, first + len(bare)))
        start += len(piece)
    return offsets


WHOLE = "whole"  # in place of the format of a text: it is not divided into sentences

# SentencePiece reads BLANK as a space and skips words with RESERVED. A tab or line break would end the word
# in the table that the trainer reads.
_TO_CLEAN = str.maketrans({BLANK: " ", RESERVED: None, "\t": " ", "\n": " ", "\r": " "})


def sentences_of_texts(texts: Iterable[str], layout: Layout, language: str) -> Iterator[str]:
    """Yields the cleaned sentences of some texts (see `clean_sentences`), or the whole texts, one on a line.

    Args:
      texts: the texts of documents.
      layout: the format of the texts.
      language: the ISO 639 code of their language.
    """
    for text in texts:
        if layout.paragraphs == WHOLE:
            yield on_one_line(text)
            continue
        if not layout.paragraphs:
            yield from clean_sentences([text])
            continue
        for paragraph in PARAGRAPHS[layout.paragraphs](text):
            offsets = split_sentences(paragraph, language)
            yield from clean_sentences(paragraph[start:end] for start, end in offsets)


def clean_sentences(sentences: Iterable[str]) -> Iterator[str]:
    """Puts each sentence on one line, and removes the special characters of SentencePiece.

    Empty sentences are dropped.
    """
    for sentence in sentences:
        cleaned = sentence.translate(_TO_CLEAN).strip(" ")
        if cleaned:
            yield cleaned
