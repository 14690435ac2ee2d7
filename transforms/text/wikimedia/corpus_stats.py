"""What a corpus is counted by. Counts add up in any order."""

from collections.abc import Iterable

from transforms.records import CorpusStats
from transforms.text.wikimedia import article_markers


def measure_article(text: str) -> CorpusStats:
    """Counts one article in Wiki-40B layout."""
    sections = text.count(f"\n{article_markers.START_SECTION}\n")
    bodies = text.count(f"\n{article_markers.START_PARAGRAPH}\n")
    newlines = text.count(article_markers.NEWLINE)
    layout = 1 + sections + bodies  # markers that stand as a word of their own
    return CorpusStats(
        articles=1,
        sections=sections,
        paragraphs=bodies + newlines,
        words=len(text.replace(article_markers.NEWLINE, " ").split()) - layout,
        characters=article_markers.count_characters(text),
        text_bytes=len(text.encode("utf-8")),
    )


def add_stats(stats: Iterable[CorpusStats]) -> CorpusStats:
    """The sum of several counts."""
    return CorpusStats(*(sum(column) for column in zip(CorpusStats(), *stats, strict=True)))
