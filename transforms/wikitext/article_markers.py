"""Writes and parses articles in the layout of Wiki-40B: markers precede the title, headings and paragraphs.

The markers are those of Guo et al. 2020, section 2.3. As in the released data, line feeds surround the
markers except `_NEWLINE_`:

    \\n_START_ARTICLE_\\nTITLE\\n_START_PARAGRAPH_\\nlead_NEWLINE_lead
    \\n_START_SECTION_\\nHEADING\\n_START_PARAGRAPH_\\npara one_NEWLINE_para two

Counts the characters, words and other parts of articles. Counts can be added up in any order.
"""

import re
from collections.abc import Iterable, Sequence

from ..files.records import CorpusStats
from ..files.text import count_words
from .sections import Section

START_ARTICLE = "_START_ARTICLE_"
START_SECTION = "_START_SECTION_"
START_PARAGRAPH = "_START_PARAGRAPH_"
NEWLINE = "_NEWLINE_"
MARKERS = (START_ARTICLE, START_SECTION, START_PARAGRAPH, NEWLINE)
MARKERS_WITH_LINE_FEEDS = (*(f"\n{marker}\n" for marker in MARKERS[:-1]), NEWLINE)
"""The markers with the line feeds around them, as they are in a text.

Each counts as one character, and is one piece of the subword vocabulary.
"""

_MARKER = re.compile("|".join(MARKERS))


def find_marker(text: str) -> str | None:
    """Returns the first marker in a text, or None if the text contains no marker.

    A page whose wikitext contains a marker cannot be represented in this layout.
    """
    found = _MARKER.search(text)
    return found.group() if found else None


def render_article(title: str, sections: Sequence[Section]) -> str:
    """Returns an article in the Wiki-40B layout.

    Each section must have paragraphs. The lead is the section with the heading "".
    """
    parts = [f"\n{START_ARTICLE}\n{title}"]
    for section in sections:
        if section.heading:
            parts.append(f"\n{START_SECTION}\n{section.heading}")
        parts.append(f"\n{START_PARAGRAPH}\n{NEWLINE.join(section.paragraphs)}")
    return "".join(parts)


def parse_article(text: str) -> tuple[str, tuple[Section, ...]]:
    """Parses an article in the Wiki-40B layout. Returns its title and sections.

    This is the inverse of `render_article`. Raises ValueError if the text is not in the layout.
    """
    head, *blocks = text.split(f"\n{START_PARAGRAPH}\n")
    prefix = f"\n{START_ARTICLE}\n"
    if not head.startswith(prefix):
        raise ValueError(
            f"not an article in Wiki-40B layout: it begins with {text[:40]!r}, expected {prefix!r}"
        )
    title, _, heading = head.removeprefix(prefix).partition(f"\n{START_SECTION}\n")
    sections = []
    for block in blocks:
        body, _, next_heading = block.partition(f"\n{START_SECTION}\n")
        sections.append(Section(heading, tuple(body.split(NEWLINE))))
        heading = next_heading
    return title, tuple(sections)


def plain_article(text: str) -> str:
    """Returns an article without markers. Its title, headings and paragraphs are separated by empty lines.

    Raises ValueError if the text is not in the layout.
    """
    title, sections = parse_article(text)
    headed = ((one.heading, *one.paragraphs) if one.heading else one.paragraphs for one in sections)
    return "\n\n".join((title, *(part for parts in headed for part in parts)))


def count_characters(text: str) -> int:
    """Returns the number of code points in a text. A marker with its line feeds counts as one character.

    This is the definition of Guo et al. 2020, section 2.5.
    """
    return len(text) - sum(
        text.count(marker) * (len(marker) - 1) for marker in MARKERS_WITH_LINE_FEEDS
    )


def measure_article(text: str) -> CorpusStats:
    """Returns the numbers of sections, paragraphs, words and so on of one article in the Wiki-40B layout."""
    sections = text.count(f"\n{START_SECTION}\n")
    bodies = text.count(f"\n{START_PARAGRAPH}\n")
    newlines = text.count(NEWLINE)
    layout = 1 + sections + bodies  # markers that `split` counts as words
    return CorpusStats(
        articles=1,
        sections=sections,
        paragraphs=bodies + newlines,
        words=count_words(text.replace(NEWLINE, " ")) - layout,
        characters=count_characters(text),
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
