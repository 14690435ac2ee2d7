"""Counts the characters, words and other parts of articles. Counts can be added up in any order."""

import re
from collections.abc import Iterable

from corpusmill.transforms.files import white_space
from corpusmill.transforms.files.records import CorpusStats
from corpusmill.transforms.wikitext import article_markers


def measure_article(text: str) -> CorpusStats:
    """Returns the numbers of sections, paragraphs, words and so on of one article in the Wiki-40B layout."""
    sections = text.count(f"\n{article_markers.START_SECTION}\n")
    bodies = text.count(f"\n{article_markers.START_PARAGRAPH}\n")
    newlines = text.count(article_markers.NEWLINE)
    layout = 1 + sections + bodies  # markers that `split` counts as words
    return CorpusStats(
        articles=1,
        sections=sections,
        paragraphs=bodies + newlines,
        words=white_space.count_words(text.replace(article_markers.NEWLINE, " ")) - layout,
        characters=article_markers.count_characters(text),
        text_bytes=len(text.encode("utf-8")),
        line_feeds=text.count("\n"),
    )


# Scripts without spaces between words. A word has about two characters in East Asia, else about four.
_EAST_ASIAN = re.compile("[\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_SOUTH_EAST_ASIAN = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")


def estimate_words(text: str) -> int:
    """Returns the number of words of a text, also in scripts without spaces between words.

    In these scripts, the number of words is estimated from the number of characters. In other scripts, words
    are separated by white space.
    """
    rest, east = _EAST_ASIAN.subn(" ", text)
    rest, south_east = _SOUTH_EAST_ASIAN.subn(" ", rest)
    return len(rest.split()) + -(-east // 2) + -(-south_east // 4)


def add_stats(stats: Iterable[CorpusStats]) -> CorpusStats:
    """Adds up several CorpusStats, field by field."""
    return CorpusStats(*(sum(column) for column in zip(CorpusStats(), *stats, strict=True)))
