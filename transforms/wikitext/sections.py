"""Splits a page into sections at its headings, and removes hatnotes.

In MediaWiki, a heading is a line that starts and ends with one to six `=`. Its level is the smaller of these
two numbers. If a section is dropped, its subsections are dropped too.

A hatnote is a note below a heading that refers to other pages. A hatnote written without a template is the
first line under the heading. It is in italics, with a few words and links:
"''See also: [[Foo]] and [[Bar]]''". The mark that ends the italics may be missing.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from corpusmill.transforms.wikitext.language import normalise_name

# The text gets a newline at its start: a fixed first character makes the search fast.
_HEADING = re.compile(r"\n(=[^\n]*=)[ \t]*(?=\n)")
_MAX_LEVEL = 6
_LINKS = r"\[\[[^\[\]\n]*\]\](?:[^\[\]\n.]{1,8}\[\[[^\[\]\n]*\]\])*+\.?"
_HATNOTE = re.compile(
    rf"\s*+''+(?:[^'\[\n]{{2,40}}{_LINKS}(?:''+\.?)?|[^'\[\n:]{{2,40}}(?::''+|''+:) ?{_LINKS})"
    r"[ \t]*+(?=\n|$)"
)


class Section(NamedTuple):
    """A cleaned section: its heading and its paragraphs."""

    heading: str  # cleaned; "" for the lead
    paragraphs: tuple[str, ...]


class RawSection(NamedTuple):
    """A section of a page's wikitext."""

    heading: str  # wikitext between the marks; "" for the lead
    level: int  # 0 for the lead
    body: str  # wikitext


def name_of_heading(heading: str) -> str:
    """Returns the normalised name of a heading that has no markup.

    The language tables list the headings of dropped sections in this form.
    """
    return normalise_name(heading).rstrip(" :.")


def _parse_heading(line: str) -> tuple[str, int]:
    left = len(line) - len(line.lstrip("="))
    if left == len(line):  # "=====": the "=" in the middle are the text of the heading
        level = min((left - 1) // 2, _MAX_LEVEL)
    else:
        level = min(left, len(line) - len(line.rstrip("=")), _MAX_LEVEL)
    return line[level : len(line) - level].strip(), level


def _raw_section(heading: str, level: int, body: str) -> RawSection:
    hatnote = _HATNOTE.match(body) if level else None  # in the lead, hatnotes are templates
    return RawSection(heading, level, body[hatnote.end() :] if hatnote else body)


def split_sections(wikitext: str) -> Iterator[RawSection]:
    """Yields the lead and every section of a page, in order. Hatnotes are removed.

    The lead is the text before the first heading. A hatnote is a note below a heading that refers to other
    pages.
    """
    return itertools.starmap(_raw_section, split_at_headings(wikitext))


def split_at_headings(wikitext: str) -> Iterator[RawSection]:
    """Yields the lead and every section of a page, in order. Hatnotes are kept.

    The lead is the text before the first heading. A hatnote is a note below a heading that refers to other
    pages.
    """
    text = f"\n{wikitext}\n"
    heading, level, start = "", 0, 1
    for match in _HEADING.finditer(text):
        next_heading, next_level = _parse_heading(match[1])
        if next_level == 0:
            continue
        yield RawSection(heading, level, text[start : match.start() + 1])
        heading, level, start = next_heading, next_level, match.end()
    yield RawSection(heading, level, text[start:-1])


def drop_sections(
    sections: Iterator[RawSection], is_dropped: Callable[[str, int], bool]
) -> Iterator[RawSection]:
    """Yields the sections of a page except the dropped ones.

    `is_dropped` is called with a section's heading and level. If it returns True, the section is dropped
    together with its subsections.
    """
    dropped_level = 0
    for section in sections:
        if dropped_level and section.level > dropped_level:
            continue
        dropped_level = section.level if is_dropped(section.heading, section.level) else 0
        if not dropped_level:
            yield section


def in_batches(
    sections: Iterable[RawSection], max_characters: int
) -> Iterator[Sequence[RawSection]]:
    """Yields the sections in batches with about `max_characters` characters of text.

    A batch has at least one section.
    """
    batch: list[RawSection] = []
    room = max_characters
    for section in sections:
        if batch and len(section.body) > room:
            yield batch
            batch, room = [], max_characters
        batch.append(section)
        room -= len(section.body)
    if batch:
        yield batch
