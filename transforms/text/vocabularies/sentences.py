"""Splits a paragraph into sentences.

The splitter is sentencex of Wikimedia (MIT licence, rules for about 300 languages, released monthly). It
was the best of five on the English sentences of FLORES-101: of the 731 boundaries between neighbouring lines
of an article of devtest it misses 7, three of them after lines without final punctuation; pysbd misses 8,
syntok 12, spaCy's sentencizer and BlingFire 13. A line of the release may have several sentences. No boundary
of sentencex inside a line is wrong, while pysbd splits after "on July 8.", BlingFire after "Dr.", spaCy after
"et al.," and before closing quotes. Like the release, sentencex does not split quotations.

In 171 articles of Wikinews of 2019, sentencex finds 1,652 boundaries. Of those on which the others disagree,
9 were wrong, 7 of them as in "10:00 a.m. | EDT".
"""

import re

import sentencex

# White space is replaced by spaces, which keeps the offsets: sentencex 1.0.32 panics if white space of
# several bytes follows an initial, such as U+2009 in "J. R. Smith".
_BLANK = re.compile(r"\s")


def split_sentences(paragraph: str, language: str = "en") -> list[tuple[int, int]]:
    """Returns (start, end) of each sentence, in order, as offsets in code points, without spaces around it.

    All text except spaces is part of a sentence. A line break counts as a space. `language` is an ISO 639
    code; for unknown ones sentencex uses general rules.
    """
    offsets = []
    start = 0
    for piece in sentencex.segment(language, _BLANK.sub(" ", paragraph)):
        bare = piece.strip(" ")
        if bare:
            first = start + piece.index(bare)
            offsets.append((first, first + len(bare)))
        start += len(piece)
    return offsets
