"""Splits a page into sections at its headings, and removes hatnotes.

In MediaWiki, a heading is a line that starts and ends with one to six `=`. Its level is the smaller of these
two numbers. If a section is dropped, its subsections are dropped too, except those of prose.

A hatnote is a note below a heading that refers to other pages. A hatnote written without a template is the
first line under the heading. It is in italics, with a few words and links:
"''See also: [[Foo]] and [[Bar]]''". The mark that ends the italics may be missing.

Learns which headings of a wiki have sections without prose, such as references, links and galleries.

In every wiki, articles end with such sections, but the headings differ. The sections can be detected without
knowing the language. "References" has notes and templates. "See also" has list items that are only a link.
"External links" has URLs. "Literature" has ISBN numbers. No prose follows these sections on the page.
Sections with lists of facts (births and deaths, films, awards) have no prose either, but are not detected.

The thresholds were chosen by comparison with the tables written by hand for Greek, English, Japanese,
Ukrainian and Vietnamese, and tested on other wikis.
"""

import collections
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from .language import normalise_name
from .marks import BREAK, LINK, NOTE, SOURCE, TEMPLATE, WIDE, drop_noncharacters, restore
from .tags import decode_entities, strip_extensions, strip_tables, strip_tags

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


def split_sections(wikitext: str) -> Iterator[RawSection]:
    """Yields the lead and every section of a page, in order. Hatnotes are removed.

    The lead is the text before the first heading. A hatnote is a note below a heading that refers to other
    pages.
    """
    for heading, level, body in split_at_headings(wikitext):
        hatnote = _HATNOTE.match(body) if level else None  # in the lead, hatnotes are templates
        yield RawSection(heading, level, body[hatnote.end() :] if hatnote else body)


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
    together with its subsections, except those that have only prose, and their own subsections.
    """
    dropped_level = kept_level = 0  # of the sections around the current one; 0 for none
    for section in sections:
        is_below = 0 < dropped_level < section.level
        is_in_kept = 0 < kept_level < section.level
        if is_below and not is_in_kept and not _has_only_prose(section.body):
            kept_level = 0
        elif is_dropped(section.heading, section.level):
            dropped_level = dropped_level if is_below else section.level
            kept_level = 0
        else:
            kept_level = kept_level if is_in_kept else section.level if is_below else 0
            dropped_level = dropped_level if is_below else 0
            yield section


def _has_only_prose(body: str) -> bool:
    """Returns True if a section has prose, no sources, and fewer list items than paragraphs."""
    marked = _mark(body)
    counts = _count_lines(marked)
    if SOURCE in marked or _AUTHOR_FIRST.search(marked):
        return False
    return counts["prose"] > counts["link"] + counts["item"]


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


MAX_NAME = 60  # characters; no longer heading is common
TOP_LEVEL = 2

# Only pages with some prose are counted. Pages about years and days are not counted, because they are lists
# of events under the same headings everywhere. Their titles have digits in all languages.
_MIN_PAGE_LETTERS = 500
_DIGIT = re.compile(r"\d")

_MIN_PROSE = 60  # letters of a paragraph beside its links; East Asian ones count twice
_MAX_BESIDE_LINK = 12  # letters beside the links of a list item that counts as links only

_NOTES = re.compile(r"<(?=(?:references|gallery)\b)", re.IGNORECASE)
_TEMPLATE = re.compile(r"\{\{[^{}]*+\}\}")
# {{Reflist|2|colwidth=30em}}; not {{Main|Another page}}, and no box or table.
_MAX_NOTE = 40  # characters
_NOTE = re.compile(r"\{\{[^{}|]*+(?:\|(?:[^{}|=]*+=[^{}|]*+|(?:\d|[^\w{}|])*+))*+\}\}")
_LINK = re.compile(r"\[\[[^\[\]]*+\]\]")
# Categories, and files beside the text: links with a prefix that are alone on their lines.
_PREFIXED = re.compile(r"\n[ \t]*+(?:\[\[[^\[\]|:*#\n]++:[^\[\]\n]*+\]\][ \t]*+)++(?=\n)")
# Fixed first characters make the searches fast.
_EXTERNAL = re.compile(r"\[(?i:https?:|ftp:)?//[^\[\]\n]*+\]")
_BARE = re.compile(r"://[^\s\[\]]++|ISBN\b")
_CITED = re.compile(r"https?://|\bisbn|\bissn|\bdoi\b", re.IGNORECASE)
_NO_LETTER = re.compile(r"[\W\d_]+")
_QUOTES = re.compile("''+")
_AUTHOR_FIRST = re.compile(
    r"^\w+, (?:\w\. ?|\w+,? ){1,4}\(\d{4}", re.MULTILINE
)  # "Smith, John (1990)"
_LIST_SIGNS = ("*", "#", ":", ";", "|", "!")
_MAX_NESTING = 12

# In the order of the fields of HeadingCounts.
Kind = Literal["prose", "notes", "sources", "links", "lists", "templates"]


class Thresholds(NamedTuple):
    """The conditions that a heading must meet to be learned as a heading without prose."""

    min_sections: int = 5  # sections that are not empty
    min_share_of_pages: float = 1 / 2_000  # a convention of the wiki, not of one subject
    min_without_prose: float = 0.9  # of the sections
    min_closing: float = 0.9  # of the sections: no prose follows on the page
    min_referring: float = 0.3  # of the sections without prose: notes, sources, or links


THRESHOLDS = Thresholds()


class HeadingKey(NamedTuple):
    """The key under which sections are counted: their heading, and whether its level is 1 or 2."""

    name: str  # result of name_of_heading; "" for whole pages
    is_top: bool


class HeadingCounts(NamedTuple):
    """Counts of the non-empty sections under one heading, by kind. A section includes its subsections."""

    sections: int
    closing: int  # no prose follows on the page
    prose: int
    notes: int
    sources: int
    links: int
    lists: int
    templates: int
    page: str  # title of the first page by code point

    @property
    def without_prose(self) -> float:
        """Returns the share of sections that have no prose."""
        return 1 - self.prose / self.sections


class LearnedHeading(NamedTuple):
    """A heading whose sections were found to have no prose, with its counts."""

    name: str
    is_top_only: bool  # below level 2 it may be a heading like any other
    counts: HeadingCounts


def count_headings(title: str, wikitext: str) -> Iterator[tuple[HeadingKey, HeadingCounts]]:
    """Yields (heading, counts) for each section of a page, and one pair for the page, with the heading "".

    The lead, empty sections, and sections whose heading is too long or has links, notes or templates are left
    out. Yields nothing for a page with little prose, or with a digit in its title, such as a page about a
    year or a day.
    """
    if _DIGIT.search(title):
        return
    sections = list(split_sections(_mark(wikitext)))
    lines = [_count_lines(section.body) for section in sections]
    if sum(counts["letters"] for counts in lines) < _MIN_PAGE_LETTERS:
        return
    last_prose = max(i for i, counts in enumerate(lines) if counts["prose"])
    yield HeadingKey("", is_top=True), _counts_of("prose", title, is_closing=False)
    for i, section in enumerate(sections):
        below = itertools.takewhile(
            lambda j, level=section.level: sections[j].level > level,  # type: ignore[misc]
            range(i + 1, len(sections)),
        )
        whole = [i, *below]
        kind = _kind_of(sum((lines[j] for j in whole), collections.Counter()))
        name = _name_of(section.heading)
        if section.level and kind and name:
            key = HeadingKey(name, section.level <= TOP_LEVEL)
            yield key, _counts_of(kind, title, is_closing=last_prose <= whole[-1])


def add_counts(counts: Iterable[HeadingCounts]) -> HeadingCounts:
    """Adds up counts.

    The field `page` of the result is an example: the title that is first in the order of code points.
    """
    *numbers, titles = zip(*counts, strict=True)
    return HeadingCounts._make([*map(sum, numbers), min(titles)])


def learn_headings(counts: Iterable[tuple[HeadingKey, HeadingCounts]]) -> list[LearnedHeading]:
    """Returns the headings whose sections have no prose, the most frequent first.

    `counts` are the sums for the whole wiki. The conditions that a heading must meet are THRESHOLDS.
    """
    table = dict(counts)
    leads = table.pop(HeadingKey("", is_top=True), None)
    of_pages = leads.sections * THRESHOLDS.min_share_of_pages if leads else 0
    least = max(THRESHOLDS.min_sections, math.ceil(of_pages))
    learned = []
    for name in {key.name for key in table}:
        at_top, below = (table.get(HeadingKey(name, is_top)) for is_top in (True, False))
        everywhere = add_counts(filter(None, (at_top, below)))
        if _holds_no_prose(everywhere, least):
            learned.append(LearnedHeading(name, False, everywhere))
        elif at_top and _holds_no_prose(at_top, least):
            learned.append(LearnedHeading(name, True, at_top))
    return sorted(learned, key=lambda heading: (-heading.counts.sections, heading.name))


def _holds_no_prose(counts: HeadingCounts, min_sections: int) -> bool:
    referring = counts.notes + counts.sources + counts.links
    return (
        counts.sections >= min_sections
        and counts.without_prose >= THRESHOLDS.min_without_prose
        and counts.closing >= THRESHOLDS.min_closing * counts.sections
        and referring >= THRESHOLDS.min_referring * (counts.sections - counts.prose)
    )


def _counts_of(kind: Kind, title: str, *, is_closing: bool) -> HeadingCounts:
    of_kind = (int(kind == one) for one in get_args(Kind))
    return HeadingCounts._make([1, int(is_closing), *of_kind, title])


def _name_of(heading: str) -> str:
    """Returns the normalised name of a heading, or "" if it is too long or has links or templates."""
    if LINK in heading or TEMPLATE in heading or NOTE in heading or SOURCE in heading:
        return ""
    name = name_of_heading(_QUOTES.sub("", decode_entities(restore(heading))))
    return name if len(name) <= MAX_NAME else ""


def _mark(wikitext: str) -> str:
    """Replaces the links, URLs, citations, notes and templates of a page by one mark each."""
    text = _NOTES.sub(f"{NOTE}<", drop_noncharacters(wikitext))
    text = _replace_nested(_TEMPLATE, _mark_template, strip_tables(strip_extensions(text)))
    text = _BARE.sub(SOURCE, _EXTERNAL.sub(SOURCE, text))
    text = _PREFIXED.sub("", f"\n{text}\n")
    text = _replace_nested(_LINK, LINK, text)
    return strip_tags(text).replace(BREAK, "\n")


def _mark_template(call: re.Match[str]) -> str:
    if SOURCE in call[0] or _CITED.search(call[0]):
        return SOURCE
    return NOTE if len(call[0]) <= _MAX_NOTE and _NOTE.fullmatch(call[0]) else TEMPLATE


def _replace_nested(
    pattern: re.Pattern[str], mark: str | Callable[[re.Match[str]], str], text: str
) -> str:
    for _ in range(_MAX_NESTING):
        text, replaced = pattern.subn(mark, text)
        if not replaced:
            break
    return text


def _count_lines(body: str) -> collections.Counter[str]:
    """Counts the lines of a section by kind.

    Returns kind → number of lines. Lines with text are "prose", "source", "link" or "item". A line without
    text is counted by the marks in it (see `_mark`). The key "letters" has the number of letters in lines of
    prose.
    """
    counts: collections.Counter[str] = collections.Counter()
    for line in filter(None, map(str.strip, body.split("\n"))):
        if line.startswith(_LIST_SIGNS):
            counts[_kind_of_item(line)] += 1
            continue
        letters = _count_letters(line)
        if letters >= _MIN_PROSE:
            counts["letters"] += letters
            counts["prose"] += 1
        elif letters:
            counts[_kind_of_item(line)] += 1
        else:
            counts.update({SOURCE, NOTE, LINK, TEMPLATE} & set(line))
    return counts


def _kind_of_item(line: str) -> str:
    if SOURCE in line:
        return "source"
    return "link" if LINK in line and _count_letters(line) <= _MAX_BESIDE_LINK else "item"


def _count_letters(line: str) -> int:
    """Returns the number of letters in the first 2 * _MIN_PAGE_LETTERS characters of a line.

    East Asian characters count twice.
    """
    letters = _NO_LETTER.sub("", line[: 2 * _MIN_PAGE_LETTERS])
    return len(letters) if letters.isascii() else len(letters) + len(WIDE.findall(letters))


def _kind_of(lines: collections.Counter[str]) -> Kind | None:
    """Returns the kind of a section, given the counts of its lines, or None if the section is empty."""
    items = lines["source"] + lines["link"] + lines["item"]
    if lines["prose"]:
        return "prose"
    if items:
        if lines["source"] * 3 >= items:
            return "sources"
        return "links" if lines["link"] >= lines["item"] else "lists"
    if lines[SOURCE] or lines[NOTE]:
        return "notes"
    if lines[LINK]:
        return "links"
    return "templates" if lines[TEMPLATE] else None
