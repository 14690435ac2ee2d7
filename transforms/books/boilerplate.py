"""Extracts the book from a file of Project Gutenberg: the text between header and footer.

`boilerplate.toml` describes the lines that mark header and footer. Such lines may also occur inside a book:
programs that accept them anywhere have reduced a Shakespeare of 5.6 million characters to 5,000. So all
removed text must contain words typical of Project Gutenberg's notices throughout, and no part of the licence
may be left. Otherwise the file is rejected with a reason.
"""

import functools
import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from ..files.markup import read_rules, read_toml
from ..files.records import Reason
from .notes import strip_notes
from .spans import Span, any_of, cut_out, line_end, line_start, lines_with

# maximum marks of a file: a book has three or four, and each is compared with the others
MAX_MARKS = 500
MAX_MARK_LINES = 5  # maximum lines of a mark
MAX_CLOSING_CHARACTERS = (
    300  # after the first line of a closing mark: it may go on with a long title
)
MIN_LETTERS = 200  # minimum letters of a book: the smallest known book has 1,300
MAX_NOTES_SHARE = 0.5  # maximum share of notes in the text between header and footer
# this many characters of notes are always allowed: a leaflet may have more notes than text
FREE_NOTES_CHARACTERS = 3000

BETWEEN_BOOKS = "\n\n\n\n"  # separator of several books in one file

_SHOWN_CHARACTERS = 160  # characters of a line that are shown in the detail of a reason


class StrippedText(NamedTuple):
    """A book, and the number of characters of notes that were removed."""

    text: str  # ends with one line feed; "" for an empty file
    notes: int  # number of removed characters of notes, see notes.py


class _Mark(NamedTuple):
    start: int
    end: int
    kind: str  # "begin", "end" or "closing"


class _MarkRule(msgspec.Struct):
    kind: str
    pattern: re.Pattern[str]
    closes: str


class _Licence(msgspec.Struct):
    words: tuple[str, ...]
    max_other_characters: int
    anchors: tuple[str, ...]
    phrases: re.Pattern[str]


class _Rules(msgspec.Struct, dict=True):
    anchors: tuple[str, ...]
    mark: tuple[_MarkRule, ...]
    licence: _Licence

    @functools.cached_property
    def is_mark(self) -> re.Pattern[str]:
        return any_of(rule.pattern for rule in self.mark)


class _Restriction(msgspec.Struct):
    where: str  # "file", "front" or "note"
    pattern: re.Pattern[str]
    unless: re.Pattern[str] = re.compile(r"(?!)")


class _Rights(msgspec.Struct):
    anchors: tuple[str, ...]
    front_anchors: tuple[str, ...]
    max_characters: int
    front_characters: int
    electronic: re.Pattern[str]
    rule: tuple[_Restriction, ...]


def strip_boilerplate(text: str) -> StrippedText | Reason:
    """Removes header, footer, licence and notes from the text of a file.

    Returns the book, or the reason to reject the file.

    A text without header and footer marks and without words of the licence is kept: its header and footer
    were probably removed before.

    Reasons to reject a file:
      copyrighted: the file says that it is copyrighted, or that it is not free for every use.
      no-start, no-end: only the end or only the start of the book is marked. (Files with the small print used
        before 2003 need no mark at the end.)
      no-start-and-no-end: there is no mark, but there is licence text.
      not-boilerplate: the text to remove does not have words typical of Project Gutenberg throughout.
      licence-inside: words of the licence would be left, or the file has more than MAX_MARKS marks.
      too-many-notes: notes would be most of the book.
      kept-too-little: almost no text would be left.
    """
    marks = find_marks(text)
    if notice := find_restriction(text, marks):
        return Reason("copyrighted", notice)
    if len(marks) > MAX_MARKS:
        return Reason("licence-inside", f"{len(marks):,} lines of Project Gutenberg")
    parts = _find_books(text, marks)
    if isinstance(parts, Reason):
        return parts
    whole = BETWEEN_BOOKS.join(_cut_book(text, part, marks) for part in parts)
    book = strip_notes(whole, text[: parts[0][0]])
    stripped = StrippedText(_trim(book), len(whole) - len(book))
    if line := find_licence(stripped.text):
        return Reason("licence-inside" if marks else "no-start-and-no-end", line)
    if stripped.notes > max(len(whole) * MAX_NOTES_SHARE, FREE_NOTES_CHARACTERS):
        return Reason("too-many-notes", f"{stripped.notes:,} of {len(whole):,} characters")
    return check_kept(stripped.text) or stripped


def check_kept(text: str) -> Reason | None:
    """Returns the reason `kept-too-little` if `text`, the rest of a book, has few letters, otherwise None."""
    if sum(map(str.isalpha, text[: 20 * MIN_LETTERS])) < MIN_LETTERS:
        return Reason("kept-too-little", f"{len(text):,} characters")
    return None


def find_marks(text: str) -> list[_Mark]:
    """Finds the marks in a text: the lines at which a header or footer of Project Gutenberg begins or ends.

    Marks are returned in order. Of overlapping marks, only the first is returned.
    """
    rules = _rules()
    marks: list[_Mark] = []
    for start in _anchored_lines(text, rules.anchors):
        if (marks and start < marks[-1].end) or not rules.is_mark.match(text, start):
            continue
        for rule in rules.mark:
            if found := rule.pattern.match(text, start):
                end = max(_mark_end(text, start, rule.closes), line_end(text, found.end()))
                marks.append(_Mark(start, end, rule.kind))
                break
    return marks


def is_boilerplate(text: str) -> bool:
    """Returns True if words typical of Project Gutenberg's notices occur regularly throughout the text."""
    licence = _rules().licence
    lowered = text.lower()
    at = 0
    while len(lowered) - at > licence.max_other_characters:
        window = at + licence.max_other_characters
        last = max(lowered.rfind(word, at, window + len(word)) for word in licence.words)
        if last < 0:
            return False
        at = last + 1
    return True


def find_licence(text: str) -> str | None:
    """Returns the first line with words that occur only in the licence; None if there is no such line."""
    licence = _rules().licence
    for start in _anchored_lines(text, licence.anchors):
        end = line_end(text, line_end(text, start) + 1)  # the words may continue on the next line
        if found := licence.phrases.search(text, start, end):
            return _line_of(text, found.start())
    return None


def _line_of(text: str, position: int) -> str:
    """Returns the line at this position, shortened for messages."""
    return text[line_start(text, position) : line_end(text, position)].strip()[:_SHOWN_CHARACTERS]


def find_restriction(text: str, marks: Sequence[_Mark]) -> str | None:
    """Returns the lines that say that a file is copyrighted, or not free for every use.

    Returns None if no line says so. `marks` are the marks of the file. The rules are in rights.toml.
    """
    rights = _rights()
    begin = next((mark.end for mark in marks if mark.kind == "begin"), 0)
    front = begin + rights.front_characters
    ends = (mark.start for mark in marks if mark.kind != "begin" and mark.start > begin)
    end = next(ends, len(text))
    back = max(end - rights.front_characters, front)
    starts = lines_with(text, rights.anchors) | lines_with(text[:front], rights.front_anchors)
    starts |= {back + start for start in lines_with(text[back:end], rights.front_anchors)}
    done = -1
    for line in sorted(starts):
        if line <= done:
            continue
        first, last = max(line - rights.max_characters, 0), line + rights.max_characters
        start = max(text.rfind("\n\n", first, line), first)
        below = text.find("\n\n", line, last)
        done = below if below >= 0 else min(last, len(text))
        is_front = start < front or back <= start < end
        if found := _restriction_in(text[start:done], is_front, start < end):
            shown = text[line_start(text, start + found[0]) : line_end(text, start + found[1])]
            return " ".join(shown.split())[:_SHOWN_CHARACTERS]
    return None


@functools.lru_cache(maxsize=512)  # paragraphs of the licence are in nearly all files
def _restriction_in(paragraph: str, is_front: bool, is_inside: bool) -> Span | None:
    rights = _rights()
    is_in = {"file": True, "front": is_front, "note": is_inside}
    for rule in rights.rule:
        found = is_in[rule.where] and rule.pattern.search(paragraph)
        if not found or rule.unless.search(paragraph):
            continue
        if rule.where != "note" or rights.electronic.search(paragraph):
            return found.span()
    return None


def _find_books(text: str, marks: Sequence[_Mark]) -> list[Span] | Reason:
    """Returns the spans of the books in a file, or the reason to reject the file.

    Nearly all files have one book.
    """
    begins = [mark for mark in marks if mark.kind == "begin"]
    ends = [mark for mark in marks if mark.kind != "begin"]
    if not begins:
        if any(mark.kind == "end" for mark in ends):
            return Reason("no-start", _shown(text, ends[0]))
        # The book ends before the first mark, if any, that is followed only by boilerplate.
        end = next((one.start for one in ends if is_boilerplate(text[one.end :])), len(text))
        return [(0, end)]
    books: list[Span] = []
    at = 0
    while begin := _next_begin(text, begins, ends, at):
        if books and _is_small_print(text, begin) and is_boilerplate(text[at:]):
            break  # the small print is at the end of this file
        if not is_boilerplate(text[at : begin.start]):
            return Reason("not-boilerplate", f"before {_shown(text, begin)}")
        mark = _end_of_book(text, begins, ends, begin.end)
        if mark is None and not _is_small_print(text, begin):
            if books and is_boilerplate(text[at:]):
                break  # the line at the end of this file repeats the one at the beginning
            mark, below = begins[-1], text[begins[-1].end :]
            if mark == begin or not (find_licence(below) and is_boilerplate(below)):
                return Reason("no-end", _shown(text, begin))
        mark = mark or _Mark(len(text), len(text), "end")
        books.append((begin.end, mark.start))
        at = mark.end
    if not is_boilerplate(text[at:]):
        return Reason("not-boilerplate", "after the end of the book")
    return books


def _cut_book(text: str, part: Span, marks: Sequence[_Mark]) -> str:
    """Returns the book in the span `part`, without lines such as "End of the Project Gutenberg EBook".

    Header marks in a book repeat the first one: only their lines are removed.
    """
    start, end = part
    closings = []
    for mark in marks:
        if mark.kind == "begin" and start <= mark.start < end:
            closings.append((mark.start - start, mark.end - start))
        if mark.kind == "closing" and start <= mark.start < end:
            following = text.find("\n\n", mark.end, min(mark.end + MAX_CLOSING_CHARACTERS, end))
            closings.append((mark.start - start, max(following, mark.end) - start))
    return cut_out(text[start:end], closings).strip("\n")


def _next_begin(text: str, begins: Sequence[_Mark], ends: Sequence[_Mark], at: int) -> _Mark | None:
    """Returns the header mark of the first book after position `at`; None if no book follows.

    `begins` and `ends` are the header and footer marks of the file. If the header has several marks, the last
    one is returned.
    """
    chosen: _Mark | None = None
    for begin in begins:
        if begin.start < at:
            continue
        if chosen is None:
            chosen = begin
            continue
        between = text[chosen.end : begin.start]
        if any(chosen.end <= end.start < begin.start and end.kind == "end" for end in ends):
            break
        lowered = between.lower()
        has_licence = any(word in lowered for word in _rules().licence.words)
        if between.strip() and not (has_licence and is_boilerplate(between)):
            break
        chosen = begin
    return chosen


def _end_of_book(
    text: str, begins: Sequence[_Mark], ends: Sequence[_Mark], at: int
) -> _Mark | None:
    """Returns the mark at the end of the book that begins at position `at`; None if there is no such mark.

    It is the first mark after which there is only boilerplate, up to the next book or the end of the file.
    `begins` and `ends` are the header and footer marks of the file.
    """
    for end in ends:
        if end.start < at:
            continue
        following = next((begin.start for begin in begins if begin.start >= end.end), len(text))
        if is_boilerplate(text[end.end : following]):
            return end
    return None


def _is_small_print(text: str, begin: _Mark) -> bool:
    """Returns True if a header mark is a "small print" mark.

    Books with this mark are from the time when books had no mark at their end.
    """
    return "SMALL PRINT" in text[begin.start : begin.end].upper()


def _mark_end(text: str, start: int, closes: str) -> int:
    """Returns the end of the last line of the mark (see `find_marks`) that begins at `start`.

    A mark extends to the line that ends with `closes`. If an empty line comes first, or if `closes` is "",
    the mark is only one line.
    """
    first = end = line_end(text, start)
    if not closes:
        return end
    for _ in range(MAX_MARK_LINES):
        line = text[line_start(text, end) : end].strip()
        if not line:
            return first
        if line.endswith(closes):
            return end
        if end == len(text):
            return first
        end = line_end(text, end + 1)
    return first


def _anchored_lines(text: str, anchors: Sequence[str]) -> list[int]:
    """Returns the start positions of all lines that contain one of `anchors`, in order.

    For each of these lines, the start of the line directly before it is returned, too.
    """
    starts = lines_with(text, anchors)
    return sorted(starts | {line_start(text, start - 1) for start in starts if start})


def _trim(book: str) -> str:
    """Returns the book without empty lines at its start and end."""
    body = book.rstrip()
    if not body:
        return ""
    return body[line_start(body, len(body) - len(body.lstrip())) :] + "\n"


def _shown(text: str, mark: _Mark) -> str:
    return " ".join(text[mark.start : mark.end].split())[:_SHOWN_CHARACTERS]


@functools.cache
def _rules() -> _Rules:
    return read_rules(read_toml(__package__, "boilerplate.toml"), _Rules)


@functools.cache
def _rights() -> _Rights:
    return msgspec.convert(read_toml(__package__, "rights.toml"), _Rights, dec_hook=_compile)


def _compile(_: type, pattern: str) -> re.Pattern[str]:
    """Compiles a pattern in which a blank stands for any white space."""
    spaced = pattern.replace(" ?", r"\s{0,40}").replace(" ", r"\s{1,40}")
    return re.compile(spaced, re.IGNORECASE | re.DOTALL)
