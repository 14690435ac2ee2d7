"""Finds tables of contents and lists of illustrations in a book.

The end of such a list is not marked. So the list is read from its heading, entry by entry, up to a paragraph
that is not an entry. Such a paragraph is one of these:

1. the beginning of a chapter, before which there are several empty lines, or the heading of the next list;
2. the heading of a chapter, which repeats an entry;
3. prose.

In case 1, the list ends before this paragraph. In cases 2 and 3, the last paragraphs that were read as
entries may already be headings of the text. If most entries have page numbers, the list then ends after the
last entry with one. Otherwise it ends at the longest run of empty lines around these last paragraphs. A list
whose end is not found is kept. The rules are in `furniture.toml`.
"""

import functools
import itertools
import re
import statistics
from collections.abc import Iterator, Sequence

import msgspec

from corpusmill.transforms.books.paragraphs import (
    Paragraph,
    line_end,
    line_start,
    lines_with,
    split_paragraphs,
)
from corpusmill.transforms.books.spans import Span
from corpusmill.transforms.files.toml_tables import read_rules, read_table

MAX_HEADINGS = 50  # maximum headings that are examined: a book of three volumes has six lists

_NOT_IN_KEYS = re.compile(r"[\W_]+")
_PAGE_OF_KEY = re.compile(r"[ .\t_]{2,}[\divxlc]+[._ \t]*$")
_UNIT_OF_KEY = re.compile(
    r"(?i)^\W*(?:chapter|chap|canto|book|part|act|scene|letter|volume|vol|section|story)\b"
)
_BARE_NUMBER = re.compile(r"[ivxlcdm\d ]*")
_COLUMNS = re.compile(r"\S {3,}\S")

_CLEAR_PAGE = re.compile(r"\S(?: {2,}|[ .]{4,})\d+$")
_LOOK_AHEAD = 3  # paragraphs read after the current one
# the text begins with one of the first five entries; later entries may occur twice
_FIRST_ENTRIES = 5
_MAX_LINE = 100  # characters of a line of an entry
_FIRST_LOOK = 20_000  # characters of text examined after a heading; few lists are longer
_CHARACTERS_OF_A_LINE = 120  # upper bound of the average, for the second, longer look


class _Rules(msgspec.Struct):
    heading: re.Pattern[str]
    anchors: tuple[str, ...]
    numbered: re.Pattern[str]
    paged: re.Pattern[str]
    chapter_gap: int
    max_heading_gap: int
    max_lines: int
    max_share: float
    max_entry_lines: int
    max_plain_lines: int
    plain_width: int
    min_entries: int
    back_paragraphs: int


def find_contents(text: str) -> Iterator[Span]:
    """Yields the spans of tables of contents and lists of illustrations, including their headings."""
    rules = _rules()
    at = 0
    for start in itertools.islice(_headings(text, rules), MAX_HEADINGS):
        if start < at:
            continue
        end = _end_of_list(text, start, rules)
        if end and end - start <= rules.max_share * len(text):
            yield start, end
            at = end


def _headings(text: str, rules: _Rules) -> Iterator[int]:
    for start in sorted(lines_with(text, rules.anchors)):
        end = line_end(text, start)
        is_heading = end - start < 120 and rules.heading.fullmatch(text, start, end)
        if is_heading and not _line_above(text, start).strip():
            yield start


def _end_of_list(text: str, start: int, rules: _Rules) -> int:
    """Returns the position after the list whose heading is at `start`.

    Returns 0 if there is no list, or if its end is not found.
    """
    for max_characters in (_FIRST_LOOK, rules.max_lines * _CHARACTERS_OF_A_LINE):
        limit = start + max_characters
        heading, *others = split_paragraphs(text, start, limit)
        if not others or not _is_heading_paragraph(heading, rules):
            return 0
        if others[0].gap > rules.max_heading_gap or re.match(r"[\W_]*by\b", others[0].text, re.I):
            return 0
        count, is_known = _count_entries(others, rules)
        if count + _LOOK_AHEAD < len(others):  # else the last paragraph may be incomplete
            break
    if not is_known:
        if count == len(others) and limit >= len(text):
            is_known = True  # the list is at the end of the book
        else:
            count = _step_back(others, count, rules)
    entries = others[:count]
    if not _is_list(entries, rules):
        return 0
    return others[count].start if count < len(others) else len(text)


def _count_entries(paragraphs: Sequence[Paragraph], rules: _Rules) -> tuple[int, bool]:
    """Counts the entries of a list. Returns (number of entries, True if the list certainly ends after them).

    If the second value is False, the last of these entries may be headings of the text after the list.
    """
    seen: set[str] = set()
    for index, paragraph in enumerate(paragraphs):
        following = paragraphs[index : index + _LOOK_AHEAD]
        is_chapter = index and paragraph.gap >= rules.chapter_gap
        if is_chapter and not any(map(_is_paged_clearly, following)):
            return index, True
        if rules.heading.fullmatch(paragraph.text.partition("\n")[0]):
            return index, True  # the next list begins here
        if not _is_entry(paragraph, rules):
            return index, False
        keys = [_key(line) for line in paragraph.text.split("\n")]
        whole = " ".join(keys[:2]).strip()
        is_repeated = whole in seen and not _BARE_NUMBER.fullmatch(whole)
        if is_repeated and not _is_paged(paragraph, rules):
            return index, False
        if index < _FIRST_ENTRIES:
            seen.update([whole, *keys[:_FIRST_ENTRIES]])
    return len(paragraphs), False


def _step_back(paragraphs: Sequence[Paragraph], count: int, rules: _Rules) -> int:
    """Excludes headings of the text that were read as the last entries of a list.

    Returns the number of entries that are left, or 0 if it is unclear where the list ends. `count` is the
    number of paragraphs that were read as entries.
    """
    if not 0 < count < len(paragraphs):
        return 0
    paged = [index for index in range(count) if _is_paged(paragraphs[index], rules)]
    if len(paged) > count // 2:  # entries have page numbers
        return paged[-1] + 1
    is_block = paragraphs[0].text.count("\n") + 1 >= rules.min_entries
    gaps = [0] if is_block else [entry.gap for entry in paragraphs[1:count]] or [1]
    usual = statistics.median_low(gaps)
    first = max(count - rules.back_paragraphs, 1)
    widest = max(range(first, count + 1), key=lambda index: (paragraphs[index].gap, -index))
    return widest if paragraphs[widest].gap > usual else 0


def _is_entry(paragraph: Paragraph, rules: _Rules) -> bool:
    lines = paragraph.text.split("\n")
    if _is_paged(paragraph, rules):
        return True
    if len(lines) <= rules.max_plain_lines and max(map(len, lines)) < _MAX_LINE:
        return True
    if rules.numbered.match(lines[0]) and len(lines) <= rules.max_entry_lines:
        return True
    numbered = sum(1 for line in lines if rules.numbered.match(line))
    columns = sum(1 for line in lines if _COLUMNS.search(line.lstrip()))
    width = statistics.median(map(len, lines))
    return width <= rules.plain_width or max(numbered, columns) > len(lines) // 2


def _is_paged(paragraph: Paragraph, rules: _Rules) -> bool:
    """Returns True if a line of an entry ends with a page number."""
    lines = paragraph.text.split("\n")
    return max(map(len, lines)) < _MAX_LINE and any(rules.paged.search(line) for line in lines)


def _is_paged_clearly(paragraph: Paragraph) -> bool:
    """Returns True if a line of an entry ends with a number that spaces or dots separate from its title."""
    lines = paragraph.text.split("\n")
    return any(len(line) < _MAX_LINE and _CLEAR_PAGE.search(line) for line in lines)


def _is_list(entries: Sequence[Paragraph], rules: _Rules) -> bool:
    lines = [line for entry in entries for line in entry.text.split("\n")]
    if len(lines) > rules.max_lines:
        return False
    return len(lines) >= rules.min_entries or any(_is_paged(entry, rules) for entry in entries)


def _is_heading_paragraph(heading: Paragraph, rules: _Rules) -> bool:
    """Returns True if the first paragraph of a list is a heading, alone or with a few short lines."""
    lines = heading.text.split("\n")
    if len(lines) == 1:
        return True
    return not re.match(r"[\W_]*(?:by|in this|of the)\b", lines[1], re.I) and _is_entry(
        heading, rules
    )


def _key(line: str) -> str:
    """Returns an entry in a form that can be compared with the headings in the text.

    The page number, and a word such as "Chapter" or "Part", are removed.
    """
    bare = _UNIT_OF_KEY.sub("", _PAGE_OF_KEY.sub("", line.strip()[:_MAX_LINE]))
    return _NOT_IN_KEYS.sub(" ", bare).strip().casefold()


def _line_above(text: str, start: int) -> str:
    return text[line_start(text, start - 1) : start]


@functools.cache
def _rules() -> _Rules:
    return read_rules(read_table(__package__, "furniture.toml")["contents"], _Rules)
