"""Finds illustrations and page marks in a book: `[Illustration: …]`, `[Pg 12]`.

The rules are in `furniture.toml`.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from corpusmill.transforms.books.brackets import match_brackets
from corpusmill.transforms.books.spans import Span, with_blank_lines
from corpusmill.transforms.files.toml_tables import read_rules, read_table

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


def find_illustrations(text: str) -> Iterator[Span]:
    """Yields the spans of illustrations with their captions, which may contain brackets and empty lines.

    An illustration longer than `max_characters` is left out, since its end is unclear. An illustration
    without closing bracket ends at the first empty line. It is left out if this line is not within
    `max_unclosed_characters`. Both limits are in furniture.toml. If an illustration divides a paragraph in
    two, a span with the empty lines between the halves is yielded, too. Spans may overlap.
    """
    rules = _rules()
    places = _find_places(text, rules)
    for start, end in places:
        yield with_blank_lines(text, start, end)
    for start, end in _join_neighbours(text, places):
        if seam := _seam(text, start, end, rules):
            yield seam


def _find_places(text: str, rules: _Rules) -> list[Span]:
    """Returns the sorted spans of illustrations, without overlaps and without the empty lines around them."""
    has_names = rules.opening.search(text) or rules.bare.search(text)
    if not has_names and ".jpg" not in text and ".png" not in text:
        return []
    closed = match_brackets(text)
    found = [*_closed(text, closed, rules), *_unclosed(text, closed, rules)]
    found += _bare(text, closed, rules)
    places: list[Span] = []
    for start, end in sorted(found):
        if not places or start >= places[-1][1]:
            places.append((start, _with_appendages(text, start, end, rules)))
    return places


def _closed(text: str, closed: Mapping[int, int], rules: _Rules) -> Iterator[Span]:
    for start, end in closed.items():
        if end - start > rules.max_characters:
            continue
        is_named = rules.opening.match(text, start)
        if is_named or (text[start] == "{" and rules.file_name.search(text, end - 20, end)):
            yield start, end


def _unclosed(text: str, closed: Mapping[int, int], rules: _Rules) -> Iterator[Span]:
    for found in rules.unclosed.finditer(text):
        start = found.start()
        if start in closed:
            continue
        limit = start + rules.max_unclosed_characters
        end = text.find("\n\n", start, limit)
        if end >= 0 or limit >= len(text):
            yield start, end if end >= 0 else len(text)


def _bare(text: str, closed: Mapping[int, int], rules: _Rules) -> Iterator[Span]:
    """Yields the spans of illustrations whose opening bracket is missing.

    Closing brackets that belong to an opening bracket in the text do not count. `closed` has these pairs, see
    `match_brackets`.
    """
    closings = set(closed.values())
    return (found.span() for found in rules.bare.finditer(text) if found.end() not in closings)


def _with_appendages(text: str, start: int, end: int, rules: _Rules) -> int:
    """Returns the end of an illustration, including a full stop or a "[See page 12]" after it."""
    is_first = not text[max(start - 1, 0) : start].strip("\n")
    if is_first and text[end : end + 1] == "." and not text[end + 1 : end + 2].strip("\n"):
        end += 1
    page_shown = rules.page_shown.match(text, end)
    return page_shown.end() if page_shown else end


def _join_neighbours(text: str, places: Sequence[Span]) -> list[Span]:
    """Joins the spans of illustrations that only white space separates."""
    joined: list[Span] = []
    for start, end in places:
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def _seam(text: str, start: int, end: int, rules: _Rules) -> Span | None:
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


def find_page_marks(text: str) -> Iterator[Span]:
    """Yields the spans of page marks, which show where a page of the printed book begins."""
    for found in _rules().page_mark.finditer(text):
        yield with_blank_lines(text, *found.span())


@functools.cache
def _rules() -> _Rules:
    return read_rules(read_table(__package__, "furniture.toml")["illustrations"], _Rules)
