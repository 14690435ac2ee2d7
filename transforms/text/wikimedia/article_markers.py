"""The layout of a Wiki-40B article: title, sections and paragraphs between four markers.

Guo et al. 2020, section 2.3; white space as in the released data (`_NEWLINE_` is inline):

    \\n_START_ARTICLE_\\nTITLE\\n_START_PARAGRAPH_\\nlead_NEWLINE_lead
    \\n_START_SECTION_\\nHEADING\\n_START_PARAGRAPH_\\npara one_NEWLINE_para two
"""

import re
from collections.abc import Sequence

from transforms.text.wikimedia.wikitext.sections import Section

START_ARTICLE = "_START_ARTICLE_"
START_SECTION = "_START_SECTION_"
START_PARAGRAPH = "_START_PARAGRAPH_"
NEWLINE = "_NEWLINE_"
MARKERS = (START_ARTICLE, START_SECTION, START_PARAGRAPH, NEWLINE)
MARKERS_WITH_LINE_FEEDS = (*(f"\n{marker}\n" for marker in MARKERS[:-1]), NEWLINE)
"""As they are in a text: each is one piece and one character."""

_MARKER = re.compile("|".join(MARKERS))


def find_marker(text: str) -> str | None:
    """The first marker that the text holds, or None. A source that holds one cannot be laid out."""
    found = _MARKER.search(text)
    return found.group() if found else None


def render_article(title: str, sections: Sequence[Section]) -> str:
    """Lays an article out. Sections have paragraphs; the lead has the heading ""."""
    parts = [f"\n{START_ARTICLE}\n{title}"]
    for section in sections:
        if section.heading:
            parts.append(f"\n{START_SECTION}\n{section.heading}")
        parts.append(f"\n{START_PARAGRAPH}\n{NEWLINE.join(section.paragraphs)}")
    return "".join(parts)


def parse_article(text: str) -> tuple[str, tuple[Section, ...]]:
    """The title and the sections of a laid-out article: the inverse of `render_article`.

    Raises ValueError where the text is not in the layout.
    """
    head, *blocks = text.split(f"\n{START_PARAGRAPH}\n")
    prefix = f"\n{START_ARTICLE}\n"
    if not head.startswith(prefix):
        raise ValueError(f"an article begins with {prefix!r}, this text with {text[:40]!r}")
    title, _, heading = head.removeprefix(prefix).partition(f"\n{START_SECTION}\n")
    sections = []
    for block in blocks:
        body, _, next_heading = block.partition(f"\n{START_SECTION}\n")
        sections.append(Section(heading, tuple(body.split(NEWLINE))))
        heading = next_heading
    return title, tuple(sections)


def plain_article(text: str) -> str:
    """The article without markers: title, headings and paragraphs, a blank line between them.

    Raises ValueError where the text is not in the layout.
    """
    title, sections = parse_article(text)
    headed = ((one.heading, *one.paragraphs) if one.heading else one.paragraphs for one in sections)
    return "\n\n".join((title, *(part for parts in headed for part in parts)))


def count_characters(text: str) -> int:
    """Unicode code points, each marker with its line feeds counted as one (section 2.5)."""
    return len(text) - sum(
        text.count(marker) * (len(marker) - 1) for marker in MARKERS_WITH_LINE_FEEDS
    )
