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

Finds illustrations and page marks in a book: `[Illustration: …]`, `[Pg 12]`.

The rules are in `furniture.toml`.

Removes tables of contents, lists of illustrations, illustrations and page marks (furniture) from a book.

SimpleBooks consists of running text: "We removed meta-data, tables of contents, illustrations" (section 2 of
its paper). The paper does not name footnotes, indexes, advertisements and the marks of _italics_ and =bold=;
they are kept.

Joins words that are broken at line ends, if the same book also has the whole word.

"politi-\\ncal" becomes "political" if "political" occurs elsewhere in the book, and "politi-cal" does not. At
a line end, the halves may be words themselves ("how-\\never"): 120 such places in a real file were read, and
all were broken words. Within a line ("politi- cal", "politi - cal"), the first half must not occur alone,
because a hyphen with a space is mostly a dash ("he came in - to see us").
"""

import functools
import itertools
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from ..files.markup import read_rules, read_toml
from ..files.records import Reason
from . import spans
from .boilerplate import check_kept

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


class _ContentsRules(msgspec.Struct):
    heading: re.Pattern[str]
    anchors: tuple[str, ...]
    numbered: re.Pattern[str]
    paged: re.Pattern[str]
    chapter_gap: int
    max_heading_gap: int
    front: re.Pattern[str]
    max_lines: int
    max_share: float
    max_entry_lines: int
    max_plain_lines: int
    plain_width: int
    min_entries: int
    back_paragraphs: int
    dash: re.Pattern[str]
    min_dashes_per_line: float
    max_summary_lines: int
    speech: re.Pattern[str]


def find_contents(text: str) -> Iterator[spans.Span]:
    """Yields the spans of tables of contents and lists of illustrations, including their headings."""
    rules = _contents_rules()
    at = 0
    for start in itertools.islice(_headings(text, rules), MAX_HEADINGS):
        if start < at:
            continue
        end = _end_of_list(text, start, rules)
        if end and end - start <= rules.max_share * len(text):
            yield start, end
            at = end


def _headings(text: str, rules: _ContentsRules) -> Iterator[int]:
    for start in sorted(spans.lines_with(text, rules.anchors)):
        end = spans.line_end(text, start)
        is_heading = end - start < 120 and rules.heading.fullmatch(text, start, end)
        if is_heading and not text[spans.line_start(text, start - 1) : start].strip():
            yield start


def _end_of_list(text: str, start: int, rules: _ContentsRules) -> int:
    """Returns the position after the list whose heading is at `start`.

    Returns 0 if there is no list, or if its end is not found.
    """
    for max_characters in (_FIRST_LOOK, rules.max_lines * _CHARACTERS_OF_A_LINE):
        limit = start + max_characters
        heading, *others = spans.split_paragraphs(text, start, limit)
        if not others or not _is_heading_paragraph(heading, rules):
            return 0
        is_contents = "contents" in heading.text.lower()  # not a title, such as "Pictures"
        # All entries may be in the paragraph of the heading.
        is_block = heading.text.count("\n") >= rules.min_entries
        is_chapter = others[0].gap >= rules.chapter_gap
        if is_block and is_chapter and not any(map(_is_paged_clearly, others[:_LOOK_AHEAD])):
            return others[0].start
        has_author = re.match(r"[\W_]*by\b", others[0].text, re.I)
        if others[0].gap > rules.max_heading_gap or (has_author and not is_contents):
            return 0
        count, is_known, is_repeated = _count_entries(others, rules)
        if count + _LOOK_AHEAD < len(others):  # else the last paragraph may be incomplete
            break
    is_at_end = count == len(others) and limit >= len(text)  # of the book
    if not is_known and not is_at_end:
        count = _step_back(others, count, is_repeated, rules)
    lines = sum(entry.text.count("\n") + 1 for entry in others[:count])
    is_list = lines >= rules.min_entries or any(_is_paged(one, rules) for one in others[:count])
    if lines > rules.max_lines or not is_list:
        return 0
    return others[count].start if count < len(others) else len(text)


def _count_entries(
    paragraphs: Sequence[spans.Paragraph], rules: _ContentsRules
) -> tuple[int, bool, bool]:
    """Counts the entries of a list.

    Returns (number of entries, True if the list certainly ends after them, True if one of them is repeated
    there and the list has summaries of chapters). If the second value is False, the last of these entries may
    be headings of the text after the list.
    """
    seen: set[str] = set()
    summaries = 0
    for index, paragraph in enumerate(paragraphs):
        following = paragraphs[index : index + _LOOK_AHEAD]
        is_chapter = index and paragraph.gap >= rules.chapter_gap
        if is_chapter and not any(map(_is_paged_clearly, following)):
            above = paragraphs[index - 1]
            is_front = index > 1 and above.gap > 1 and rules.front.fullmatch(above.text)
            return index - bool(is_front), True, False
        if rules.heading.fullmatch(paragraph.text.partition("\n")[0]):
            return index, True, False  # the next list begins here
        if not _is_entry(paragraph, rules):
            if not (index and _is_summary(paragraphs[index - 1], paragraph, rules)):
                return index, False, False
            summaries += 1
        keys = [_key(line) for line in paragraph.text.split("\n")]
        whole = " ".join(keys[:2]).strip()
        is_repeated = whole in seen and not _BARE_NUMBER.fullmatch(whole)
        # An entry may occur twice. The text follows, if it begins with the first entry after empty lines.
        is_last = (
            index
            and index + 1 < len(paragraphs)
            and paragraphs[index + 1].gap >= rules.chapter_gap
            and _key(paragraphs[index + 1].text) == _key(paragraphs[0].text)
        )
        if is_repeated and not is_last and not _is_paged(paragraph, rules):
            return index, False, summaries > 1
        if index < _FIRST_ENTRIES:
            seen.update([whole, *keys[:_FIRST_ENTRIES]])
    return len(paragraphs), False, False


def _step_back(
    paragraphs: Sequence[spans.Paragraph], count: int, is_repeated: bool, rules: _ContentsRules
) -> int:
    """Excludes headings of the text that were read as the last entries of a list.

    Returns the number of entries that are left, or 0 if it is unclear where the list ends. `count` is the
    number of paragraphs that were read as entries; `is_repeated`: see `_count_entries`.
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
    order = 1 if is_repeated else -1  # of gaps of the same length
    widest = max(range(first, count + 1), key=lambda at: (paragraphs[at].gap, order * at))
    return widest if is_repeated or paragraphs[widest].gap > usual else 0


def _is_entry(paragraph: spans.Paragraph, rules: _ContentsRules) -> bool:
    lines = paragraph.text.split("\n")
    if _is_paged(paragraph, rules):
        return True
    if paragraph.text.isupper() and len(lines) <= rules.max_entry_lines:
        return True
    if len(lines) <= rules.max_plain_lines and max(map(len, lines)) < _MAX_LINE:
        return True
    if rules.numbered.match(lines[0]) and len(lines) <= rules.max_entry_lines:
        return True
    numbered = sum(1 for line in lines if rules.numbered.match(line))
    columns = sum(1 for line in lines if _COLUMNS.search(line.lstrip()))
    width = statistics.median(map(len, lines))
    return width <= rules.plain_width or max(numbered, columns) > len(lines) // 2


def _is_summary(
    heading: spans.Paragraph, paragraph: spans.Paragraph, rules: _ContentsRules
) -> bool:
    """Returns True if a paragraph below a heading lists the subjects of the chapter, with dashes between."""
    lines = paragraph.text.count("\n") + 1
    dashes = sum(1 for _ in rules.dash.finditer(paragraph.text))
    return (
        dashes >= max(2, lines * rules.min_dashes_per_line)
        and lines <= rules.max_summary_lines
        and heading.text.count("\n") < rules.max_plain_lines
        and not rules.speech.search(paragraph.text)
    )


def _is_paged(paragraph: spans.Paragraph, rules: _ContentsRules) -> bool:
    """Returns True if a line of an entry ends with a page number."""
    lines = paragraph.text.split("\n")
    return max(map(len, lines)) < _MAX_LINE and any(rules.paged.search(line) for line in lines)


def _is_paged_clearly(paragraph: spans.Paragraph) -> bool:
    """Returns True if a line of an entry ends with a number that spaces or dots separate from its title."""
    lines = paragraph.text.split("\n")
    return any(len(line) < _MAX_LINE and _CLEAR_PAGE.search(line) for line in lines)


def _is_heading_paragraph(heading: spans.Paragraph, rules: _ContentsRules) -> bool:
    """Returns True if the first paragraph of a list is a heading, alone or with a few short lines."""
    lines = heading.text.split("\n")
    return len(lines) == 1 or (
        not re.match(r"[\W_]*(?:by|in this|of the)\b", lines[1], re.I) and _is_entry(heading, rules)
    )


def _key(line: str) -> str:
    """Returns an entry in a form that can be compared with the headings in the text.

    The page number, and a word such as "Chapter" or "Part", are removed.
    """
    bare = _UNIT_OF_KEY.sub("", _PAGE_OF_KEY.sub("", line.strip()[:_MAX_LINE]))
    return _NOT_IN_KEYS.sub(" ", bare).strip().casefold()


@functools.cache
def _contents_rules() -> _ContentsRules:
    return read_rules(read_toml(__package__, "furniture.toml")["contents"], _ContentsRules)


_NEAR = 300  # characters before and after illustrations: empty lines, and a line of text


class _Rules(msgspec.Struct):
    opening: re.Pattern[str]
    file_name: re.Pattern[str]
    max_characters: int
    unclosed: re.Pattern[str]
    max_unclosed_characters: int
    page_shown: re.Pattern[str]
    bare: re.Pattern[str]
    unfinished: re.Pattern[str]
    page_mark: re.Pattern[str]


def find_illustrations(text: str) -> Iterator[spans.Span]:
    """Yields the spans of illustrations with their captions, which may contain brackets and empty lines.

    An illustration longer than `max_characters` is left out, since its end is unclear. An illustration
    without closing bracket ends at the first empty line. It is left out if this line is not within
    `max_unclosed_characters`. Both limits are in furniture.toml. If an illustration divides a paragraph in
    two, a span with the empty lines between the halves is yielded, too. Spans may overlap.
    """
    rules = _rules()
    places = _find_places(text, rules)
    for start, end in places:
        yield spans.with_blank_lines(text, start, end)
    for start, end in _join_neighbours(text, places):
        if seam := _seam(text, start, end, rules):
            yield seam


def _find_places(text: str, rules: _Rules) -> list[spans.Span]:
    """Returns the sorted spans of illustrations, without overlaps and without the empty lines around them."""
    has_names = rules.opening.search(text) or rules.bare.search(text)
    if not has_names and ".jpg" not in text and ".png" not in text:
        return []
    closed = spans.match_brackets(text)
    found = [*_closed(text, closed, rules), *_unclosed(text, closed, rules)]
    # Illustrations without an opening bracket: their closing bracket belongs to no other.
    closings = set(closed.values())
    found += (one.span() for one in rules.bare.finditer(text) if one.end() not in closings)
    places: list[spans.Span] = []
    for start, end in sorted(found):
        if not places or start >= places[-1][1]:
            places.append((start, _with_appendages(text, start, end, rules)))
    return places


def _closed(text: str, closed: Mapping[int, int], rules: _Rules) -> Iterator[spans.Span]:
    for start, end in closed.items():
        if end - start > rules.max_characters:
            continue
        is_named = rules.opening.match(text, start)
        if is_named or (text[start] == "{" and rules.file_name.search(text, end - 20, end)):
            yield start, end


def _unclosed(text: str, closed: Mapping[int, int], rules: _Rules) -> Iterator[spans.Span]:
    for found in rules.unclosed.finditer(text):
        start = found.start()
        if start in closed:
            continue
        limit = start + rules.max_unclosed_characters
        end = text.find("\n\n", start, limit)
        if end >= 0 or limit >= len(text):
            yield start, end if end >= 0 else len(text)


def _with_appendages(text: str, start: int, end: int, rules: _Rules) -> int:
    """Returns the end of an illustration, including a full stop or a "[See page 12]" after it."""
    is_first = not text[max(start - 1, 0) : start].strip("\n")
    if is_first and text[end : end + 1] == "." and not text[end + 1 : end + 2].strip("\n"):
        end += 1
    page_shown = rules.page_shown.match(text, end)
    return page_shown.end() if page_shown else end


def _join_neighbours(text: str, places: Sequence[spans.Span]) -> list[spans.Span]:
    """Joins the spans of illustrations that only white space separates."""
    joined: list[spans.Span] = []
    for start, end in places:
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def _seam(text: str, start: int, end: int, rules: _Rules) -> spans.Span | None:
    """Returns the span to remove if an illustration divides a paragraph in two, otherwise None.

    The span is that of the illustration, from `start` to `end`, with the empty lines around it.
    """
    before = text[max(start - _NEAR, 0) : start]
    after = text[end : end + _NEAR]
    first_half, second_half = before.rstrip(), after.lstrip()
    blanks_before = before[len(first_half) :]
    blanks_after = after[: len(after) - len(second_half)]
    if "\n" not in blanks_before or "\n" not in blanks_after:
        return None
    if not (rules.unfinished.search(first_half) and second_half[:1].islower()):
        return None
    last_line = first_half[first_half.rfind("\n") + 1 :]
    indent = len(last_line) - len(last_line.lstrip())
    if indent != len(blanks_after) - blanks_after.rindex("\n") - 1:
        return None
    return start - len(blanks_before.partition("\n")[2]), end + len(blanks_after) - indent


def find_page_marks(text: str) -> Iterator[spans.Span]:
    """Yields the spans of page marks, which show where a page of the printed book begins."""
    for found in _rules().page_mark.finditer(text):
        yield spans.with_blank_lines(text, *found.span())


@functools.cache
def _rules() -> _Rules:
    return read_rules(read_toml(__package__, "furniture.toml")["illustrations"], _Rules)


# maximum share of furniture in a book; a book with more has too little running text
MAX_SHARE = 0.5
FREE_CHARACTERS = (
    3000  # of furniture, always allowed: a picture book may have more furniture than text
)


class CutText(NamedTuple):
    """A book without furniture, and the numbers of characters removed, by kind of furniture."""

    text: str
    contents: int  # characters of tables of contents and lists of illustrations
    illustrations: int  # characters of illustrations and their captions
    page_marks: int


def cut_furniture(text: str) -> CutText:
    """Removes the furniture from a book. Headings of chapters are kept.

    Illustrations are removed first, because captions may have any form, and a table of contents may contain
    illustrations.
    """
    unillustrated = spans.cut_out(text, find_illustrations(text))
    unpaged = spans.cut_out(unillustrated, find_page_marks(unillustrated))
    cut = spans.cut_out(unpaged, find_contents(unpaged))
    return CutText(
        cut.strip("\n") + "\n" if cut.strip() else "",
        contents=len(unpaged) - len(cut),
        illustrations=len(text) - len(unillustrated),
        page_marks=len(unillustrated) - len(unpaged),
    )


def check_furniture(text: str, cut: CutText) -> Reason | None:
    """Returns None if enough of a book is left, otherwise `too-much-furniture` or `kept-too-little`.

    `text` is the book with its furniture, `cut` is the result of `cut_furniture`.
    """
    removed = cut.contents + cut.illustrations + cut.page_marks
    if removed > max(len(text) * MAX_SHARE, FREE_CHARACTERS):
        return Reason("too-much-furniture", f"{removed:,} of {len(text):,} characters")
    return check_kept(cut.text)


_HALF_CHARACTERS = 40  # characters before a hyphen that are examined
_FEW_BREAKS = 50  # so many are searched for one by one, which is faster than to collect all words
_WORDS_CHARACTERS = 1 << 20  # the words of a book are collected in parts, to save memory
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_BREAK = r"(?=\s)[ \t]*+(\n?)[ \t]*+([^\W\d_]++)"
_HYPHEN_BREAK = re.compile("-" + _BREAK)
# Soft hyphens, typographic ones, and the sign that some text recognition writes for them.
_OTHER_HYPHENS = "\u2010\xad¬"
_ANY_BREAK = re.compile(f"[-{_OTHER_HYPHENS}]{_BREAK}")  # ten times slower
_FIRST_HALF = re.compile(r"(?<![^\W\d_])([^\W\d_]++)( ?)\Z")
_OLD_SPELLINGS = ("to-day", "to-morrow", "to-night")  # joined only if the whole word occurs twice
_END_OF_WORD = re.compile(r"(\S*)[ \t]*\n?")


class _Break(NamedTuple):
    """A place where a word may be broken in two."""

    start: int  # of the first half
    end: int  # of the second half
    halves: tuple[str, str]
    is_line_end: (
        bool  # False also for a hyphen that may be a dash: after a space, or between capitals
    )


class JoinedWords(NamedTuple):
    """A text with joined words, and the number of words that were joined or left."""

    text: str
    joined: int
    left: int  # words at line ends, if the book has neither the whole word nor the compound


def join_broken_words(text: str) -> JoinedWords:
    """Joins the halves of broken words, if the text has the whole word elsewhere. Lines stay lines."""
    breaks = list(_find_breaks(text))
    if not breaks:
        return JoinedWords(text, 0, 0)
    words = _words_outside(text, breaks)
    times = functools.cache(lambda word: len(re.findall(rf"(?i)\b{word}\b", text)))
    pieces, at, joined, left = [], 0, 0, 0
    for place in breaks:
        first, second = (half.lower() for half in place.halves)
        if place.start < at or f"{first}-{second}" in words:
            continue
        is_known = first + second in words
        if is_known and f"{first}-{second}" in _OLD_SPELLINGS:
            is_known = times(first + second) > 1
        if is_known and (place.is_line_end or first not in words):
            pieces += [text[at : place.start], "".join(place.halves)]
            at = place.end
            if "\n" in text[place.start : place.end]:
                rest = _END_OF_WORD.match(text, at)
                assert rest
                pieces += [rest[1], "\n"]
                at = rest.end()
            joined += 1
        else:
            left += place.is_line_end
    return JoinedWords("".join([*pieces, text[at:]]), joined, left)


def _find_breaks(text: str) -> Iterator[_Break]:
    at = 0
    has_others = any(hyphen in text for hyphen in _OTHER_HYPHENS)
    for found in (_ANY_BREAK if has_others else _HYPHEN_BREAK).finditer(text):
        before = _FIRST_HALF.search(text, max(at, found.start() - _HALF_CHARACTERS), found.start())
        if not before:
            continue
        halves = before[1], found[2]
        is_capital = "".join(halves).isupper()
        if not (halves[1][0].islower() or is_capital):
            continue
        is_compound = text[before.start() - 1 : before.start()] == "-"  # "out-of-\nfice"
        is_line_end = bool(found[1]) and not (before[2] or is_capital or is_compound)
        if is_line_end or min(map(len, halves)) > 1:  # not "U - S - A"
            yield _Break(before.start(), found.end(), halves, is_line_end)
            at = found.end()


def _words_outside(text: str, breaks: Sequence[_Break]) -> set[str]:
    """Returns the words and hyphenated compounds of a text, in lower case, outside of possible breaks.

    If there are few breaks, and no whole word of a break is in the text, only the compounds are returned.
    """
    if len(breaks) <= _FEW_BREAKS:
        lower = text.lower().replace("\u2010", "-")
        if not any("".join(place.halves).lower() in lower for place in breaks):
            compounds = ("-".join(place.halves).lower() for place in breaks)
            return {compound for compound in compounds if compound in lower}
    edges = [0, *itertools.chain.from_iterable((one.start, one.end) for one in breaks), len(text)]
    words: set[str] = set()
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        for part in range(start, end, _WORDS_CHARACTERS):
            lower = text[part : min(part + _WORDS_CHARACTERS, end)].lower()
            words.update(_WORD.findall(lower.replace("\u2010", "-")))
    return words
